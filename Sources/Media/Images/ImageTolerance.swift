/// Maximum deviation of a still image from the requested time (AVFoundation's `requestedTimeToleranceBefore` and
/// `requestedTimeToleranceAfter`).
public struct ImageTolerance: Hashable, Codable, Sendable {
    /// Maximum time by which the frame may begin earlier; nil for any time, up to the keyframe before.
    public var before: MediaTime?
    /// Maximum time by which the frame may begin later.
    public var after: MediaTime

    /// Creates a tolerance.
    public init(before: MediaTime?, after: MediaTime) {
        self.before = before
        self.after = after
    }

    /// The frame on screen at the time.
    public static let exact = ImageTolerance(before: .zero, after: .zero)
    /// The last keyframe not after the time; a single frame is decoded.
    public static let keyFrame = ImageTolerance(before: nil, after: .zero)

    /// Whether only the frame on screen at the time is accepted.
    public var isExact: Bool { self == .exact }
}
