internal import DequeModule
internal import LibAV

/// Generates presentation times for the older MPEG codecs. AVI stores only decoding times; program streams omit some
/// presentation times, such as that of the last reference frame.
///
/// The reorder depth is one frame: a B-frame is presented at its decoding time, any other frame at the decoding time
/// of the next non-B-frame. Packets with two frames (DivX's packed B-frames) are split first.
///
/// Confined to its source's queue.
final class PTSGenerator: PacketStage {
    private let track: AssetTrack
    private let codec: BitstreamTraits.OlderVideo
    private var isMPEG4: Bool { codec == .mpeg4 }

    /// Whether times are generated; determined by the first packet.
    private enum Phase {
        case unknown, idle, working
    }
    private var phase = Phase.unknown
    private var unpack: BitstreamFilter?
    /// The frame whose time is determined by the next non-B-frame, and the frames received after it.
    private var held: Packet?
    private var isHolding = false
    private var waiting = UniqueDeque<Packet>()
    private var ready = UniqueDeque<Packet>()
    /// The latest decoding time, and that time plus the packet's duration.
    private var (latest, following) = (Int64.min, Int64.min)

    /// Returns nil if the track's codec never requires generated times.
    init?(_ track: AssetTrack) {
        guard track.mediaType == .video, let codec = track.format.parameters.traits.olderVideo else {
            return nil
        }
        (self.track, self.codec) = (track, codec)
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if phase == .unknown { try begin(with: packet) }
        if phase == .idle { return try next(packet) }
        if isMPEG4 {
            try unpack?.send(packet)
            try drain()
        } else {
            order(packet)
        }
        while let packet = ready.popFirst() { try next(packet) }
    }

    func finish(into next: (consuming Packet) throws -> Void) throws {
        guard phase == .working else { return }
        if isMPEG4 {
            try unpack?.sendEnd()
            try drain()
        }
        if let last = held.take() {
            last.pts = max(following, last.dts + max(1, last.duration))
            insert(last)
        }
        while let packet = ready.popFirst() { try next(packet) }
    }

    func reset() {
        (phase, isHolding) = (.unknown, false)
        (latest, following) = (.min, .min)
        unpack = nil
        held = nil
        waiting = UniqueDeque()
        ready = UniqueDeque()
    }

    private func begin(with first: borrowing Packet) throws(AVError) {
        let isSilent = first.dts != noTimestamp && (first.pts == noTimestamp || !isMPEG4)
        phase = isSilent ? .working : .idle
        if isSilent, isMPEG4 {
            unpack = try BitstreamFilter.open(
                "mpeg4_unpack_bframes", track.format.parameters, timeBase: track.timeBase)
        }
    }

    private func drain() throws(AVError) {
        while true {
            let packet = try Packet()
            guard case .ready? = try unpack?.receive(into: packet) else { return }
            order(packet)
        }
    }

    private func order(_ packet: consuming Packet) {
        if packet.dts != noTimestamp, packet.dts > latest {
            (latest, following) = (packet.dts, packet.dts + max(1, packet.duration))
        }
        let hasPTS = packet.pts != noTimestamp
        if hasPTS, !isHolding { return ready.append(packet) }
        if packet.dts == noTimestamp || isBidirectional(packet) {
            if !hasPTS { packet.pts = packet.dts }
            // B-frames follow the held frame in decoding order.
            if isHolding { waiting.append(packet) } else { ready.append(packet) }
            return
        }
        if let last = held.take() {
            last.pts = packet.dts
            insert(last)
        }
        isHolding = !hasPTS
        if hasPTS { ready.append(packet) } else { held = consume packet }
    }

    private func insert(_ packet: consuming Packet) {
        ready.append(packet)
        while let next = waiting.popFirst() { ready.append(next) }
    }

    private func isBidirectional(_ packet: borrowing Packet) -> Bool { codec.isBidirectional(packet) }
}

extension BitstreamTraits.OlderVideo {
    /// Returns whether the first frame of a packet is a B-frame.
    func isBidirectional(_ packet: borrowing Packet) -> Bool {
        packet.withBytes { bytes in
            var position = 0
            while position + 5 < bytes.count {
                if bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 {
                    switch (self, bytes[position + 3]) {
                    case (.mpeg4, 0xb6): return bytes[position + 4] >> 6 == 2
                    case (.mpeg2, 0x00): return bytes[position + 5] >> 3 & 7 == 3
                    default: break
                    }
                }
                position += 1
            }
            return false
        }
    }
}
