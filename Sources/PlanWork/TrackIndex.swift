internal import JobPlan

/// The index of a track in a plan.
struct TrackIndex: Hashable, Sendable {
    /// Index of the output in the job's plan.
    var output: Int
    /// Index of the track in the output.
    var track: Int
}

extension JobPlan {
    /// Returns the position of a track among the tracks of all outputs, by which errors of its writer input refer to it.
    func trackID(_ index: TrackIndex) -> Int {
        outputs[..<index.output].reduce(index.track) { $0 + $1.tracks.count }
    }

    /// Returns the track with an id; nil if there is none.
    func track(withID id: Int) -> TrackPlan? {
        outputs.lazy.flatMap(\.tracks).dropFirst(max(0, id)).first
    }
}
