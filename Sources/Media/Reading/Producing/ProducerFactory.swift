internal import LibAV

/// Creates the producers of an output's samples: demuxer, decoder, mixer, and the concatenation of several ranges.
struct ProducerFactory {
    let sharing: DecoderSharing
    let source: Asset.Source
    /// Container of a file, determined when the asset was probed.
    let container: DemuxerModel
    let timeZero: MediaTime
    let media: MediaEnvironment
    var environment: SourceEnvironment { media.sources }
    let interrupt: InterruptFlag
    let movement: MovementCounter
    /// Number of threads of each video decoder; nil selects it by the track.
    let decoderThreads: Int?
    /// Ranges to read; empty for the whole asset.
    let ranges: [TimeRange]
    /// See `ReadingExtent.isOpen`.
    let isOpen: Bool
    /// Duration of the asset, after which no frame is presented; nil for no limit.
    var duration: MediaTime?

    /// Returns whether an output can use the shared demuxer. Sparse tracks, smart cuts, joined ranges, and ranges that
    /// begin later than zero use a separate demuxer, because the random-access points of tracks differ.
    func canShare(_ output: AssetReaderOutput) -> Bool {
        guard case .file = source, ranges.count <= 1, (ranges.first?.start ?? .zero) <= .zero else {
            return false
        }
        if case .smartCut = output.settings { return false }
        return output.track.mediaType == .video || output.track.mediaType == .audio
    }

    /// Creates the demuxer that `outputs` share; nil if the source isn't a file.
    func demuxer(for outputs: [AssetReaderOutput]) throws -> SharedDemuxer? {
        guard case .file(let path) = source else { return nil }
        var tallies: [DamageTally] = []
        for output in outputs where !tallies.contains(where: { $0 === output.damage }) {
            tallies.append(output.damage)
        }
        return try SharedDemuxer(
            path: path, streams: sharing.streams(of: outputs), environment: environment,
            interrupt: interrupt, damage: tallies, container: container.name,
            origins: outputs.flatMap(\.tracks).reduce(into: [:]) {
                $0.merge($1.origins) { first, _ in first }
            })
    }

    func producer(for output: AssetReaderOutput, demuxer: SharedDemuxer?) throws -> any SampleProducer {
        let samples = try unburned(output, demuxer)
        guard case .video(let settings) = output.settings, let subtitles = output.burnedSubtitles else {
            return samples
        }
        return try burned(samples, subtitles, settings, of: output)
    }

    /// Creates the producer of an output's samples without burned subtitles.
    private func unburned(
        _ output: AssetReaderOutput, _ demuxer: SharedDemuxer?
    ) throws -> any SampleProducer {
        guard ranges.count > 1 else {
            return try piece(output, output.settings, range: ranges.first, demuxer: demuxer)
        }
        return try joined(output)
    }

    // MARK: Several ranges

    /// Concatenates ranges. Each range is read without conversion; filters and converters process the concatenation as
    /// one stream.
    private func joined(_ output: AssetReaderOutput) throws -> any SampleProducer {
        let track = output.track
        var context = ProducerContext(track: track, timeZero: .zero, range: nil, isComposed: true)
        context.damage = output.damage
        switch output.settings {
        case .video(let settings):
            let tick = AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, ranges: ranges)
            context.tick = tick
            let parts = parts(of: output, as: .video(VideoOutputSettings()), tick: tick)
            return FrameChain.video(
                JoinedFrames(JoinedSamples(parts, tick: tick), timeBase: tick), context: context,
                settings: settings)
        case .audio(let settings):
            let parts = parts(of: output, as: .audio(AudioOutputSettings()), tick: nil)
            return FrameChain.audio(
                JoinedFrames(JoinedSamples(parts), timeBase: track.timeBase), context: context,
                settings: settings)
        case .passthrough where track.mediaType == .subtitle || track.mediaType == .data, .subtitle:
            return JoinedSamples(parts(of: output, as: output.settings, tick: nil))
        case .smartCut(let cut):
            guard case .file(let path) = source, cut.parts.count == ranges.count else {
                throw MediaError.misuse("the cut doesn't match the ranges of the reader")
            }
            var context = ProducerContext(track: track, timeZero: timeZero, range: nil)
            context.damage = output.damage
            return try smartCut(cut, path: path, context: context, evidence: output.cutEvidence)
        case .wholePackets where track.mediaType == .audio:
            return JoinedSamples(parts(of: output, as: .wholePackets, tick: nil))
        case .passthrough, .wholePackets:
            throw MediaError.invalidArgument("packets of several ranges can't be joined")
        }
    }

    private func parts(
        of output: AssetReaderOutput, as settings: ReaderOutputSettings, tick: Rational?
    ) -> [JoinedPart] {
        var offset = MediaTime.zero
        return ranges.enumerated().map { part, range in
            let begin = offset
            offset = offset + range.duration
            return JoinedPart(range: range, offset: begin) {
                try piece(output, settings, range: range, part: part, demuxer: nil, tick: tick, offset: begin)
            }
        }
    }

    // MARK: One range

    /// Creates the producer of one range; `offset` is the range's position in the concatenation, `part` its index.
    private func piece(
        _ output: AssetReaderOutput, _ settings: ReaderOutputSettings, range: TimeRange?, part: Int = 0,
        demuxer: SharedDemuxer?, tick: Rational? = nil, offset: MediaTime = .zero
    ) throws -> any SampleProducer {
        switch source {
        case .pattern(let pattern):
            return try generated(
                pattern, output, settings, range: range, part: part, tick: tick,
                origin: (range?.start ?? .zero) - offset)
        case .images(let sequence):
            return try images(sequence, output, settings, range: range, part: part, tick: tick)
        case .composition(let composition):
            return try composed(
                composition, output, settings, range: range, part: part, tick: tick,
                origin: (range?.start ?? .zero) - offset)
        case .file(let path):
            func context(_ track: AssetTrack) -> ProducerContext {
                var context = ProducerContext(track: track, timeZero: timeZero, range: range)
                context.tick = tick
                if container.hasPages { context.lostPages = LostPages(path: path, environment: environment) }
                context.damage = output.damage
                context.countsSamples = output.countsSamples
                context.keepsEventTimes = output.keepsEventTimes
                context.assetEnd = ranges.count == 1 ? duration : nil
                context.isOpen = isOpen && range == ranges.last
                return context
            }
            if case .smartCut(let cut) = settings {
                return try smartCut(
                    cut, path: path, context: context(output.track), evidence: output.cutEvidence)
            }
            func decoded(_ track: AssetTrack, threads: Int) throws -> any FrameStream {
                try sharing.frames(of: track, part: part, for: output) {
                    let packets = try packets(
                        of: track, path: path, demuxer: demuxer, context: context(track))
                    return try DecodedFrames(packets: packets, threads: threads, limits: environment.limits)
                }
            }
            switch settings {
            case .video(let video):
                let frames = try decoded(output.track, threads: threads(for: output.track))
                return FrameChain.video(frames, context: context(output.track), settings: video)
            case .audio(let audio):
                if let mix = output.mix {
                    let frames = try output.tracks.map { (try decoded($0, threads: 1), context($0)) }
                    return mixer(of: mix, audio, frames, origin: (range?.start ?? .zero) - offset)
                }
                let frames = try decoded(output.track, threads: 1)
                return FrameChain.audio(frames, context: context(output.track), settings: audio)
            case .passthrough, .wholePackets, .smartCut, .subtitle:
                let context = context(output.track)
                let packets = try packets(of: output.track, path: path, demuxer: demuxer, context: context)
                return try producer(settings, packets: packets, context: context)
            }
        }
    }

    private func threads(for track: AssetTrack) -> Int {
        decoderThreads ?? track.decoderThreads(cores: Processors.current.available)
    }

    private func packets(
        of track: AssetTrack, path: String, demuxer: SharedDemuxer?, context: ProducerContext
    ) throws -> PacketSource {
        if let demuxer {
            let packets = try PacketSource(
                track: track, of: container, demuxer: demuxer, path: path, environment: environment,
                interrupt: interrupt,
                ownsDemuxer: false, movement: movement, damage: context.damage,
                countsSamples: context.countsSamples)
            packets.timeZero = context.timeZero
            return packets
        }
        let packets = try source(of: track, path: path, context, damage: context.damage)
        let isGuessed = container.estimatedCodecs.contains(track.format.codec)
        // A subtitle event that began long before the range may still be presented, so the track is read from the
        // file's beginning, unless the container has an index of its events.
        let isIndexed =
            track.displaySets == nil ? container.isMovie : container.isMovie || container.isMatroska
        let isOverlapping = track.mediaType == .subtitle && !isIndexed
        guard context.start > .zero, !isGuessed, !isOverlapping else { return packets }
        // Audio decodes correctly only with the preceding packets, so decoding starts 400 ms earlier.
        let preroll = MediaTime(value: track.mediaType == .audio ? 400 : 0, timescale: 1000)
        packets.presentedFrom = context.start
        let target = (context.timeZero + context.start - preroll).ticks(in: track.timeBase, rounding: .down)
        try packets.begin(before: target)
        return packets
    }

    /// Opens a separate demuxer for one track.
    private func source(
        of track: AssetTrack, path: String, _ context: ProducerContext, damage: DamageTally
    ) throws -> PacketSource {
        let packets = try PacketSource(
            track: track, of: container, path: path, environment: environment, interrupt: interrupt,
            movement: movement, damage: damage, countsSamples: context.countsSamples)
        packets.timeZero = context.timeZero
        return packets
    }

    private func producer(
        _ settings: ReaderOutputSettings, packets: PacketSource, context: ProducerContext
    ) throws -> any SampleProducer {
        switch settings {
        case .passthrough where context.track.mediaType == .subtitle:
            return try SubtitleProducer(packets: packets, context: context, codec: nil)
        case .subtitle(let codec):
            return try SubtitleProducer(packets: packets, context: context, codec: codec)
        case .passthrough, .smartCut: return PassthroughProducer(packets: packets, context: context)
        case .wholePackets: return PassthroughProducer(packets: packets, context: context, keepsWhole: true)
        case .video, .audio: throw MediaError.misuse("video and audio tracks require a decoder")
        }
    }

    /// Creates a chain that converts every track to the mix's format, trims it to the range, and mixes the tracks.
    func mixer(
        of mix: AudioMix, _ settings: AudioOutputSettings, _ sources: [(any FrameStream, ProducerContext)],
        origin: MediaTime
    ) -> FrameChain {
        let format = AudioFormat(sampleFormat: .planarFloat, sampleRate: mix.sampleRate, layout: mix.layout)
        let each = AudioOutputSettings(
            sampleFormat: .planarFloat, sampleRate: mix.sampleRate, layout: mix.layout)
        let inputs = zip(sources, mix.inputs).map { source, input in
            let producer: any SampleProducer = FrameChain.audio(
                source.0, context: source.1, settings: each)
            return (producer, input.volume)
        }
        var context = ProducerContext(
            track: sources[0].1.track, timeZero: .zero, range: nil, isComposed: true)
        context.damage = sources[0].1.damage
        return FrameChain.audio(
            MixedFrames(inputs, origin: origin, format: format), context: context, settings: settings)
    }

    /// Creates the producer of a smart cut; each section opens a separate demuxer.
    private func smartCut(
        _ cut: SmartCut, path: String, context: ProducerContext, evidence: CutEvidence
    ) throws -> SmartCutProducer {
        let input = try cutInput(
            of: context.track, path: path, container: container, timeZero: context.timeZero)
        return try SmartCutProducer(cut: cut, track: context.track, evidence: evidence) { _ in input }
    }

    /// Returns a file's track as input of a smart cut.
    func cutInput(
        of track: AssetTrack, path: String, container: DemuxerModel, timeZero: MediaTime
    ) throws -> CutInput {
        guard let bitstream = CutBitstream(track.format.parameters) else {
            throw SmartCut.Obstacle.headers
        }
        let (limits, threads) = (environment.limits, threads(for: track))
        func open(_ time: MediaTime) throws -> PacketSource {
            // Damage is an error under either policy, because a smart cut can't skip it.
            let packets = try PacketSource(
                track: track, of: container, path: path, environment: environment, interrupt: interrupt,
                movement: movement, damage: DamageTally())
            packets.timeZero = timeZero
            try packets.seek(before: (timeZero + time).ticks(in: track.timeBase, rounding: .down))
            return packets
        }
        return CutInput(
            packets: CutInput.Packets(track: track, timeZero: timeZero, bitstream: bitstream, open: open),
            frames: { range in
                let frames = try DecodedFrames(
                    packets: try open(range.start), threads: threads, limits: limits)
                let context = ProducerContext(track: track, timeZero: timeZero, range: range)
                return FrameChain.video(frames, context: context, settings: VideoOutputSettings())
            }, reference: track.reference)
    }

    /// Creates the producer of a test pattern. The range is limited to the pattern's duration, because the generator is
    /// endless.
    private func generated(
        _ pattern: TestPattern, _ output: AssetReaderOutput, _ settings: ReaderOutputSettings,
        range: TimeRange?, part: Int, tick: Rational?, origin: MediaTime
    ) throws -> any SampleProducer {
        let end = min(range?.end ?? pattern.duration, pattern.duration)
        var context = ProducerContext(
            track: output.track, timeZero: .zero, range: TimeRange(start: range?.start ?? .zero, end: end))
        context.tick = tick
        do {
            let frames = try sharing.frames(of: output.track, part: part, for: output) {
                try GeneratedFrames(pattern: pattern, mediaType: output.track.mediaType)
            }
            switch settings {
            case .passthrough, .wholePackets, .smartCut, .subtitle:
                throw MediaError.invalidArgument("a test pattern can't be stream-copied")
            case .video(let settings):
                return FrameChain.video(frames, context: context, settings: settings)
            case .audio(let settings):
                if let mix = output.mix {
                    return mixer(of: mix, settings, [(frames, context)], origin: origin)
                }
                return FrameChain.audio(frames, context: context, settings: settings)
            }
        } catch let error as AVError {
            throw MediaError.reading(track: output.track.reference, at: nil, error)
        }
    }
}
