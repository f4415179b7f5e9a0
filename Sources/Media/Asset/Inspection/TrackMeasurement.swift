internal import LibAV

/// Exact counts and times of a track, from reading all its packets, in the stream's time base.
struct TrackMeasurement: Sendable {
    /// Number of packets, including hidden ones.
    var packets = 0
    /// Number of packets that are presented.
    var shownPackets = 0
    /// The earliest presentation time of a presented packet.
    var firstShown: Int64?
    /// The latest presentation time of a presented packet.
    var lastShown: Int64?
    /// Whether a video packet's decoding time is after its presentation time.
    var decodesLate = false
    /// The latest end of any packet with a known duration.
    var end: Int64?
    /// The latest end if a packet without a known duration is assumed to last as long as the previous one.
    var likelyEnd: Int64? { presentedEnd.map { max($0, end ?? $0) } ?? end }

    /// Reads a source once to its end and measures all of its tracks.
    static func measure(
        _ demuxer: borrowing Demuxer, streams: [StreamInfo], isMovie: Bool, interrupt: InterruptFlag
    ) throws -> [Int: TrackMeasurement] {
        var all: [Int: TrackMeasurement] = [:]
        let packet = try Packet()
        let isShortened = demuxer.model.shortensLastPacket
        while try demuxer.read(into: packet) {
            if interrupt.isRaised { throw CancellationError() }
            let index = packet.streamIndex
            guard index < streams.count, TimeBounds.contain(packet, timeBase: streams[index].timeBase) else {
                continue
            }
            let stream = streams[index]
            var track = all[index] ?? TrackMeasurement(of: stream)
            defer { all[index] = track }
            switch track.fields?.take(packet) {
            case .second(let start, let length):
                track.end = max(track.end ?? start, start + length)
                continue
            case .torn: continue
            case .frame, nil: break
            }
            track.packets += 1
            // libavformat doesn't report the duration of a packet in a fragmented movie before the next one, nor the
            // duration of the last packet of a track that begins after time zero. For reordered frames it guesses
            // durations.
            let mediaType = stream.parameters.mediaType
            let isTimed = isMovie && packet.dts != noTimestamp && mediaType != .subtitle
            let isGuess = isTimed && mediaType == .video && packet.pts != noTimestamp && packet.duration > 0
            let length = isGuess ? 0 : packet.duration
            if isTimed {
                track.setLastDuration(until: packet.dts)
                if packet.duration > 0, !isGuess || track.length == 0 { track.length = packet.duration }
                track.open =
                    length == 0 && packet.pts != noTimestamp ? (packet.pts, packet.dts, isGuess) : nil
            }
            track.noteReference(packet, of: stream)
            if isMovie, mediaType == .video, packet.pts != noTimestamp, packet.dts != noTimestamp,
                packet.pts < packet.dts
            {
                track.decodesLate = true
            }
            let time = packet.pts != noTimestamp ? packet.pts : packet.dts
            if time != noTimestamp {
                let skipped = skippedTicks(packet, stream: stream)
                let (start, end) = (time + skipped.start, time + length - (isShortened ? 0 : skipped.end))
                if !packet.isDiscarded, length == 0 || end > start {
                    track.shownPackets += 1
                    track.firstShown = min(track.firstShown ?? start, start)
                    track.lastShown = max(track.lastShown ?? start, start)
                }
                // A packet that consists of padding starts at or after the end of the audio, so it doesn't extend the
                // end.
                let isPadding = !isShortened && length > 0 && skipped.end >= length
                if !isPadding { track.end = max(track.end ?? end, end) }
            } else {
                // Without timestamps, the end is the sum of the durations.
                track.shownPackets += 1
                track.firstShown = track.firstShown ?? 0
                track.end = min(MediaTime.maxTicks, (track.end ?? 0).adding(upToLimit: length))
            }
        }
        for index in all.keys {
            all[index]?.setLastDuration(until: nil)
            all[index]?.extendEndByReference()
        }
        return all
    }

    /// Counts hidden packets as presented, and shifts the ends by `shift`. `firstShown` is unchanged, since the first
    /// hidden packet moves there.
    mutating func showAll(movedBy shift: Int64) {
        shownPackets = packets
        lastShown = lastShown?.adding(upToLimit: shift)
        end = end?.adding(upToLimit: shift)
        presentedEnd = presentedEnd?.adding(upToLimit: shift)
    }

    private var fields: FieldPairs?

    private init(of stream: StreamInfo) {
        fields = FieldPairs(
            stream.parameters, frameRate: stream.averageFrameRate ?? stream.baseFrameRate,
            timeBase: stream.timeBase)
    }

    /// Whether any packet has a presentation time.
    private var hasPresentationTimes = false
    /// Decoding time and duration of the last reference frame, if it has no presentation time (`PTSGenerator`).
    private var reference: (dts: Int64, length: Int64)?
    /// Latest end of a packet by its decoding time.
    private var following = Int64.min

    private mutating func noteReference(_ packet: borrowing Packet, of stream: StreamInfo) {
        guard let codec = stream.parameters.traits.olderVideo, packet.dts != noTimestamp else { return }
        let length = max(1, packet.duration)
        following = max(following, packet.dts + length)
        hasPresentationTimes = hasPresentationTimes || packet.pts != noTimestamp
        // Packets are parsed only if some of them have presentation times and others have none.
        guard hasPresentationTimes, reference != nil || packet.pts == noTimestamp,
            !codec.isBidirectional(packet)
        else {
            return
        }
        reference = packet.pts == noTimestamp ? (packet.dts, length) : nil
    }

    /// Extends the end: the last reference frame is presented after all other frames.
    private mutating func extendEndByReference() {
        guard hasPresentationTimes, let reference else { return }
        end = max(end ?? following, max(following, reference.dts + reference.length) + reference.length)
    }

    /// Times of the last packet if its duration is unknown or guessed; otherwise nil.
    private var open: (pts: Int64, dts: Int64, isGuess: Bool)?
    private var length: Int64 = 0
    private var presentedEnd: Int64?

    /// Sets the duration of the last packet if it is unknown or guessed: until `dts`, the decoding time of the next
    /// packet, or as long as the previous packet if `dts` is nil.
    private mutating func setLastDuration(until dts: Int64?) {
        guard let last = open else { return }
        if let dts { length = max(0, dts - last.dts) }
        presentedEnd = max(presentedEnd ?? last.pts, last.pts + length)
        if last.isGuess { end = max(end ?? last.pts, last.pts + length) }
        open = nil
    }

    private static func skippedTicks(_ packet: borrowing Packet, stream: StreamInfo) -> (
        start: Int64, end: Int64
    ) {
        let rate = stream.parameters.sampleRate
        guard rate > 0 else { return (0, 0) }
        let skipped = packet.skippedSamples
        if skipped.start == 0 && skipped.end == 0 { return (0, 0) }
        let unit = Rational(1, rate)
        return (
            unit.rescale(Int64(skipped.start), to: stream.timeBase),
            unit.rescale(Int64(skipped.end), to: stream.timeBase)
        )
    }
}
