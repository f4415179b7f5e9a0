internal import LibAV

/// Decodes a track's packets; handles damage, leading frames and missing times.
final class DecodedFrames: FrameStream {
    let timeBase: Rational
    private let packets: PacketSource
    private let decoder: PacketDecoder
    private let reference: TrackReference
    fileprivate var pending: Packet?
    private var isDraining = false
    private var hasDecoded = false
    /// Number of packets that the decoder accepted.
    private var sent = 0
    /// Presentation times of the packets in the decoder's threads, to determine the time of a packet that fails.
    private var recent: [MediaTime?] = []
    /// Returns whether audio at a time precedes the requested range after a seek: no frame was decoded yet, or the time
    /// is more than the preroll before the range.
    private func isBehindSeek(_ time: MediaTime?) -> Bool {
        guard packets.hasSought, packets.track.mediaType == .audio else { return false }
        let isEarly = time.map { $0 < packets.presentedFrom - packets.track.preroll } ?? false
        return !hasDecoded || isEarly
    }
    /// Whether no packet so far has a presentation time; frame times are then the sums of frame durations.
    private var lacksTimes: Bool
    private let frameLength: Int64
    private var nextTime: Int64?
    /// Difference between decoding times, used if packets have no other times: H.264's frame rate may count fields.
    private var step: Int64?
    private var lastDTS: Int64?

    /// Presentation times of tracks whose packets have only decoding times although frames are reordered; nil for other
    /// tracks.
    private var sortedTimes: SortedTimes?
    /// Detection of leading frames; nil after the first frame with complete references.
    private var leading: LeadingFrames?

    /// Frames that end before this time may be skipped if no other frame refers to them; in `timeBase`, on the file's
    /// time line.
    private var neededFrom = Int64.min
    /// Latest presentation time of a packet whose frame the decoder may have skipped because of `neededFrom`.
    private(set) var skippedUntil = Int64.min

    /// Whether the movie's times determine the presented samples instead of the packets' skip counts. FFmpeg 5.1 and
    /// later versions differ in whether skip counts have the sample rate of the core codec or of the output.
    private let trimsByTimes: Bool

    init(packets: PacketSource, threads: Int, limits: InputLimits) throws {
        self.packets = packets
        trimsByTimes =
            packets.container.isMovie && packets.track.format.parameters.traits.mayDoubleRate
        timeBase = packets.timeBase
        reference = packets.track.reference
        let track = packets.track
        leading = Self.leading(of: packets)
        sortedTimes = track.lostTimesShift.map { _ in SortedTimes() }
        lacksTimes = track.mediaType == .video
        frameLength = max(1, track.nominalFrameRate.map { $0.inverted.rescale(1, to: track.timeBase) } ?? 1)
        do {
            decoder = try PacketDecoder.open(
                packets.track.format.parameters, timeBase: timeBase, threads: threads, limits: limits)
        } catch {
            throw MediaError.reading(track: packets.track.reference, at: nil, error)
        }
    }

    private static func leading(of packets: PacketSource) -> LeadingFrames? {
        guard packets.track.mediaType == .video, !packets.hasSought else { return nil }
        let start = (packets.timeZero + packets.presentedFrom).ticks(in: packets.timeBase)
        return LeadingFrames(packets.track.format.parameters.traits, start: start)
    }

    /// Whether the last packet sent to the decoder begins with an ID3 tag, with which a concatenated MP3 file begins.
    private var startsWithTag = false

    private func handle(_ error: AVError, at time: MediaTime?) throws {
        if startsWithTag, error.isDamage {
            try packets.damage.handle(.joined(track: reference, at: time, isSkippable: true), at: time)
        } else {
            try packets.damage.handle(error, of: reference, at: time)
        }
    }

    /// Returns whether a frame's references are complete; false for leading frames at the stream's beginning.
    private func accepts(_ frame: borrowing Frame) -> Bool {
        guard var frames = leading.take() else { return true }
        guard frames.accepts(LeadingFrames.FrameInfo(frame)) else {
            leading = frames
            return false
        }
        // Earlier damage is counted as damage, not as leading frames.
        let missing = frames.missing(before: frame.pts) - packets.damage.count.skipped
        if missing > 0 {
            packets.damage.dropLeading(
                missing, until: frame.pts == noTimestamp ? nil : packets.assetTime(frame.pts))
        }
        return true
    }

    /// Whether a decoding error is due to missing references or headers at the stream's beginning; false for movies,
    /// which have their headers out of band.
    private var isBeforeKeyFrame: Bool {
        !packets.container.isMovie && leading?.covers(errorAfter: decoder.threadDelay) == true
    }

    /// Receives a frame. After an error, `needsInput` is returned, and decoding continues with the next packet. An
    /// error while draining ends the stream, unless the decoder's threads still hold other frames.
    private func receive(into frame: borrowing Frame, at time: MediaTime?) throws -> CodecOutput {
        while true {
            do throws(AVError) {
                let output = try decoder.receive(into: frame)
                if isDraining, output == .ready { drop() }
                return output
            } catch {
                if isBehindSeek(time) || isBeforeKeyFrame, !isDraining { return .needsInput }
                try handle(error, at: failed(at: time))
                guard isDraining else { return .needsInput }
                guard drop() else { return .ended }
            }
        }
    }

    /// Begins draining the decoder. Errors of frames that are still in its threads are reported here or by `receive`.
    private func drain() throws {
        isDraining = true
        // The result of the first of the recent packets was reported when the last of them was sent.
        if recent.count > decoder.threadDelay { drop() }
        do throws(AVError) {
            try decoder.sendEnd()
        } catch  where decoder.threadDelay > 0 {
            try packets.damage.handle(error, of: reference, at: failed(at: nil))
            drop()
        }
    }

    /// Removes the first of the recent packets, whose result was reported; returns false if there is none.
    @discardableResult
    private func drop() -> Bool {
        if recent.isEmpty { return false }
        recent.removeFirst()
        return true
    }

    /// Returns the time of the packet whose error the decoder reports while the packet at `time` is sent.
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

    /// Handles the end of the stream. Throws if no frame was decoded: decoders accept some codec variants without a
    /// frame or an error (FLAC of 32 bits in FFmpeg 5.1).
    private func end() throws -> FrameSupply {
        if let leading, leading.dropped > 0 {
            throw MediaError.noKeyFrame(track: reference, packets: sent)
        }
        guard !hasDecoded, sent > 0, !packets.hasSought, packets.damage.count.skipped == 0 else {
            return .ended
        }
        throw MediaError.undecodable(track: reference, packets: sent)
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
                        let shown = packets.assetTime(frame.pts)
                        try packets.damage.handle(.damaged(track: reference, at: shown), at: shown)
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
                    if packet.pts != noTimestamp { time = packets.assetTime(packet.pts) }
                    updateSkipping(packet)
                    if trimsByTimes { packet.presentFromStart() }
                    startsWithTag =
                        packets.container.storesDelayInTags
                        && packet.withBytes { $0.starts(with: "ID3".utf8) }
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
                        // After a seek in a program stream, the parser may return a partial frame.
                        if isBehindSeek(time) || isBeforeKeyFrame { continue }
                        try handle(error, at: failed(at: time))
                    }
                }
            }
        } catch let error as AVError {
            throw MediaError.reading(track: reference, at: time, error)
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

extension DecodedFrames {
    /// Resets the decoder after its packet source was repositioned. Frames that end before `time` may be skipped.
    func restart(neededFrom time: Int64) {
        decoder.reset()
        decoder.setSkipping(unreferenced: false)
        leading = Self.leading(of: packets)
        if sortedTimes != nil { sortedTimes = SortedTimes() }
        pending = nil
        (isDraining, recent, lastDTS, nextTime, step) = (false, [], nil, nil, nil)
        skippedUntil = .min
        neededFrom = time
    }

    /// Decodes the last keyframe at or before `time`, and drains the decoder: `restart` must be called before the next
    /// read. Returns false if there is no such frame.
    func decodeKeyFrame(notAfter time: Int64, into frame: borrowing Frame) throws -> Bool {
        guard let packet = try keyPacket(notAfter: time) else { return false }
        return try decodeAlone(packet, into: frame)
    }

    /// Decodes one packet and drains the decoder. Returns false without a frame, or if the frame is damaged.
    private func decodeAlone(_ packet: borrowing Packet, into frame: borrowing Frame) throws -> Bool {
        do throws(AVError) {
            guard try decoder.send(packet) else { return false }
            try decoder.sendEnd()
            guard case .ready = try decoder.receive(into: frame) else { return false }
        } catch {
            guard error.isDamage else { throw MediaError.reading(track: reference, at: nil, error) }
            return false
        }
        if frame.pts == noTimestamp { frame.pts = packet.pts }
        return !frame.isDamaged
    }

    /// Decodes the next packet if it is a keyframe with exactly this time, and drains the decoder: `restart` must be
    /// called before the next read. Otherwise returns false, and `next` decodes the packet.
    func decodeKeyFrame(at time: Int64, into frame: borrowing Frame) throws -> Bool {
        guard sortedTimes == nil, pending == nil, let packet = try packets.next() else { return false }
        guard packet.isKey, packet.pts == time else {
            pending = consume packet
            return false
        }
        if try decodeAlone(packet, into: frame) { return true }
        // `next` decodes a damaged packet again, and reports or counts the damage.
        restart(neededFrom: neededFrom)
        pending = consume packet
        return false
    }

    /// Returns the last keyframe packet at or before `time`, which may follow other keyframes after a seek. A movie's
    /// index contains every packet and so identifies it; in other containers, packets are read up to `time`.
    private func keyPacket(notAfter time: Int64) throws -> Packet? {
        var last: Packet?
        let indexed = packets.container.isMovie ? packets.indexedKey(notAfter: time) : nil
        while let packet = try packets.next() {
            guard packet.pts != noTimestamp else { return nil }
            if packet.isKey {
                guard packet.pts <= time else { break }
                let isMatch = packet.pts == time || indexed.map { packet.dts >= $0 } ?? false
                last = try packet.reference()
                if isMatch { break }
            } else if packet.dts != noTimestamp, packet.dts > time {
                break
            }
        }
        return last
    }

    /// Sets the time before which frames may be skipped.
    func setNeeded(from time: Int64) { neededFrom = time }

    private func updateSkipping(_ packet: borrowing Packet) {
        // With sorted times, a frame's time is known only after earlier frames are decoded.
        guard neededFrom > .min, sortedTimes == nil else { return }
        let end = packet.pts == noTimestamp ? Int64.max : packet.pts + max(1, packet.duration)
        let isEarly = end <= neededFrom
        if isEarly { skippedUntil = max(skippedUntil, packet.pts) }
        decoder.setSkipping(unreferenced: isEarly)
    }

    /// Returns the decoder's best-effort timestamp, or the end of the previous frame if no packet has a time.
    private func shownTime(of frame: borrowing Frame) -> Int64 {
        guard lacksTimes else { return frame.bestEffortPTS }
        let start = nextTime ?? (frame.bestEffortPTS == noTimestamp ? 0 : frame.bestEffortPTS)
        nextTime = start + (step ?? (frame.duration > 0 ? frame.duration : frameLength))
        return start
    }
}
