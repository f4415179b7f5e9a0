/// Maximum deviation of a still image from the requested time (AVFoundation's `requestedTimeToleranceBefore` and
/// `requestedTimeToleranceAfter`).
public struct ImageTolerance: Hashable, Codable, Sendable {
    /// Maximum time by which the frame may begin before the requested time; nil accepts the last keyframe before that
    /// time at any distance.
    public var before: MediaTime?
    /// Maximum time by which the frame may begin after the requested time.
    public var after: MediaTime

    /// Creates a tolerance; `before` is nil to accept the last keyframe before the requested time at any distance.
    public init(before: MediaTime?, after: MediaTime) {
        self.before = before
        self.after = after
    }

    /// Accepts only the frame on screen at the requested time.
    public static let exact = ImageTolerance(before: .zero, after: .zero)
    /// Accepts the last keyframe at or before the requested time, which requires decoding a single frame.
    public static let keyFrame = ImageTolerance(before: nil, after: .zero)

    /// Whether only the frame on screen at the requested time is accepted.
    public var isExact: Bool { self == .exact }
}
