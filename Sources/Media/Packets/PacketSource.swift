internal import DequeModule
internal import LibAV

/// The packets of one track, from whichever lane has them; confined to its output's queue.
final class PacketSource {
    let track: AssetTrack
    private var lane: DemuxLane
    /// Its place among the lane's consumers.
    private var place: Int
    private let path: String
    private let environment: SourceEnvironment
    private let interrupt: InterruptFlag
    private let ownsLane: Bool
    private let movement: MovementCounter
    let damage: DamageTally
    let container: SourceContainer

    /// Where a seek begins.
    private let gate = KeyFrameGate()
    /// What the container makes of packets.
    private let stages: PacketChain
    /// What puts counted times in place of the container's; empty where they stay.
    private let counting: PacketChain
    private let correction: TimestampCorrection?
    /// Counts packets of Vorbis in Ogg from the track's first one: the pages between don't tell.
    private let counted: VorbisTimestamps?

    /// Reads from the file's beginning through a lane shared with others.
    /// `countsSamples` has the times of audio counted where the container's clock can't say every sample's.
    init(
        track: AssetTrack, of container: SourceContainer, lane: DemuxLane, path: String,
        environment: SourceEnvironment,
        interrupt: InterruptFlag, ownsLane: Bool, movement: MovementCounter, damage: DamageTally,
        countsSamples: Bool = false
    ) throws(MediaError) {
        self.track = track
        self.lane = lane
        place = try Self.place(in: lane, of: track)
        self.path = path
        self.environment = environment
        self.interrupt = interrupt
        self.ownsLane = ownsLane
        self.movement = movement
        self.damage = damage
        self.container = container
        let stages = container.stages(of: track, gate: gate)
        self.stages = PacketChain(stages)
        counted = stages.lazy.compactMap { $0 as? VorbisTimestamps }.first
        correction = countsSamples ? TimestampCorrection(track) : nil
        counting = PacketChain(correction.map { [$0] } ?? [])
        flagsComeEarly = container.flagsComeEarly && track.mediaType == .video
    }

    /// Reads a track through a lane of its own.
    convenience init(
        track: AssetTrack, of container: SourceContainer, path: String, environment: SourceEnvironment,
        interrupt: InterruptFlag = InterruptFlag(), movement: MovementCounter = MovementCounter(),
        damage: DamageTally = DamageTally(), countsSamples: Bool = false
    ) throws {
        let lane = try DemuxLane(
            path: path, streams: [track.index], environment: environment, interrupt: interrupt,
            damage: [damage], origins: track.origins)
        try self.init(
            track: track, of: container, lane: lane, path: path, environment: environment,
            interrupt: interrupt,
            ownsLane: true, movement: movement, damage: damage, countsSamples: countsSamples)
    }

    private static func place(in lane: DemuxLane, of track: AssetTrack) throws(MediaError) -> Int {
        guard let place = lane.claim(track.index) else {
            throw MediaError.misuse("\(track.label) has more readers than its demuxer was told of")
        }
        return place
    }

    private var isSearching = false
    /// Packets come from the middle of the source.
    private(set) var hasSought = false
    /// Time zero on the file's own clock, for what is told of a time.
    var timeZero = MediaTime.zero
    /// Behind a seek, what lies clearly before it only helps to decode what follows.
    var heardFrom = MediaTime.zero
    /// The unit of the times that packets come with.
    var timeBase: Rational { correction?.unit ?? track.timeBase }
    private let flagsComeEarly: Bool
    private var wasFlagged = false

    /// The next packet, or nil at the end.
    func next() throws -> Packet? { try counting.next { try nextUncounted() } }

    /// The same, with the container's times.
    private func nextUncounted() throws -> Packet? { try stages.next { try read() } }

    /// What users call a moment of the file's own clock.
    func told(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: timeBase) - timeZero }

    /// What the lane handed over.
    private var batch = UniqueDeque<Packet>()
    /// The number of the last packet that was taken out of it.
    private var taken = 0

    /// The next packet of what the lane handed over. None may be missing: this is where a loss between the demuxer and a
    /// track would be seen, whoever makes it.
    private func take() throws -> Packet? {
        guard let packet = batch.popFirst() else { return nil }
        movement.count()
        guard packet.number == taken + 1 else {
            throw MediaError.lostPackets(track: track.label, after: taken, next: packet.number)
        }
        taken += 1
        return packet
    }

    private func read() throws -> Packet? {
        while true {
            if let packet = try take() {
                let isDamaged = flagsComeEarly ? wasFlagged : packet.isCorrupt
                wasFlagged = packet.isCorrupt
                guard TimeBounds.holds(packet, timeBase: track.timeBase), !isDamaged else {
                    // On the way to the first key frame it is nothing that would be shown.
                    if isSearching || gate.isClosed { continue }
                    let time =
                        packet.pts == noTimestamp || !TimeBounds.holds(packet, timeBase: track.timeBase)
                        ? nil : MediaTime(ticks: packet.pts, timeBase: track.timeBase) - timeZero
                    try damage.meet(.damaged(track: track.label, at: time), at: time)
                    stages.lose()
                    counting.lose()
                    continue
                }
                return packet
            }
            switch try lane.next(place, into: &batch) {
            case .packets: continue
            case .ended:
                try checkEnd()
                return nil
            case .moved(let count):
                try reopenLane()
                // The same file from the same beginning gives the same packets.
                while taken < count {
                    if case .packets = try lane.next(place, into: &batch) {} else { return nil }
                    while taken < count, try take() != nil {}
                }
            }
        }
    }

    /// A track that has a length and not one packet: its index points past the file's end, or the container's reader finds no
    /// frame of this form of the codec (FLAC of 32 bits in 5.1). Those of cues and data may be empty.
    private func checkEnd() throws {
        let isExpected = track.mediaType == .video || track.mediaType == .audio
        guard taken == 0, isExpected, !hasSought, !isSearching, track.timeRange.duration > .zero else {
            return
        }
        try damage.meet(.noPackets(track: track.label, length: track.timeRange.duration))
    }

    private func reopenLane() throws {
        batch = UniqueDeque()
        taken = 0
        lane = try DemuxLane(
            path: path, streams: [track.index], environment: environment, interrupt: interrupt,
            damage: [damage], origins: track.origins)
        place = try Self.place(in: lane, of: track)
    }

    /// Begins with packets from which everything from `target` on can be decoded; what comes before them is left out. See `seek`.
    func begin(before target: Int64) throws {
        if let counted {
            counted.wantedFrom = target
        } else {
            try seek(before: target)
        }
    }

    /// Goes to a random-access point from which everything from `target` on can be decoded; `target` is in
    /// the track's time base, on the file's own clock. Only for a source with a lane of its own.
    ///
    /// Index time stamps are decoding times, which run ahead of presentation: the key frame found may lie
    /// after the target, and then the search begins again earlier.
    func seek(before target: Int64) throws {
        guard ownsLane, target > 0 else { return }
        noteFirst()
        var probe = target
        let second = max(1, Rational(1, 1).rescale(1, to: track.timeBase))
        for step in 0..<8 {
            do {
                try restart(before: probe)
            } catch {
                // A file that can't be searched is read from its beginning.
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

    /// From the track's first packet on it is known where one in the middle begins.
    private func noteFirst() {
        guard let correction else { return }
        isSearching = true
        defer { isSearching = false }
        do {
            if let packet = try nextUncounted() { correction.begin(with: packet) }
        } catch {
            // Whoever reads it for its own sake will be told.
        }
    }

    private func restart(before timestamp: Int64) throws {
        batch = UniqueDeque()
        taken = 0
        try lane.seek(stream: track.index, before: timestamp - (track.lostTimesShift ?? 0))
        forget()
    }

    private func reopen() throws {
        // Packets come from the file's beginning again.
        hasSought = false
        try reopenLane()
        forget()
    }

    private func forget() {
        wasFlagged = false
        stages.reset()
        counting.reset()
    }

    /// The presentation time of the first packet that can be decoded by itself.
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

    /// The time of the last key frame that the file's index has not after `target`, as the index counts; nil where it has none.
    func indexedKey(notAfter target: Int64) -> Int64? {
        let shift = track.lostTimesShift ?? 0
        return lane.indexedKey(of: track.index, notAfter: target - shift).map { $0 + shift }
    }
}
