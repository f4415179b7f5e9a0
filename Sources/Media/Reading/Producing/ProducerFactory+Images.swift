internal import LibAV

/// Producers for image sequences.
extension ProducerFactory {
    func images(
        _ sequence: ImageSequence, _ output: AssetReaderOutput, _ settings: ReaderOutputSettings,
        range: TimeRange?, part: Int, tick: Rational?
    ) throws -> any SampleProducer {
        guard case .video(let video) = settings else {
            throw MediaError.invalidArgument("images can't be stream-copied, and have no audio")
        }
        let end = min(range?.end ?? sequence.duration, sequence.duration)
        let start = range?.start ?? .zero
        var context = ProducerContext(
            track: output.track, timeZero: .zero, range: TimeRange(start: start, end: end))
        context.tick = tick
        context.damage = output.damage
        let frames = try sharing.frames(of: output.track, part: part, for: output) {
            // The first frame is the one presented at the range's start.
            try ImageFrames(
                sequence, track: output.track,
                from: start.ticks(in: sequence.frameRate.inverted, rounding: .down),
                threads: decoderThreads ?? max(1, Processors.current.available / 2), environment: environment,
                interrupt: interrupt, movement: movement, damage: output.damage)
        }
        return FrameChain.video(frames, context: context, settings: video)
    }
}
