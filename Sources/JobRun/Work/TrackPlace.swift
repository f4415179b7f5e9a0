/// A track of one of a job's outputs.
struct TrackPlace: Hashable, Sendable {
    /// The output's place in the plan.
    var output: Int
    /// The track's place in the output.
    var track: Int
}
