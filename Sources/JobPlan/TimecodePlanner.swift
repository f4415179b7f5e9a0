internal import JobSpec
internal import LibAV
internal import Media

/// Moves the source's timecode with the range: it is that of the output's first picture.
struct TimecodePlanner {
    let source: SourceDescription
    let spec: MetadataSpec
    let container: ContainerType
    /// The output's first track of pictures.
    let track: TrackPlan?
    let start: MediaTime
    /// What the job says it is.
    let setting: String?

    /// The output's timecode, or why it has none. Nil where the source has none.
    var answer: (written: String?, reason: String)? {
        if let setting { return (setting, "the job sets it") }
        guard let timecode = source.timecode else { return nil }
        guard isWanted else { return (nil, "the job doesn't keep it") }
        guard let track, let rate = track.source.frameRate else {
            return (nil, "the output has no pictures to count")
        }
        guard container.hasTimecode else { return (nil, "\(container.name) can't hold it") }
        if case .encode(let encoding) = track.action, let wanted = encoding.video?.frameRate, wanted != rate {
            return (nil, "the frame rate changes")
        }
        guard let code = Timecode(timecode, rate: rate) else {
            return (nil, "there is no timecode at \(rate) frames a second")
        }
        // It counts from the first picture, which may come late.
        let passed = max(.zero, start - track.source.timeRange.start)
        let moved = code.advanced(by: passed.ticks(in: rate.inverted, rounding: .down))
        return (moved, moved == timecode ? "kept" : "moved with the range to \(moved)")
    }

    private var isWanted: Bool {
        switch spec.keep {
        case .all: true
        case .none: false
        case .keys(let keys): keys.contains("timecode")
        }
    }
}
