internal import LibAV

/// A source of subtitle events in order of their start, with a damage tally. Confined to one queue.
protocol CueSource: AnyObject {
    var damage: DamageTally { get }
    /// Returns the next event, in the track's time base; nil after the last one.
    func next() throws -> Packet?
}

extension PacketSource: CueSource {}

/// Vends a track's subtitle events in a range, unchanged or converted. Events are trimmed to the range.
final class SubtitleProducer: SampleProducer {
    private let packets: any CueSource
    private let track: AssetTrack
    private let zero: Int64
    private let start: Int64
    private let end: Int64?
    private let converter: SubtitleConverter?
    private let converts: Bool
    /// Merges overlapping events; nil if the codec supports overlaps.
    private var merger: CueMerger?
    private var isFinished = false
    /// The bitmap subtitle presented at the range's start; it is shown until the next one.
    private var onScreen: Packet?
    private var waiting: SampleBuffer?
    /// State of the display sets until the first one is vended; then nil. Also nil for codecs with independent packets.
    private var display: (any DisplaySets)?
    private let isShownUntilNext: Bool
    /// See `AssetReaderOutput.keepsEventTimes`.
    private let keepsTimes: Bool
    /// Number of events dropped, at least partially, because the merged sample would exceed a limit.
    var droppedSamples: Int { merger?.droppedCues ?? 0 }

    init(packets: any CueSource, context: ProducerContext, codec: SubtitleCodec?) throws {
        self.packets = packets
        track = context.track
        zero = context.timeZero.ticks(in: track.timeBase)
        start = context.start.ticks(in: track.timeBase)
        end = context.end?.ticks(in: track.timeBase, rounding: .up)
        let isSequential = codec?.isSequential ?? (track.format.codec == SubtitleCodec.movText.libavName)
        merger = isSequential ? CueMerger() : nil
        converts = codec != nil && codec?.libavName != track.format.codec
        if !converts { display = track.displaySets }
        isShownUntilNext = display != nil
        keepsTimes = context.keepsEventTimes
        if let codec, converts {
            do throws(AVError) {
                converter = try SubtitleConverter.open(
                    track.format.parameters, timeBase: track.timeBase, to: codec.libavName)
            } catch {
                throw MediaError.reading(track: track.reference, at: nil, error)
            }
        } else {
            converter = nil
        }
    }

    func next() throws -> SampleSupply { SampleSupply(try nextMerged()) }

    private func nextMerged() throws -> SampleBuffer? {
        guard merger != nil else { return try nextCue() }
        while true {
            if let sample = merger?.next() {
                do throws(AVError) {
                    return SampleBuffer(
                        packet: try Packet.of(sample.bytes), pts: sample.start, dts: sample.start,
                        duration: sample.end - sample.start, timeBase: track.timeBase)
                } catch {
                    throw MediaError.reading(track: track.reference, at: nil, error)
                }
            }
            if isFinished { return nil }
            if let cue = try nextCue() {
                let bytes = cue.withPacket { $0.withBytes { Array($0) } } ?? []
                merger?.take(
                    start: cue.pts, end: cue.duration > 0 ? cue.pts + cue.duration : nil, bytes: bytes)
            } else {
                isFinished = true
                merger?.finish()
            }
        }
    }

    private func nextCue() throws -> SampleBuffer? {
        if let sample = waiting.take() { return sample }
        while let packet = try packets.next() {
            let time = packet.pts != noTimestamp ? packet.pts : packet.dts
            guard time != noTimestamp else { continue }
            let pts = time - zero
            if let end, pts >= end { break }
            if pts <= start || onScreen == nil { packet.withBytes { display?.take($0) } }
            // A bitmap subtitle without a duration is shown until the next one.
            var until = pts + max(0, packet.duration)
            if packet.duration <= 0, pts <= start, isShownUntilNext {
                onScreen = consume packet
                continue
            }
            if packet.duration > 0 ? until <= start : pts < start { continue }
            if let end, !keepsTimes { until = min(until, end) }
            let shown = keepsTimes ? pts : max(pts, start)
            let first = try takeOnScreen()
            guard let cue = try content(of: selfContained(packet), at: pts) else { continue }
            let sample = SampleBuffer(
                packet: cue, pts: shown, dts: shown, duration: max(0, until - shown),
                timeBase: track.timeBase)
            guard let first else { return sample }
            waiting = consume sample
            return first
        }
        return try takeOnScreen()
    }

    private func takeOnScreen() throws -> SampleBuffer? {
        guard let packet = onScreen.take() else { return nil }
        let time = packet.pts != noTimestamp ? packet.pts : packet.dts
        let shown = keepsTimes ? time - zero : start
        return SampleBuffer(
            packet: try selfContained(packet), pts: shown, dts: shown, duration: 0, timeBase: track.timeBase)
    }

    /// Returns the packet; the first display set is merged with the sets that it depends on.
    private func selfContained(_ packet: consuming Packet) throws -> Packet {
        guard let known = display.take(), known.isUpdate else { return packet }
        do throws(AVError) {
            let set = try Packet.of(known.wholeSet)
            try set.copyProperties(of: packet)
            return set
        } catch {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    /// Returns an event's packet, converted if needed. Nil if the event is empty or damaged. Empty mov_text packets
    /// fill the time between events; muxers generate them.
    private func content(of packet: consuming Packet, at pts: Int64) throws -> Packet? {
        do throws(AVError) {
            guard converts else {
                let isEmpty =
                    track.format.parameters.traits.hasEmptyCues
                    && packet.withBytes { bytes in
                        bytes.count >= 2 && bytes[0] == 0 && bytes[1] == 0
                    }
                if isEmpty { return nil }
                return consume packet
            }
            guard let bytes = try converter?.convert(packet), !bytes.isEmpty else { return nil }
            return try Packet.of(bytes)
        } catch {
            try packets.damage.handle(
                error, of: track.reference, at: MediaTime(ticks: pts, timeBase: track.timeBase))
            return nil
        }
    }
}
