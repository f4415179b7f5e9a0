package import JobPlan
internal import LibAV
package import Media

/// Settings of a reader output and a writer input, derived from the plan of a track.
package struct TrackSettings: Sendable {
    package var reader: ReaderOutputSettings
    package var writer: WriterInputSettings
    /// Whether times are computed by counting samples, which is more precise than the source's timestamps.
    package var countsSamples = false

    /// Creates the settings of a track.
    /// - Throws: `MediaError` if the plan doesn't allow the track's format.
    package init(
        _ planned: TrackPlan, of source: AssetTrack, from input: InputPlan, in container: ContainerType
    ) throws {
        switch planned.action {
        case .copy where source.mediaType == .audio && input.isComposition:
            reader = .wholePackets
            writer = .passthrough(source.format, timeBase: Rational(1, max(1, source.format.sampleRate)))
        case .copy:
            let isExact =
                source.mediaType != .audio
                || input.joinedRanges.isEmpty && (container.hasEditLists || input.range == nil)
            reader = isExact ? .passthrough : .wholePackets
            let isCut = input.range != nil || !input.joinedRanges.isEmpty
            let counted =
                isCut && source.isCutAtSamples
                ? source.sampleTimeBase : Self.countedTimeBase(of: source, in: container)
            writer = .passthrough(source.format, timeBase: counted ?? source.timeBase)
            countsSamples = counted != nil
        case .subtitle(let codec):
            reader = .subtitle(codec)
            writer = .passthrough(try codec.outputFormat(of: source), timeBase: source.timeBase)
        case .smartCut(let cut):
            reader = .smartCut(cut)
            writer = .passthrough(try cut.outputFormat(of: source), timeBase: cut.tick)
        case .encode(let encoding):
            reader =
                source.mediaType == .video
                ? .video(encoding.video ?? VideoOutputSettings())
                : .audio(encoding.audio ?? AudioOutputSettings())
            writer = .encode(encoding.encoder)
        case .read: throw MediaError.internalError("a track that is only read is not written")
        }
        // Times of decoded audio are always computed by counting samples (`AssetReaderOutput`).
        if case .audio = reader { countsSamples = true }
    }

    /// Returns the time base in which samples of copied audio are counted; nil if the source's timestamps are already
    /// as precise as the output's.
    private static func countedTimeBase(of source: AssetTrack, in container: ContainerType) -> Rational? {
        guard let unit = source.sampleTimeBase,
            container.model.audioTimeBase.map({ $0.double < source.timeBase.double }) ?? true
        else { return nil }
        return unit
    }
}
