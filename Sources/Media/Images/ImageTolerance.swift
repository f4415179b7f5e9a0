/// How far from the time that is asked for a still may lie (AVFoundation's `requestedTimeToleranceBefore` and
/// `requestedTimeToleranceAfter`).
public struct ImageTolerance: Hashable, Codable, Sendable {
    /// How much earlier it may have come on screen; nil for as much as there is to the key frame before.
    public var before: MediaTime?
    /// How much later it may come on screen.
    public var after: MediaTime

    /// Makes one.
    public init(before: MediaTime?, after: MediaTime) {
        self.before = before
        self.after = after
    }

    /// The frame that is on screen at the time.
    public static let exact = ImageTolerance(before: .zero, after: .zero)
    /// The key frame that is on screen at the time or was before it: one frame is decoded.
    public static let keyFrame = ImageTolerance(before: nil, after: .zero)

    /// Nothing but the frame itself.
    public var isExact: Bool { self == .exact }
}
