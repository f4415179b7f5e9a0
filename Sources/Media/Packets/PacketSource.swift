internal import DequeModule
internal import LibAV

/// The packets of one track, from a shared or separate demuxer; confined to its output's queue.
final class PacketSource {
    let track: AssetTrack
    private var demuxer: SharedDemuxer
    /// Index of this source's consumer in the demuxer.
    private var consumer: Int
    private let path: String
    private let environment: SourceEnvironment
    private let interrupt: InterruptFlag
    private let ownsDemuxer: Bool
    private let movement: MovementCounter
    let damage: DamageTally
    let container: DemuxerModel
    /// Properties that a separate demuxer determines when it opens the file.
    private let discovery: StreamDiscovery

    /// Drops packets before the first keyframe after a seek.
    private let gate = KeyFrameGate()
    /// Stages that the container requires.
    private let stages: PacketChain
    /// The stage that replaces the container's times by sample counts; empty if times are kept.
    private let counting: PacketChain
    private let correction: TimestampCorrection?
    /// The stage that counts the times of Vorbis in Ogg. It requires the track's packets from the first one on, because
    /// intermediate page positions are unreliable, so the source doesn't seek.
    private let vorbisTimestamps: VorbisTimestamps?

    /// Creates a source that reads from the file's beginning, through a demuxer that other sources may share.
    /// `countsSamples`: whether audio times are counted in samples if the container's time base is coarser.
    /// `discovery`: that of the demuxer, and of those that replace it.
    init(
        track: AssetTrack, of container: DemuxerModel, demuxer: SharedDemuxer, path: String,
        environment: SourceEnvironment,
        interrupt: InterruptFlag, ownsDemuxer: Bool, movement: MovementCounter, damage: DamageTally,
        countsSamples: Bool = false, discovery: StreamDiscovery = .known
    ) throws(MediaError) {
        self.track = track
        self.discovery = discovery
        self.demuxer = demuxer
        consumer = try Self.consumer(in: demuxer, of: track)
        self.path = path
        self.environment = environment
        self.interrupt = interrupt
        self.ownsDemuxer = ownsDemuxer
        self.movement = movement
        self.damage = damage
        self.container = container
        let stages = container.stages(of: track, gate: gate)
        self.stages = PacketChain(stages)
        vorbisTimestamps = stages.lazy.compactMap { $0 as? VorbisTimestamps }.first
        correction = countsSamples ? TimestampCorrection(track) : nil
        counting = PacketChain(correction.map { [$0] } ?? [])
        flagsPrecedeFrame = container.flagsPrecedeFrame && track.mediaType == .video
    }

    /// Creates a source with a separate demuxer. `discovery`: what the demuxer determines when it opens the file. With
    /// `.header`, decoding times may be missing; with `.counting`, so may the data of large packets.
    convenience init(
        track: AssetTrack, of container: DemuxerModel, path: String, environment: SourceEnvironment,
        interrupt: InterruptFlag = InterruptFlag(), movement: MovementCounter = MovementCounter(),
        damage: DamageTally = DamageTally(), countsSamples: Bool = false,
        discovery: StreamDiscovery = .known
    ) throws {
        let demuxer = try SharedDemuxer(
            path: path, streams: [track.index], environment: environment, interrupt: interrupt,
            damage: [damage], container: container.name, origins: track.origins, discovery: discovery)
        try self.init(
            track: track, of: container, demuxer: demuxer, path: path, environment: environment,
            interrupt: interrupt,
            ownsDemuxer: true, movement: movement, damage: damage, countsSamples: countsSamples,
            discovery: discovery)
    }

    private static func consumer(in demuxer: SharedDemuxer, of track: AssetTrack) throws(MediaError) -> Int {
        guard let consumer = demuxer.claim(track.index) else {
            throw MediaError.internalError(
                "\(track.reference) has more readers than were registered with its demuxer")
        }
        return consumer
    }

    private var isSearching = false
    /// Whether a seek succeeded, so that the packets don't start at the file's beginning.
    private(set) var hasSought = false
    /// Position of the asset's time zero on the file's time line.
    var timeZero = MediaTime.zero
    /// Start of the presented range on the asset's time line; after a seek, earlier packets are only decoded.
    var presentedFrom = MediaTime.zero
    /// Time base of the returned packets: one sample if times are counted, otherwise the track's time base.
    var timeBase: Rational { correction?.unit ?? track.timeBase }
    private let flagsPrecedeFrame: Bool
    private var wasFlagged = false

    /// Returns the next packet, or nil at the end.
    func next() throws -> Packet? { try counting.next { try nextUncounted() } }

    /// Returns the next packet, with the container's times.
    private func nextUncounted() throws -> Packet? { try stages.next { try read() } }

    /// Converts ticks on the file's time line to a time on the asset's time line.
    func assetTime(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: timeBase) - timeZero }

    /// Packets returned by the demuxer, and not yet processed.
    private var batch = UniqueDeque<Packet>()
    /// Number of the last packet that was removed from `batch`.
    private var taken = 0

    /// Removes the next packet from the batch. Throws if its number shows that a packet was lost between the demuxer
    /// and this source.
    private func take() throws -> Packet? {
        guard let packet = batch.popFirst() else { return nil }
        movement.count()
        guard packet.number == taken + 1 else {
            throw MediaError.lostPackets(track: track.reference, after: taken, next: packet.number)
        }
        taken += 1
        return packet
    }

    private func read() throws -> Packet? {
        while true {
            if let packet = try take() {
                let isDamaged = flagsPrecedeFrame ? wasFlagged : packet.isCorrupt
                wasFlagged = packet.isCorrupt
                guard TimeBounds.contain(packet, timeBase: track.timeBase), !isDamaged else {
                    // Before the first keyframe, damage has no effect on the output.
                    if isSearching || gate.isClosed { continue }
                    let time =
                        packet.pts == noTimestamp || !TimeBounds.contain(packet, timeBase: track.timeBase)
                        ? nil : MediaTime(ticks: packet.pts, timeBase: track.timeBase) - timeZero
                    try damage.handle(.damaged(track: track.reference, at: time), at: time)
                    stages.noteLoss()
                    counting.noteLoss()
                    continue
                }
                return packet
            }
            switch try demuxer.next(consumer, into: &batch) {
            case .packets: continue
            case .ended:
                try checkEnd()
                return nil
            case .moved(let count):
                try reopenDemuxer()
                // The new demuxer returns the same packets from the beginning, so those already processed are skipped.
                while taken < count {
                    if case .packets = try demuxer.next(consumer, into: &batch) {} else { return nil }
                    while taken < count, try take() != nil {}
                }
            }
        }
    }

    /// Reports a track with a declared duration but no packets: its index points past the file's end, or the demuxer
    /// doesn't find frames of this variant of the codec (FLAC of 32 bits in FFmpeg 5.1). Subtitle and data tracks may
    /// be empty.
    private func checkEnd() throws {
        let isExpected = track.mediaType == .video || track.mediaType == .audio
        guard taken == 0, isExpected, !hasSought, !isSearching, track.timeRange.duration > .zero else {
            return
        }
        try damage.handle(.noPackets(track: track.reference, length: track.timeRange.duration))
    }

    private func reopenDemuxer() throws {
        batch = UniqueDeque()
        taken = 0
        demuxer = try SharedDemuxer(
            path: path, streams: [track.index], environment: environment, interrupt: interrupt,
            damage: [damage], container: container.name, origins: track.origins, discovery: discovery)
        consumer = try Self.consumer(in: demuxer, of: track)
    }

    /// Positions the source so that everything from `target` on can be decoded: by a seek, or for Vorbis in Ogg by
    /// dropping earlier packets. See `seek`.
    func begin(before target: Int64) throws {
        if let vorbisTimestamps {
            vorbisTimestamps.neededFrom = target
        } else {
            try seek(before: target)
        }
    }

    /// Repositions the source so that everything from `target` on can be decoded; at the file's beginning unless
    /// `target` is positive.
    func restart(from target: Int64) throws {
        if target > 0 { try begin(before: target) } else { try reopen() }
    }

    /// Seeks to a random-access point from which everything from `target` on can be decoded; `target` is in the track's
    /// time base, on the file's time line. Without effect on a source with a shared demuxer.
    ///
    /// Index timestamps are decoding times, which are smaller than presentation times: the keyframe found may be
    /// presented after the target. The seek is then repeated with earlier times.
    func seek(before target: Int64) throws {
        guard ownsDemuxer, target > 0 else { return }
        noteFirst()
        var probe = target
        let second = max(1, Rational(1, 1).rescale(1, to: track.timeBase))
        for step in 0..<8 {
            do {
                try restart(before: probe)
            } catch {
                // A file that doesn't support seeking is read from its beginning.
                try reopen()
                return
            }
            guard let first = try nextKeyTime() else { break }
            try restart(before: probe)
            if first <= target {
                hasSought = true
                if track.mediaType == .video { gate.close() }
                return
            }
            probe -= second << Int64(step)
        }
        try reopen()
    }

    /// Reads the track's first packet, the reference for sample counts after a seek.
    private func noteFirst() {
        guard let correction else { return }
        isSearching = true
        defer { isSearching = false }
        do {
            if let packet = try nextUncounted() { correction.begin(with: packet) }
        } catch {
            // The same error is thrown when the packet is read for its data.
        }
    }

    private func restart(before timestamp: Int64) throws {
        batch = UniqueDeque()
        taken = 0
        try demuxer.seek(stream: track.index, before: timestamp - (track.lostTimesShift ?? 0))
        forget()
    }

    private func reopen() throws {
        // The new demuxer starts at the file's beginning.
        hasSought = false
        try reopenDemuxer()
        forget()
    }

    private func forget() {
        wasFlagged = false
        stages.reset()
        counting.reset()
    }

    /// Returns the presentation time of the next packet that can be decoded independently; nil if none follows soon.
    private func nextKeyTime() throws -> Int64? {
        isSearching = true
        defer { isSearching = false }
        for _ in 0..<512 {
            guard let packet = try nextUncounted() else { return nil }
            if track.mediaType == .video ? packet.isKey : track.beginsDisplay(packet) {
                let time = packet.pts != noTimestamp ? packet.pts : packet.dts
                return time == noTimestamp ? nil : time
            }
        }
        return nil
    }

    /// Returns the index timestamp of the last keyframe at or before `target`; nil if there is none.
    func indexedKey(notAfter target: Int64) -> Int64? {
        let shift = track.lostTimesShift ?? 0
        return demuxer.indexedKey(of: track.index, notAfter: target - shift).map { $0 + shift }
    }
}
