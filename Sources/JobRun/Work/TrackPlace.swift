/// A track of one of a job's outputs.
struct TrackPlace: Hashable, Sendable {
    /// Index of the output in the plan.
    var output: Int
    /// Index of the track in the output.
    var track: Int
}
