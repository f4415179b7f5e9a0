package import JobPlan
internal import LibAV
package import Media

/// What a plan says of a track as settings of a reader's output and of a writer's input.
package struct TrackSettings: Sendable {
    /// In what form it is read.
    package var reader: ReaderOutputSettings
    /// How it is written.
    package var writer: WriterInputSettings
    /// Its times are counted in samples: they say more than the source's.
    package var countsSamples = false

    /// The settings for a track as it was `planned`, of an output in a container.
    /// - Throws: `MediaError` where the track is in no form that the plan speaks of.
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
        }
        // What is decoded is counted anyway (`AssetReaderOutput`).
        if case .audio = reader { countsSamples = true }
    }

    /// The unit in which a copy's audio is counted; nil where the source's times say all that the output can.
    private static func countedTimeBase(of source: AssetTrack, in container: ContainerType) -> Rational? {
        guard let unit = source.sampleTimeBase,
            container.soundTimeBase.map({ $0.double < source.timeBase.double }) ?? true
        else { return nil }
        return unit
    }
}
