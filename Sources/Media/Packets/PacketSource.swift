internal import DequeModule
internal import LibAV
internal import Synchronization

/// The packets of one track, from whichever lane has them; confined to its output's queue.
final class PacketSource {
    let track: AssetTrack
    private var lane: DemuxLane
    /// Its place among the lane's consumers.
    private var place: Int
    private let path: String
    private let limits: InputLimits
    private let interrupt: InterruptFlag
    private let ownsLane: Bool
    private let movement: MovementCounter
    let damage: DamageTally

    /// Reads from the file's beginning through a lane shared with others.
    init(
        track: AssetTrack, lane: DemuxLane, path: String, limits: InputLimits, interrupt: InterruptFlag,
        ownsLane: Bool, movement: MovementCounter, damage: DamageTally
    ) throws(MediaError) {
        self.track = track
        self.lane = lane
        place = try Self.place(in: lane, of: track)
        self.path = path
        self.limits = limits
        self.interrupt = interrupt
        self.ownsLane = ownsLane
        self.movement = movement
        self.damage = damage
        fields = FieldPairs(
            track.format.parameters, frameRate: track.nominalFrameRate, timeBase: track.timeBase)
    }

    /// Reads a track through a lane of its own.
    convenience init(
        track: AssetTrack, path: String, limits: InputLimits, interrupt: InterruptFlag = InterruptFlag(),
        movement: MovementCounter = MovementCounter(), damage: DamageTally = DamageTally()
    ) throws {
        let lane = try DemuxLane(
            path: path, streams: [track.index], limits: limits, interrupt: interrupt, damage: [damage])
        try self.init(
            track: track, lane: lane, path: path, limits: limits, interrupt: interrupt, ownsLane: true,
            movement: movement, damage: damage)
    }

    private static func place(in lane: DemuxLane, of track: AssetTrack) throws(MediaError) -> Int {
        guard let place = lane.claim(track.index) else {
            throw MediaError.misuse("\(track.label) has more readers than its demuxer was told of")
        }
        return place
    }

    /// Where the container leaves presentation times out, they are found out here.
    private var times: PictureTimes?
    private var hasBegun = false
    private var isAtEnd = false
    private var awaitsKey = false
    private var isSearching = false
    /// Packets come from the middle of the source.
    private(set) var hasSought = false

    /// The source is a movie: a packet lasts until the next one. libavformat doesn't say it of fragmented ones and some
    /// others, and guesses where pictures are reordered.
    var isMovie = false
    /// Time zero on the file's own clock, for what is told of a time.
    var timeZero = MediaTime.zero
    /// Behind a seek, what lies clearly before it only helps to decode what follows.
    var heardFrom = MediaTime.zero
    /// The source is Ogg: libavformat takes what is not heard of the last packet off its length by itself.
    var isOgg = false
    /// Counts samples where the container's clock can't; nil leaves its times as they are.
    var clock: SampleClock?
    /// Counts Vorbis in Ogg by itself; nil of everything else.
    var vorbis: OggVorbisTimes?
    /// The unit of the times that packets come with.
    var timeBase: Rational { clock?.unit ?? track.timeBase }
    /// The packet that was read to know what belongs to the one before it, or what went wrong instead.
    private var ahead: Packet?
    private var failure: (any Error)?
    private var lastLength: Int64 = 0
    private var fields: FieldPairs?

    /// The next packet whole: with how long it lasts, and with both fields of its frame.
    private func readWhole() throws -> Packet? {
        guard isMovie || fields != nil else { return try read() }
        if let failure { throw failure }
        var taken = ahead.take()
        if taken == nil { taken = try readNoted() }
        guard let packet = taken.take() else { return nil }
        if isMovie {
            readLength(of: packet)
        } else if fields?.isWaiting == true {
            try readSecondField(of: packet)
        }
        return packet
    }

    /// The next packet, of which the fields' pairs take note: a field that has lost its first one is none.
    private func readNoted() throws -> Packet? {
        while let packet = try read() {
            if fields?.take(packet) != .torn { return packet }
        }
        return nil
    }

    private func lookAhead() -> Bool {
        do {
            ahead = try read()
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func readLength(of packet: borrowing Packet) {
        // Where pictures are reordered, libavformat has it from the rate that the stream claims.
        guard packet.duration == 0 || track.mediaType == .video, packet.dts != noTimestamp else {
            lastLength = packet.duration
            return
        }
        guard lookAhead() else { return }
        if let next = ahead.take() {
            if next.dts != noTimestamp { lastLength = max(0, next.dts - packet.dts) }
            packet.duration = lastLength
            ahead = consume next
        } else if track.mediaType != .subtitle, packet.pts != noTimestamp {
            // The last one: no longer than the one before it, nor than its track.
            let left = track.timeRange.end.ticks(in: track.timeBase) - packet.pts
            let length = lastLength > 0 ? lastLength : packet.duration
            packet.duration = max(0, track.mediaType == .data ? left : min(length, left))
        }
    }

    private func readSecondField(of packet: borrowing Packet) throws {
        guard lookAhead(), let next = ahead.take() else { return }
        if case .second(_, let length) = fields?.take(next) {
            packet.duration = length
            try packet.append(next)
        } else {
            ahead = consume next
        }
    }

    /// The next packet, or nil at the end. Behind a seek the first one is a key frame: what a transport stream has before
    /// it belongs to pictures, and maybe to parameter sets, that weren't read.
    func next() throws -> Packet? {
        if clock?.wantsSight == true { try lookAround() }
        var counted = seen.popFirst()
        if counted == nil { counted = try nextUncounted() }
        guard let packet = counted.take() else { return nil }
        clock?.count(packet)
        return packet
    }

    /// Packets that were looked at to find out where the first of them begins.
    private var seen = UniqueDeque<Packet>()

    private func lookAround() throws {
        while clock?.wantsSight == true, let packet = try nextUncounted() {
            clock?.see(packet)
            seen.append(packet)
        }
        clock?.settle()
    }

    /// The same, with the container's times.
    private func nextUncounted() throws -> Packet? {
        if vorbis != nil {
            while let packet = try nextOfAny() {
                if try vorbis?.count(packet) == true { return packet }
            }
            return nil
        }
        guard awaitsKey else { return try nextOfAny() }
        while let packet = try nextOfAny() {
            guard packet.isKey else { continue }
            awaitsKey = false
            return packet
        }
        return nil
    }

    private func nextOfAny() throws -> Packet? {
        if !hasBegun {
            hasBegun = true
            guard let first = try readWhole() else { return nil }
            times = try PictureTimes(track, first: first)
            guard let times else { return first }
            try times.take(first)
        }
        guard let times else { return try readWhole() }
        while true {
            if let packet = times.next() { return packet }
            if isAtEnd { return nil }
            let packet = try readWhole()
            isAtEnd = packet == nil
            try times.take(packet)
        }
    }

    /// Pictures of transport streams: libavformat's parser ends a picture when it sees the next one, and gives it the flags of
    /// the packets that brought that one.
    var flagsComeEarly = false
    private var wasFlagged = false

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
                    if isSearching || awaitsKey { continue }
                    let time =
                        packet.pts == noTimestamp || !TimeBounds.holds(packet, timeBase: track.timeBase)
                        ? nil : MediaTime(ticks: packet.pts, timeBase: track.timeBase) - timeZero
                    try damage.meet(.damaged(track: track.label, at: time), at: time)
                    clock?.lose()
                    vorbis?.restart()
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
            path: path, streams: [track.index], limits: limits, interrupt: interrupt, damage: [damage])
        place = try Self.place(in: lane, of: track)
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
                awaitsKey = track.mediaType == .video
                return
            }
            probe -= second << Int64(step)
        }
        try reopen()
    }

    /// From the track's first packet on it is known where one in the middle begins.
    private func noteFirst() {
        guard clock != nil else { return }
        isSearching = true
        defer { isSearching = false }
        do {
            if let packet = try nextUncounted() { clock?.begin(with: packet) }
        } catch {
            // Whoever reads it for its own sake will be told.
        }
    }

    private func restart(before timestamp: Int64) throws {
        batch = UniqueDeque()
        taken = 0
        try lane.seek(stream: track.index, before: timestamp)
        forget()
    }

    private func reopen() throws {
        try reopenLane()
        forget()
    }

    private func forget() {
        (times, hasBegun, isAtEnd) = (nil, false, false)
        (awaitsKey, wasFlagged) = (false, false)
        (failure, lastLength) = (nil, 0)
        fields?.forget()
        seen = UniqueDeque()
        clock?.restart()
        vorbis?.restart()
        _ = ahead.take()
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
}

/// Counts packets that were read, so that a long way to the first sample is no stall.
final class MovementCounter: Sendable {
    private let packets = Atomic<Int64>(0)
    func count() { packets.add(1, ordering: .relaxed) }
    var value: Int64 { packets.load(ordering: .relaxed) }
}
