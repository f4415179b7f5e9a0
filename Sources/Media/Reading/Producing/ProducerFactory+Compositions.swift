internal import LibAV

/// Frames and audio of compositions.
extension ProducerFactory {
    func composed(
        _ composition: Composition, _ output: AssetReaderTrackOutput, _ settings: ReaderOutputSettings,
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
            throw MediaError.misuse("a composition is made of frames and samples: it has no packets to copy")
        }
    }
}
