internal import Glibc
internal import LibAV
internal import Locking

/// Where a reader or a writer stands (AVFoundation's `AVAssetReader.Status`).
public enum SessionStatus: String, Sendable {
    /// Not started.
    case unknown
    /// Reading or writing.
    case working
    /// All done.
    case completed
    /// Broken off by an error.
    case failed
    /// Broken off on request.
    case cancelled
}

/// Reads one asset through any number of outputs (AVFoundation's `AVAssetReader`). A reader is used once.
///
/// Unchecked `Sendable`: `outputs` and `timeRange` are frozen by `startReading`; the rest is behind the mutex.
public final class AssetReader: @unchecked Sendable {
    /// The asset that is read.
    public let asset: Asset
    private let contents: AssetContents
    private let interrupt = InterruptFlag()
    private let movement = MovementCounter()
    private let state = Guarded(SessionStatus.unknown)

    /// The stretch of the asset's time line that is read; nil for all of it. Set before reading starts.
    public var timeRange: TimeRange?
    /// What becomes of damaged data. Set before reading starts.
    public var damagePolicy = DamagePolicy.fail
    /// The outputs, in the order they were added.
    public private(set) var outputs: [AssetReaderTrackOutput] = []
    /// Threads of each video decoder, 0 for as many as it likes. Half the processors by default: the encoder
    /// that follows needs the others, and every thread holds a picture more.
    public var decoderThreads = max(1, activeProcessorCount / 2)

    /// A reader of an asset, which is loaded now where it isn't yet.
    public init(asset: Asset) throws {
        self.asset = asset
        contents = try asset.loadSynchronously()
    }

    /// Adds an output. Its track must be one of the asset's.
    public func add(_ output: AssetReaderTrackOutput) throws {
        guard status == .unknown else { throw MediaError.misuse("outputs are added before reading starts") }
        let known = Set(contents.tracks.map(\.index))
        guard output.tracks.allSatisfy({ known.contains($0.index) }) else {
            throw MediaError.misuse("the track is not one of the asset's")
        }
        outputs.append(output)
    }

    /// Where it stands. Completed once every output has vended all it has.
    public var status: SessionStatus {
        let known = state.withLock { $0 }
        guard known == .working else { return known }
        let outcomes = outputs.map(\.outcome)
        if outcomes.contains(where: { $0.error != nil }) { return .failed }
        return outcomes.allSatisfy(\.isFinished) ? .completed : .working
    }

    /// The first error of any output.
    public var error: (any Error)? { outputs.lazy.compactMap { $0.outcome.error }.first }

    /// Packets read so far, for telling a stall.
    var packetsRead: Int64 { movement.value }

    /// Opens the demuxers and decoders, and begins to read ahead.
    public func startReading() throws {
        try state.withLock { state in
            guard state == .unknown else { throw MediaError.misuse("a reader is started once") }
            state = .working
        }
        do {
            switch asset.source {
            case .pattern(let pattern): try startPattern(pattern)
            case .file(let path): try startFile(path)
            }
        } catch {
            state.withLock { $0 = .failed }
            for output in outputs { output.cancel() }
            throw error
        }
    }

    /// Stops reading: outputs vend nil from now on, and a read that is under way is interrupted.
    public func cancelReading() {
        interrupt.raise()
        state.withLock { state in
            if state == .working || state == .unknown { state = .cancelled }
        }
        for output in outputs { output.cancel() }
    }

    private func context(for track: AssetTrack) -> ProducerContext {
        ProducerContext(track: track, timeZero: contents.timeZero, range: timeRange)
    }

    private func startFile(_ path: String) throws {
        let isRanged = (timeRange?.start ?? .zero) > .zero
        // Sparse tracks, and any track of a range that begins later (each kind has its own random-access
        // points), read the file from their own place; the others share one demuxer.
        func ownsLane(_ output: AssetReaderTrackOutput) -> Bool {
            if case .smartCut = output.settings { return true }
            return isRanged || (output.track.mediaType != .video && output.track.mediaType != .audio)
        }
        let shared = Set(outputs.filter { !ownsLane($0) }.flatMap { $0.tracks.map(\.index) })
        let limits = asset.limits
        for output in outputs { output.damage.follow(damagePolicy) }
        do {
            let lane =
                shared.isEmpty
                ? nil
                : try DemuxLane(
                    path: path, streams: shared, limits: limits, interrupt: interrupt,
                    damage: outputs.first { !ownsLane($0) }?.damage ?? DamageTally())
            for output in outputs {
                if case .smartCut(let cut) = output.settings {
                    output.begin(try smartCut(cut, of: output, path: path))
                    continue
                }
                let makers = try output.tracks.map { track in
                    let packets: PacketSource
                    if let lane, !ownsLane(output) {
                        packets = PacketSource(
                            track: track, lane: lane, path: path, limits: limits, interrupt: interrupt,
                            ownsLane: false, movement: movement, damage: output.damage)
                    } else {
                        packets = try PacketSource(
                            track: track, path: path, limits: limits, interrupt: interrupt,
                            movement: movement, damage: output.damage)
                    }
                    var context = context(for: track)
                    context.damage = output.damage
                    if isRanged { try seek(packets, to: context) }
                    return (packets, context)
                }
                if let mix = output.mix {
                    output.begin(try mixer(of: mix, output, makers))
                } else if let (packets, context) = makers.first {
                    output.begin(try producer(output, packets: packets, context: context))
                }
            }
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }

    /// Sound decodes right only after what comes before it: its decoder starts a little earlier.
    private func seek(_ packets: PacketSource, to context: ProducerContext) throws {
        let preroll = MediaTime(value: context.track.mediaType == .audio ? 200 : 0, timescale: 1000)
        let target = context.timeZero + context.start - preroll
        try packets.seek(before: target.ticks(in: context.track.timeBase, rounding: .down))
    }

    private func producer(
        _ output: AssetReaderTrackOutput, packets: PacketSource, context: ProducerContext
    ) throws -> any SampleProducer {
        switch output.settings {
        case .passthrough where output.track.mediaType == .subtitle:
            return try SubtitleProducer(packets: packets, context: context, codec: nil)
        case .subtitle(let codec):
            return try SubtitleProducer(packets: packets, context: context, codec: codec)
        case .passthrough, .smartCut: return PassthroughProducer(packets: packets, context: context)
        case .wholePackets: return PassthroughProducer(packets: packets, context: context, keepsWhole: true)
        case .video(let settings):
            let frames = try DecodedFrames(packets: packets, threads: decoderThreads, limits: asset.limits)
            return VideoProducer(frames: frames, context: context, settings: settings)
        case .audio(let settings):
            let frames = try DecodedFrames(packets: packets, threads: 1, limits: asset.limits)
            return AudioProducer(frames: frames, context: context, settings: settings)
        }
    }

    /// Every track is brought to the mix's form and cut to the range; the sum is then one track like others.
    private func mixer(
        of mix: AudioMix, _ output: AssetReaderTrackOutput, _ sources: [(PacketSource, ProducerContext)]
    ) throws -> AudioProducer {
        guard let planar = SampleFormat(named: "fltp"), case .audio(let settings) = output.settings else {
            throw MediaError.misuse("a mix is of sound")
        }
        let format = AudioFormat(sampleFormat: planar, sampleRate: mix.sampleRate, layout: mix.layout)
        let each = AudioOutputSettings(
            sampleFormat: planar, sampleRate: mix.sampleRate, layout: mix.layout)
        let inputs = try zip(sources, mix.inputs).map { source, input in
            let frames = try DecodedFrames(packets: source.0, threads: 1, limits: asset.limits)
            let producer: any SampleProducer = AudioProducer(
                frames: frames, context: source.1, settings: each)
            return (producer, input.volume)
        }
        let context = ProducerContext(track: output.track, timeZero: .zero, range: nil, isMixed: true)
        return AudioProducer(
            frames: MixedFrames(inputs, origin: timeRange?.start ?? .zero, format: format), context: context,
            settings: settings)
    }

    /// Its parts are read one after the other, each through a demuxer of its own.
    private func smartCut(_ cut: SmartCut, of output: AssetReaderTrackOutput, path: String) throws
        -> SmartCutProducer
    {
        let context = context(for: output.track)
        let (limits, interrupt, movement, threads) = (asset.limits, interrupt, movement, decoderThreads)
        return try SmartCutProducer(
            cut: cut, context: context,
            open: { time in
                let packets = try PacketSource(
                    track: output.track, path: path, limits: limits, interrupt: interrupt, movement: movement)
                try packets.seek(
                    before: (context.timeZero + time).ticks(in: output.track.timeBase, rounding: .down))
                return packets
            },
            frames: { try DecodedFrames(packets: $0, threads: threads, limits: limits) })
    }

    private func startPattern(_ pattern: TestPattern) throws {
        for output in outputs {
            // A generator never ends by itself; the pattern's own length does.
            let end = min(timeRange?.end ?? pattern.duration, pattern.duration)
            let range = TimeRange(start: timeRange?.start ?? .zero, end: end)
            let context = ProducerContext(track: output.track, timeZero: .zero, range: range)
            do {
                let frames = try GeneratedFrames(pattern: pattern, mediaType: output.track.mediaType)
                switch output.settings {
                case .passthrough, .wholePackets, .smartCut, .subtitle:
                    throw MediaError.misuse("a test pattern has no packets to copy")
                case .video(let settings):
                    output.begin(VideoProducer(frames: frames, context: context, settings: settings))
                case .audio(let settings):
                    output.begin(AudioProducer(frames: frames, context: context, settings: settings))
                }
            } catch let error as AVError {
                throw MediaError.reading(track: output.track.label, at: nil, error)
            }
        }
    }
}

/// Processors that are there.
let activeProcessorCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
