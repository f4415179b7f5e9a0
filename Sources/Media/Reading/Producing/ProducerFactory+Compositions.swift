internal import LibAV

/// Producers for compositions.
extension ProducerFactory {
    /// Returns the factory for an output. If the output composes several tracks, the factory's source is a composition
    /// of the asset's tracks.
    func composing(_ output: AssetReaderOutput) throws -> ProducerFactory {
        guard let composing = output.composing else { return self }
        let composition = try composing.composition(
            of: CompositionSource(source), output.tracks.map(\.description))
        return ProducerFactory(
            sharing: DecoderSharing([], isOn: false), source: .composition(composition),
            container: .composition, timeZero: .zero, media: media, interrupt: interrupt,
            movement: movement, decoderThreads: decoderThreads, ranges: ranges, isOpen: isOpen)
    }

    func composed(
        _ composition: Composition, _ output: AssetReaderOutput, _ settings: ReaderOutputSettings,
        range: TimeRange?, part: Int, tick: Rational?, origin: MediaTime
    ) throws -> any SampleProducer {
        let end = output.track.timeRange.end
        var context = ProducerContext(
            track: output.track, timeZero: .zero,
            range: TimeRange(start: range?.start ?? .zero, end: min(range?.end ?? end, end)))
        context.tick = tick
        context.damage = output.damage
        let opener = CompositionOpener(
            sources: composition.sources, environment: media, interrupt: interrupt, movement: movement,
            damage: output.damage, decoderThreads: decoderThreads)
        if case .smartCut(let cut) = settings {
            guard range == nil else {
                throw MediaError.invalidArgument("cuts of a composition don't support a range")
            }
            return try composedCut(cut, composition, output, opener)
        }
        if case .wholePackets = settings, output.track.mediaType == .audio {
            guard range == nil else {
                throw MediaError.invalidArgument("copied audio of a composition doesn't support a range")
            }
            return try ComposedPackets(composition, opener: opener)
        }
        if output.track.mediaType == .subtitle {
            return try cues(composition, settings, context, opener)
        }
        let frames = try sharing.frames(of: output.track, part: part, for: output) {
            guard output.track.mediaType == .video else {
                return try ComposedAudio(composition, from: context.start, opener: opener)
            }
            return try ComposedFrames(composition, from: context.start, opener: opener)
        }
        switch settings {
        case .video(let video): return FrameChain.video(frames, context: context, settings: video)
        case .audio(let audio):
            if let mix = output.mix { return mixer(of: mix, audio, [(frames, context)], origin: origin) }
            return FrameChain.audio(frames, context: context, settings: audio)
        case .passthrough, .wholePackets, .smartCut, .subtitle:
            throw MediaError.invalidArgument("compositions contain frames and samples, no packets to copy")
        }
    }

    /// Creates the producer of a composition's subtitle events; `context` contains the track and the range.
    private func cues(
        _ composition: Composition, _ settings: ReaderOutputSettings, _ context: ProducerContext,
        _ opener: CompositionOpener
    ) throws -> any SampleProducer {
        let codec: SubtitleCodec?
        switch settings {
        case .passthrough: codec = nil
        case .subtitle(let wanted): codec = wanted
        default: throw MediaError.invalidArgument("subtitle tracks contain neither frames nor samples")
        }
        let number =
            context.track.index - (composition.canvas == nil ? 0 : 1)
            - (composition.audioFormat == nil ? 0 : 1)
        guard composition.subtitles.indices.contains(number) else {
            throw MediaError.invalidArgument("the composition has no such subtitle track")
        }
        let cues = ComposedCues(composition.subtitles[number], from: context.start, opener: opener)
        return try SubtitleProducer(packets: cues, context: context, codec: codec)
    }

    /// Creates the producer of a composition's smart cut: copied packets of clips, and encoded frames between them.
    private func composedCut(
        _ cut: SmartCut, _ composition: Composition, _ output: AssetReaderOutput,
        _ opener: CompositionOpener
    ) throws -> any SampleProducer {
        let packets = CompositionPackets(composition, environment: media)
        let reference = try packets.reference(of: cut)
        guard let canvas = composition.canvas, let packetFormat = VideoPacketFormat(reference.track) else {
            throw MediaError.invalidArgument("the composition has no video")
        }
        let settings = VideoOutputSettings(generated: canvas, like: reference.track.description)
        let generated = CutInput(
            packets: nil,
            frames: { range in
                var context = ProducerContext(track: output.track, timeZero: .zero, range: range)
                context.tick = cut.tick
                return FrameChain.video(
                    try ComposedFrames(composition, from: range.start, opener: opener), context: context,
                    settings: settings)
            }, reference: output.track.reference)
        return try SmartCutProducer(cut: cut, track: reference.track, evidence: output.cutEvidence) { part in
            guard let index = part.clip else { return generated }
            let clip = try packets.clip(index)
            guard VideoPacketFormat(clip.track) == packetFormat else {
                throw MediaError.sourceChanged("clip \(index) no longer has the format of the others")
            }
            var input = try clip.source.namingSource {
                try cutInput(
                    of: clip.track, path: clip.path, container: clip.contents.demuxer,
                    timeZero: clip.contents.timeZero)
            }
            input.mapError = { clip.source.named($0) }
            return input
        }
    }
}
