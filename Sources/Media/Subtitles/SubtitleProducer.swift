internal import LibAV

/// A track's cues of a range, as they are or in another codec: both ends of a cue are cut to the range.
final class SubtitleProducer: SampleProducer {
    private let packets: PacketSource
    private let track: AssetTrack
    private let zero: Int64
    private let start: Int64
    private let end: Int64?
    private let converter: SubtitleConverter?
    private let converts: Bool
    private let isSequential: Bool
    private var held: SampleBuffer?
    private var isFinished = false
    /// Cues that were shortened or left out, since the codec can't say that two are shown at once.
    private(set) var droppedSamples = 0

    init(packets: PacketSource, context: ProducerContext, codec: SubtitleCodec?) throws {
        self.packets = packets
        track = context.track
        zero = context.timeZero.ticks(in: track.timeBase)
        start = context.start.ticks(in: track.timeBase)
        end = context.end?.ticks(in: track.timeBase, rounding: .up)
        isSequential = codec?.isSequential ?? (track.format.codec == SubtitleCodec.movText.libavName)
        converts = codec != nil && codec?.libavName != track.format.codec
        if let codec, converts {
            do throws(AVError) {
                converter = try SubtitleConverter.open(
                    track.format.parameters, timeBase: track.timeBase, to: codec.libavName)
            } catch {
                throw MediaError.reading(track: track.label, at: nil, error)
            }
        } else {
            converter = nil
        }
    }

    func next() throws -> SampleBuffer? {
        guard isSequential else { return try nextCue() }
        while !isFinished {
            guard let cue = try nextCue() else {
                isFinished = true
                break
            }
            guard var last = held.take() else {
                held = consume cue
                continue
            }
            if last.pts + last.duration > cue.pts {
                droppedSamples += 1
                last.duration = cue.pts - last.pts
            }
            held = consume cue
            if last.duration > 0 { return last }
        }
        return held.take()
    }

    private func nextCue() throws -> SampleBuffer? {
        while let packet = try packets.next() {
            let time = packet.pts != noTimestamp ? packet.pts : packet.dts
            guard time != noTimestamp else { continue }
            let pts = time - zero
            if let end, pts >= end { return nil }
            // Where no length is said, a cue is shown until the next one, which can't be known of the first.
            var until = pts + max(0, packet.duration)
            if packet.duration > 0 ? until <= start : pts < start { continue }
            if let end { until = min(until, end) }
            let shown = max(pts, start)
            guard let cue = try content(of: packet, at: pts) else { continue }
            return SampleBuffer(
                packet: cue, pts: shown, dts: shown, duration: max(0, until - shown),
                timeBase: track.timeBase)
        }
        return nil
    }

    /// Nil for packets that show nothing: mov_text fills the time between cues with them, and muxers do so anew.
    private func content(of packet: consuming Packet, at pts: Int64) throws -> Packet? {
        do throws(AVError) {
            guard converts else {
                let isEmpty =
                    track.format.codec == "mov_text"
                    && packet.withBytes { bytes in
                        bytes.count >= 2 && bytes[0] == 0 && bytes[1] == 0
                    }
                if isEmpty { return nil }
                return consume packet
            }
            guard let bytes = try converter?.convert(packet), !bytes.isEmpty else { return nil }
            return try Packet.of(bytes)
        } catch {
            try packets.damage.meet(
                error, of: track.label, at: MediaTime(ticks: pts, timeBase: track.timeBase))
            return nil
        }
    }
}
