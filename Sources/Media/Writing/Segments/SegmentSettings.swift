internal import LibAV

/// Settings of a writer of segments.
struct SegmentSettings {
    let profile: SegmentProfile
    /// Duration of segments; nil for segments that the caller ends.
    let interval: MediaTime?
    /// Start times of the second and later segments, in place of multiples of the interval.
    let startTimes: [MediaTime]?
    /// Time of the session's start on the segments' time line.
    let start: MediaTime
    /// The writer's settings that segments don't support, and whether they are set.
    let unsupported: [(name: String, isSet: Bool)]

    /// Throws if a value is out of bounds, or if an unsupported setting is set.
    func validate() throws {
        if let interval, interval <= .zero {
            throw MediaError.invalidArgument(
                "`preferredOutputSegmentInterval` is \(interval) s; it must be greater than 0, or nil")
        }
        let limit = MediaTime(value: TimeBounds.seconds, timescale: 1)
        guard start >= .zero, start <= limit else {
            throw MediaError.invalidArgument(
                "`initialSegmentStartTime` is \(start) s; expected 0 to \(limit) s")
        }
        let names = unsupported.filter(\.isSet).map { "`\($0.name)`" }
        guard names.isEmpty else {
            throw MediaError.invalidArgument("segments don't support \(names.joined(separator: ", "))")
        }
    }

    /// Sets the boundaries of encoded video and of the track whose keyframes begin segments. Returns those of
    /// that track.
    func makeStarts(for inputs: [AssetWriterInput]) -> FragmentScheduler.SegmentStarts? {
        let schedule: SegmentSchedule = startTimes.map { .at($0) } ?? interval.map { .every($0) } ?? .manual
        let lead = FragmentScheduler.lead(of: inputs.map(\.mediaType))
        for input in inputs where input.encodesVideo || input.index == lead {
            input.boundaries = SegmentBoundaries(schedule, isLead: input.index == lead)
        }
        return inputs[lead].boundaries.map {
            FragmentScheduler.SegmentStarts(
                boundaries: $0, isRegular: !inputs[lead].encodesVideo,
                waitsForAllTracks: profile.hasInitialization)
        }
    }
}
