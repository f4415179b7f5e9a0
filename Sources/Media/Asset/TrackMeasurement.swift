internal import LibAV

/// What reading every packet of a track tells: exact counts and times, in the stream's time base.
struct TrackMeasurement: Sendable {
    /// Packets, hidden ones included.
    var packets = 0
    /// Packets that are shown.
    var shownPackets = 0
    /// The earliest shown presentation time.
    var firstShown: Int64?
    /// The latest shown presentation time.
    var lastShown: Int64?
    /// Packets of video claim to be decoded after they are shown.
    var decodesLate = false
    /// The latest end of any packet, as far as packets' lengths are told.
    var end: Int64?
    /// The same where a packet of unknown length lasts as long as the one before it.
    var likelyEnd: Int64? { settled.map { max($0, end ?? $0) } ?? end }

    /// Reads a source to its end, once, for all of its tracks.
    static func measure(
        _ demuxer: borrowing Demuxer, streams: [StreamInfo], isMovie: Bool, interrupt: InterruptFlag
    ) throws -> [Int: TrackMeasurement] {
        var all: [Int: TrackMeasurement] = [:]
        let packet = try Packet()
        let isShortened = SourceContainer(demuxer.formatName).shortensLastPacket
        while try demuxer.read(into: packet) {
            if interrupt.isRaised { throw CancellationError() }
            let index = packet.streamIndex
            guard index < streams.count, TimeBounds.holds(packet, timeBase: streams[index].timeBase) else {
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
            case .own, nil: break
            }
            track.packets += 1
            // Of fragmented movies libavformat doesn't say how long a packet lasts, until the next one; of others not how
            // long the last one of a track that begins late does. Of frames it guesses where they are reordered.
            let mediaType = stream.parameters.mediaType
            let isTold = isMovie && packet.dts != noTimestamp && mediaType != .subtitle
            let isGuess = isTold && mediaType == .video && packet.pts != noTimestamp && packet.duration > 0
            let length = isGuess ? 0 : packet.duration
            if isTold {
                track.settleLength(until: packet.dts)
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
                track.end = max(track.end ?? end, end)
            } else {
                // Without time stamps at all, frames follow one another at their own length.
                track.shownPackets += 1
                track.firstShown = track.firstShown ?? 0
                track.end = min(MediaTime.mostTicks, (track.end ?? 0).adding(upToLimit: length))
            }
        }
        for index in all.keys {
            all[index]?.settleLength(until: nil)
            all[index]?.settleReference()
        }
        return all
    }

    /// Counts hidden packets as shown, and moves all of them by `shift`.
    mutating func showAll(movedBy shift: Int64) {
        shownPackets = packets
        lastShown = lastShown?.adding(upToLimit: shift)
        end = end?.adding(upToLimit: shift)
        settled = settled?.adding(upToLimit: shift)
    }

    private var fields: FieldPairs?

    private init(of stream: StreamInfo) {
        fields = FieldPairs(
            stream.parameters, frameRate: stream.averageFrameRate ?? stream.baseFrameRate,
            timeBase: stream.timeBase)
    }

    /// Packets say when they are shown; the decoding time and the length of the last reference, where that is one of those
    /// that don't (`PTSGenerator`), and when the frame after the last packet would be decoded.
    private var saysTimes = false
    private var reference: (dts: Int64, length: Int64)?
    private var following = Int64.min

    private mutating func noteReference(_ packet: borrowing Packet, of stream: StreamInfo) {
        guard let codec = stream.parameters.traits.olderVideo, packet.dts != noTimestamp else { return }
        let length = max(1, packet.duration)
        following = max(following, packet.dts + length)
        saysTimes = saysTimes || packet.pts != noTimestamp
        // Nothing is looked into where every packet says its time, or none does.
        guard saysTimes, reference != nil || packet.pts == noTimestamp, !codec.isBidirectional(packet) else {
            return
        }
        reference = packet.pts == noTimestamp ? (packet.dts, length) : nil
    }

    /// The last reference is shown after everything else.
    private mutating func settleReference() {
        guard saysTimes, let reference else { return }
        end = max(end ?? following, max(following, reference.dts + reference.length) + reference.length)
    }

    /// The packet read last, whose length isn't known, or only guessed.
    private var open: (pts: Int64, dts: Int64, isGuess: Bool)?
    private var length: Int64 = 0
    private var settled: Int64?

    /// The next one, or the length of the one before, tells how long the last one is.
    private mutating func settleLength(until dts: Int64?) {
        guard let last = open else { return }
        if let dts { length = max(0, dts - last.dts) }
        settled = max(settled ?? last.pts, last.pts + length)
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
