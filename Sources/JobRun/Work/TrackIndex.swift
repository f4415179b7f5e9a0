/// The position of a track in a plan.
struct TrackIndex: Hashable, Sendable {
    /// Index of the output in the plan.
    var output: Int
    /// Index of the track in the output.
    var track: Int
}
