internal import LibAV

/// Frames of a decoder.
final class DecodedFrames: FrameStream {
    let timeBase: Rational
    private let packets: PacketSource
    private let decoder: PacketDecoder
    private let name: String
    fileprivate var pending: Packet?
    private var isDraining = false
    private var hasDecoded = false
    /// Packets that the decoder took.
    private var sent = 0
    /// When the latest of them are shown, as many as the decoder's threads work on.
    private var recent: [MediaTime?] = []
    /// Audio of which nothing was decoded yet, or that lies well before what is asked for, somewhere in the middle of its source.
    private func isBehindSeek(_ time: MediaTime?) -> Bool {
        guard packets.hasSought, packets.track.mediaType == .audio else { return false }
        let isEarly = time.map { $0 < packets.heardFrom - packets.track.preroll } ?? false
        return !hasDecoded || isEarly
    }
    /// Frames whose packets never say when they are shown follow one another at their own length.
    private var lacksTimes: Bool
    private let pictureLength: Int64
    private var nextTime: Int64?
    /// How far apart packets are decoded, where that is all they say: rates of H.264 may count fields.
    private var step: Int64?
    private var lastDTS: Int64?

    /// Of packets that have decoding times alone although frames are reordered.
    private var sortedTimes: SortedTimes?
    /// The frames at the stream's beginning whose references are missing; nil once one decodes without.
    private var leading: LeadingFrames?

    /// Frames that end before this time are of no use, where no other is decoded from them; in `timeBase`, on the file's own clock.
    private var wantedFrom = Int64.min
    /// The latest time of a packet that was passed over because of that.
    private(set) var passedUntil = Int64.min

    /// Times say what is presented, whatever samples packets say to skip: those are counted at the rate of the core or of the output, and
    /// FFmpeg 5.1 and its successors differ about which.
    private let timesSayStart: Bool

    init(packets: PacketSource, threads: Int, limits: InputLimits) throws {
        self.packets = packets
        timesSayStart =
            packets.container.isMovie && packets.track.format.parameters.traits.mayDoubleRate
        timeBase = packets.timeBase
        name = packets.track.label
        let track = packets.track
        leading = Self.leading(of: packets)
        sortedTimes = track.lostTimesShift.map { _ in SortedTimes() }
        lacksTimes = track.mediaType == .video
        pictureLength = max(1, track.nominalFrameRate.map { $0.inverted.rescale(1, to: track.timeBase) } ?? 1)
        do {
            decoder = try PacketDecoder.open(
                packets.track.format.parameters, timeBase: timeBase, threads: threads, limits: limits)
        } catch {
            throw MediaError.reading(track: packets.track.label, at: nil, error)
        }
    }

    private static func leading(of packets: PacketSource) -> LeadingFrames? {
        guard packets.track.mediaType == .video, !packets.hasSought else { return nil }
        let start = (packets.timeZero + packets.heardFrom).ticks(in: packets.timeBase)
        return LeadingFrames(packets.track.format.parameters.traits, start: start)
    }

    /// The packet given last begins with a tag, as a file of MP3 does.
    private var isAtTag = false

    private func meet(_ error: AVError, at time: MediaTime?) throws {
        if isAtTag, error.isDamage {
            try packets.damage.meet(.joined(track: name, at: time, isSkippable: true), at: time)
        } else {
            try packets.damage.meet(error, of: name, at: time)
        }
    }

    /// False for a frame whose references are missing at the stream's beginning.
    private func accepts(_ frame: borrowing Frame) -> Bool {
        guard var frames = leading.take() else { return true }
        guard frames.accepts(LeadingFrames.Picture(frame)) else {
            leading = frames
            return false
        }
        // Damage before it is counted as such.
        let missing = frames.missing(before: frame.pts) - packets.damage.count.skipped
        if missing > 0 {
            packets.damage.dropLeading(
                missing, until: frame.pts == noTimestamp ? nil : packets.told(frame.pts))
        }
        return true
    }

    /// A decoding error that is due to missing references or headers at the stream's beginning; a movie has its headers out of band.
    private var isBeforeKeyFrame: Bool {
        !packets.container.isMovie && leading?.covers(errorAfter: decoder.threadDelay) == true
    }

    /// A decoder that fails on what it was given is given the next; one that fails while it gives the rest has ended, unless its
    /// threads still have others.
    private func receive(into frame: borrowing Frame, at time: MediaTime?) throws -> CodecOutput {
        while true {
            do throws(AVError) {
                let output = try decoder.receive(into: frame)
                if isDraining, output == .ready { drop() }
                return output
            } catch {
                if isBehindSeek(time) || isBeforeKeyFrame, !isDraining { return .needsInput }
                try meet(error, at: failed(at: time))
                guard isDraining else { return .needsInput }
                guard drop() else { return .ended }
            }
        }
    }

    /// No more comes. What the threads still have may be damaged too, which is told at once or later.
    private func drain() throws {
        isDraining = true
        // The first of the latest was told of when the last of them was given.
        if recent.count > decoder.threadDelay { drop() }
        do throws(AVError) {
            try decoder.sendEnd()
        } catch  where decoder.threadDelay > 0 {
            try packets.damage.meet(error, of: name, at: failed(at: nil))
            drop()
        }
    }

    /// What became of the first of the latest packets is told; false where there is none.
    @discardableResult
    private func drop() -> Bool {
        if recent.isEmpty { return false }
        recent.removeFirst()
        return true
    }

    /// When the packet is shown whose failure is told while the one at `time` is given.
    private func failed(at time: MediaTime?) -> MediaTime? {
        decoder.threadDelay > 0 ? recent.first ?? time : time
    }

    private func note(_ time: MediaTime?) {
        let delay = decoder.threadDelay
        guard delay > 0 else { return }
        recent.append(time)
        if recent.count > delay + 1 { recent.removeFirst() }
    }

    private func nextPacket() throws -> Packet? {
        if let packet = pending.take() { return packet }
        return try packets.next()
    }

    /// Nothing more comes. Some forms of a codec are taken without a word and give nothing (FLAC of 32 bits in 5.1).
    private func end() throws -> FrameSupply {
        if let leading, leading.dropped > 0 {
            throw MediaError.noKeyFrame(track: name, packets: sent)
        }
        guard !hasDecoded, sent > 0, !packets.hasSought, packets.damage.count.skipped == 0 else {
            return .ended
        }
        throw MediaError.undecodable(track: name, packets: sent)
    }

    func next(into frame: borrowing Frame) throws -> FrameSupply {
        var time: MediaTime?
        do {
            while true {
                switch try receive(into: frame, at: time) {
                case .ready:
                    hasDecoded = true
                    if frame.pts == noTimestamp { frame.pts = shownTime(of: frame) }
                    if let time = sortedTimes?.next(own: frame.pts, isKey: frame.isKey) { frame.pts = time }
                    guard accepts(frame) else { continue }
                    if frame.isDamaged {
                        let shown = packets.told(frame.pts)
                        try packets.damage.meet(.damaged(track: name, at: shown), at: shown)
                        continue
                    }
                    return .frame
                case .ended: return try end()
                case .needsInput:
                    if isDraining { return try end() }
                    guard let packet = try nextPacket() else {
                        try drain()
                        continue
                    }
                    if packet.pts != noTimestamp { lacksTimes = false }
                    if lacksTimes, packet.dts != noTimestamp {
                        if let lastDTS, packet.dts > lastDTS { step = packet.dts - lastDTS }
                        lastDTS = packet.dts
                    }
                    if packet.pts != noTimestamp { time = packets.told(packet.pts) }
                    passOver(packet)
                    if timesSayStart { packet.presentFromStart() }
                    isAtTag =
                        packets.container.saysDelayInTags && packet.withBytes { $0.starts(with: "ID3".utf8) }
                    let (pts, isKey, isHidden) = (packet.pts, packet.isKey, packet.isDiscarded)
                    do throws(AVError) {
                        if try decoder.send(packet) {
                            sent += 1
                            leading?.note(pts: pts, isKey: isKey, isHidden: isHidden)
                            if !isHidden { sortedTimes?.note(pts) }
                            note(time)
                        } else {
                            pending = consume packet
                        }
                    } catch {
                        leading?.note(pts: pts, isKey: isKey, isHidden: isHidden)
                        note(time)
                        // Part of a frame, as a parser finds it in the middle of a program stream.
                        if isBehindSeek(time) || isBeforeKeyFrame { continue }
                        try meet(error, at: failed(at: time))
                    }
                }
            }
        } catch let error as AVError {
            throw MediaError.reading(track: name, at: time, error)
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

extension DecodedFrames {
    /// Begins anew behind a seek of its packets. Frames that end before `time` may be left out.
    func restart(wantedFrom time: Int64) {
        decoder.reset()
        decoder.passOver(unreferenced: false)
        leading = Self.leading(of: packets)
        if sortedTimes != nil { sortedTimes = SortedTimes() }
        pending = nil
        (isDraining, recent, lastDTS, nextTime, step) = (false, [], nil, nil, nil)
        passedUntil = .min
        wantedFrom = time
    }

    /// Decodes the last key frame that is not shown after `time`, behind which nothing comes: whoever goes on must restart. False where
    /// that gives no frame.
    func decodeKeyFrame(notAfter time: Int64, into frame: borrowing Frame) throws -> Bool {
        guard let packet = try keyPacket(notAfter: time) else { return false }
        return try decodeAlone(packet, into: frame)
    }

    /// False where it gives no frame by itself, or one that is damaged.
    private func decodeAlone(_ packet: borrowing Packet, into frame: borrowing Frame) throws -> Bool {
        do throws(AVError) {
            guard try decoder.send(packet) else { return false }
            try decoder.sendEnd()
            guard case .ready = try decoder.receive(into: frame) else { return false }
        } catch {
            guard error.isDamage else { throw MediaError.reading(track: name, at: nil, error) }
            return false
        }
        if frame.pts == noTimestamp { frame.pts = packet.pts }
        return !frame.isDamaged
    }

    /// Decodes the packet that comes next, where that is a key frame shown at just this time: nothing comes behind it then, and whoever
    /// goes on must restart. False where it isn't; it is decoded among others then.
    func decodeKeyFrame(at time: Int64, into frame: borrowing Frame) throws -> Bool {
        guard sortedTimes == nil, pending == nil, let packet = try packets.next() else { return false }
        guard packet.isKey, packet.pts == time else {
            pending = consume packet
            return false
        }
        if try decodeAlone(packet, into: frame) { return true }
        // What is damaged is met again among others, where it is told or counted.
        restart(wantedFrom: wantedFrom)
        pending = consume packet
        return false
    }

    /// Behind a seek there may be one that is nearer. An index that has every packet tells which is the last.
    private func keyPacket(notAfter time: Int64) throws -> Packet? {
        var last: Packet?
        let indexed = packets.container.isMovie ? packets.indexedKey(notAfter: time) : nil
        while let packet = try packets.next() {
            guard packet.pts != noTimestamp else { return nil }
            if packet.isKey {
                guard packet.pts <= time else { break }
                let isIt = packet.pts == time || indexed.map { packet.dts >= $0 } ?? false
                last = try packet.reference()
                if isIt { break }
            } else if packet.dts != noTimestamp, packet.dts > time {
                break
            }
        }
        return last
    }

    /// What is wanted is later than was said before.
    func want(from time: Int64) { wantedFrom = time }

    private func passOver(_ packet: borrowing Packet) {
        // A frame's time is known once those before it are decoded.
        guard wantedFrom > .min, sortedTimes == nil else { return }
        let end = packet.pts == noTimestamp ? Int64.max : packet.pts + max(1, packet.duration)
        let isEarly = end <= wantedFrom
        if isEarly { passedUntil = max(passedUntil, packet.pts) }
        decoder.passOver(unreferenced: isEarly)
    }

    /// What the decoder believes, or where no packet ever said a time, the end of the frame before.
    private func shownTime(of frame: borrowing Frame) -> Int64 {
        guard lacksTimes else { return frame.bestEffortPTS }
        let start = nextTime ?? (frame.bestEffortPTS == noTimestamp ? 0 : frame.bestEffortPTS)
        nextTime = start + (step ?? (frame.duration > 0 ? frame.duration : pictureLength))
        return start
    }
}
