internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the encoder for frames between copied ones: the one that `encode` configures, if it matches the
/// copied packets.
struct EdgeEncoderPlanner {
    /// The encoding that the job states beside `copy`.
    let otherwise: TrackRule.Action?
    let container: ContainerType
    let timeZero: MediaTime
    let ranges: [TimeRange]
    let prober: any SourceProber

    /// Keys of `encode` that have no effect on re-encoded edges.
    var ignoredKeys: [String] {
        guard case .encodeVideo(let spec) = otherwise else { return [] }
        let keys: [(String, Bool)] = [
            ("profile", spec.profile != nil), ("level", spec.level != nil), ("b_frames", spec.bFrames != nil),
            ("keyframe_interval", spec.keyframeInterval != nil), ("passes", spec.passes?.value == 2),
            ("parallel", spec.parallel.map { $0.value != .off } ?? false),
        ]
        return keys.filter(\.1).map { "`\($0.0)`" }
    }

    /// Returns the encoder for the edges that `encode` configures; nil without one. Throws if it doesn't match the
    /// source.
    func decide(_ track: TrackDescription) throws(SmartCut.Obstacle) -> EncoderConfiguration? {
        guard case .encodeVideo(let spec) = otherwise else { return nil }
        guard spec.codec.value.libavName == track.codec, let encoder = spec.codec.value.availableEncoder
        else {
            throw .edges(
                "the codec of `encode` is \(spec.codec.value.name), that of the packets \(track.codec)")
        }
        let resolved = FramePlanner.resolved(spec, for: track)
        guard let prepared = FramePlanner(spec: resolved, track: track, prober: prober).decide().value else {
            throw .edges("`encode` is not supported for its frames")
        }
        let planner = VideoEncodingPlanner(
            spec: resolved, track: track, prepared: prepared, timeZero: timeZero,
            ranges: ranges, encoder: encoder, container: container)
        guard let encoding = planner.decide().value else {
            throw .edges("`encode` is not supported for its frames")
        }
        var configuration = encoding.encoder
        configuration.chunk = nil
        // A range or level setting that matches the source's declared range changes no samples.
        var unchanged = VideoOutputSettings()
        (unchanged.levels, unchanged.sourceRange) = (track.color.range, track.color.range)
        // Edges are read unchanged, including fields.
        unchanged.deinterlacesLateFields = encoding.video?.deinterlacesLateFields ?? false
        guard configuration.width == track.width, configuration.height == track.height,
            configuration.pixelFormat == track.pixelFormat, encoding.video == unchanged,
            configuration.sampleAspectRatio == track.pixelAspectRatio, configuration.color == track.color
        else { throw .edges("`encode` changes size or format, but the copied frames keep theirs") }
        return configuration
    }
}
