internal import DequeModule
internal import LibAV

/// Vends a track's packets in a range, without re-encoding.
///
/// Audio is cut at packets. The packet that contains the range's start is preceded by the packets that its decoder
/// requires, and the last packet's duration is shortened to the range's end, so that a container with edit lists can
/// describe the range to the sample. PCM is cut at samples. Video begins at the last keyframe at or before the range's
/// start. Frames that end before the start, and frames after the end to which earlier ones refer, are marked as not
/// presented (`Packet.isDiscarded`); a frame that is presented at the start begins there.
final class PassthroughProducer: SampleProducer {
    private let packets: PacketSource
    private let track: AssetTrack
    private let timeBase: Rational
    private let zero: Int64
    private let start: Int64?
    private let end: Int64?
    private let editEnd: Int64?
    private let preroll: Int64
    private let slack: Int64
    /// End of the track's last packet, if it is known.
    private let trackEnd: Int64?
    private let keepsWhole: Bool
    private let lostPages: LostPages?
    /// End of the previous packet.
    private var audioEnd: Int64 = 0
    /// For PCM, the range in samples (the end is exclusive), the duration of a sample, and the number of bytes per
    /// sample of all channels; nil for other codecs.
    private let samples: (first: Int64, end: Int64, unit: Rational, size: Int)?
    private var hasBegun = false
    private var lastDTS: Int64?
    /// Generates decoding times if the container stores none (Matroska), or if they aren't ordered; nil if they aren't
    /// generated.
    private var clock: DTSGenerator?
    private var isFirst = true
    /// Whether the current codec headers differ from the track's.
    private var hasOtherHeaders = false
    private(set) var droppedSamples = 0

    init(packets: PacketSource, context: ProducerContext, keepsWhole: Bool = false) {
        self.keepsWhole = keepsWhole
        lostPages = context.lostPages
        self.packets = packets
        track = context.track
        timeBase = packets.timeBase
        zero = context.timeZero.ticks(in: timeBase)
        start = context.range == nil ? nil : context.start.ticks(in: timeBase)
        end = context.end?.ticks(in: timeBase, rounding: .up)
        editEnd = track.editEnd?.ticks(in: timeBase, rounding: .up)
        preroll = track.preroll.ticks(in: timeBase)
        slack = MediaTime(value: 1, timescale: 1000).ticks(in: timeBase)
        trackEnd =
            track.isTimeRangeExact ? track.timeRange.end.ticks(in: timeBase, rounding: .up) : nil
        if context.range != nil, track.isCutAtSamples, timeBase.num == 1 {
            let parameters = track.format.parameters
            let unit = Rational(1, max(1, parameters.sampleRate))
            // An open range has no end.
            let end = context.end?.ticks(in: unit) ?? MediaTime.maxTicks
            samples = (context.start.ticks(in: unit), end, unit, parameters.bytesPerFrame)
        } else {
            samples = nil
        }
    }

    /// Packets without presented content, held back until a presented one follows; and the packets to vend next.
    private var unpresented = UniqueDeque<SampleBuffer>()
    private var ready = UniqueDeque<SampleBuffer>()
    /// Whether the last packet has no presented content.
    private var isUnpresented = false

    func next() throws -> SampleSupply { SampleSupply(try nextPresented()) }

    private func nextPresented() throws -> SampleBuffer? {
        if let sample = ready.popFirst() { return sample }
        while let sample = try nextPacket() {
            if hasBegun, isUnpresented {
                unpresented.append(sample)
                continue
            }
            hasBegun = true
            guard !unpresented.isEmpty else { return sample }
            swap(&ready, &unpresented)
            ready.append(sample)
            return ready.popFirst()
        }
        // Packets at the end that contain only padding, or that an edit list hides, are dropped.
        return nil
    }

    /// Times of a packet on the asset's time line, changed where it is cut to the range.
    private struct Times {
        var pts: Int64
        var dts: Int64
        var duration: Int64
    }

    /// The relation of a packet to the range.
    private enum Position {
        case inside
        case outside
        /// The packet and all later ones are past the range's end.
        case pastEnd
    }

    private func nextPacket() throws -> SampleBuffer? {
        do {
            try findOpening()
            while let packet = try nextRead() {
                guard var times = try times(of: packet) else { continue }
                switch cut(packet, &times) {
                case .outside: continue
                case .pastEnd: return nil
                case .inside: break
                }
                try check(packet, pts: times.pts, dts: times.dts)
                return SampleBuffer(
                    packet: packet, pts: times.pts, dts: times.dts, duration: times.duration,
                    timeBase: timeBase)
            }
            return nil
        } catch let error as AVError {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    /// Returns the times of a packet; nil, and counts it as dropped, if it has none. Throws if they jump.
    private func times(of packet: borrowing Packet) throws -> Times? {
        if let headers = packet.newHeaders { hasOtherHeaders = headers != track.format.parameters.extradata }
        if track.lacksTime(packet) { throw MediaError.noTimes(track: track.reference) }
        let time = packet.pts != noTimestamp ? packet.pts : packet.dts
        guard time != noTimestamp else {
            droppedSamples += 1
            return nil
        }
        let pts = time - zero
        let dts = try decodingTime(packet, pts: pts)
        if let lastDTS {
            try TimeBounds.checkStep(
                from: MediaTime(ticks: lastDTS, timeBase: timeBase),
                to: MediaTime(ticks: dts, timeBase: timeBase),
                track: track, isPaged: lostPages != nil)
            try checkPages(from: audioEnd, to: pts)
        }
        lastDTS = dts
        audioEnd = pts + packet.duration
        return Times(pts: pts, dts: dts, duration: packet.duration)
    }

    /// Cuts a packet and its times to the range, and marks frames that are only referred to.
    private func cut(_ packet: borrowing Packet, _ times: inout Times) -> Position {
        // Data packets with a duration are trimmed to the range, like subtitle events.
        if let start, track.mediaType == .data, times.pts < start {
            if times.pts + times.duration <= start { return .outside }
            times = Times(pts: start, dts: start, duration: times.duration - (start - times.pts))
        }
        if let samples {
            if timeBase.rescale(times.pts, to: samples.unit) >= samples.end { return .pastEnd }
            if !trim(packet, to: samples, &times.pts, &times.duration) { return .outside }
            times.dts = times.pts
        }
        if let start, !hasBegun, !canBegin(packet, times, start: start) { return .outside }
        if keepsWhole {
            if let start, times.pts < start { return .outside }
            // Padding at the packet's end isn't part of the range. `slack` allows for times that are rounded to
            // milliseconds.
            let presentedEnd = min(times.pts + times.duration - endPadding(of: packet), trackEnd ?? .max)
            if let end, presentedEnd > end + slack { return .pastEnd }
        }
        // In a fragmented movie, only the edit list's end shows that the last packet is presented partially.
        if let editEnd, track.mediaType == .audio, times.pts < editEnd {
            times.duration = min(times.duration, editEnd - times.pts)
        }
        times.duration -= endPadding(of: packet)
        if let end {
            // In decoding order, frames past the end may precede frames inside the range.
            if times.dts >= end { return .pastEnd }
            if times.pts < end {
                times.duration = min(times.duration, end - times.pts)
            } else {
                guard track.mediaType == .video else { return .outside }
                // Frames inside the range may refer to this one.
                packet.markDiscarded()
                isUnpresented = true
            }
        }
        guard let start, track.mediaType == .video, times.pts < start else { return .inside }
        // Leading frames of an open GOP are dropped, because their references precede the range.
        if hasBegun, times.pts < opening ?? start { return .outside }
        // Rounded durations overlap the next frame, so a frame is presented at the start only if it lasts longer.
        if times.pts + packet.duration <= start + slack {
            packet.markDiscarded()
        } else {
            // Readers omit a frame that begins before the edit.
            times.duration -= start - times.pts
            times.pts = start
        }
        return .inside
    }

    /// Returns whether the output can begin with a packet.
    private func canBegin(_ packet: borrowing Packet, _ times: Times, start: Int64) -> Bool {
        if track.mediaType == .video, !packet.isKey || times.pts < opening ?? start { return false }
        // Audio requires at least the preceding packet, even if it is longer than the preroll.
        let before = track.mediaType == .audio ? max(preroll, times.duration) : 0
        let isEarly = times.pts + times.duration <= start - before && opening == nil
        return !isEarly && !(track.hasSyncPackets && !packet.isKey)
    }

    /// Throws if a copy can't represent the packet, and marks the encoder delay in the first one.
    private func check(_ packet: borrowing Packet, pts: Int64, dts: Int64) throws {
        if hasOtherHeaders {
            throw MediaError.changedHeaders(
                track: track.reference, at: MediaTime(ticks: pts, timeBase: timeBase))
        }
        if !hasBegun { try hideDelay(of: packet, pts: pts) }
        if track.mediaType == .video, dts > pts {
            throw MediaError.decodedLate(
                track: track.reference, at: MediaTime(ticks: pts, timeBase: timeBase),
                by: MediaTime(ticks: dts - pts, timeBase: timeBase))
        }
        try checkHidden(packet, pts: pts)
    }

    /// Time of the keyframe with which video begins; nil if there is none at or before the range's start.
    private var opening: Int64?
    /// Packets that were read to find `opening`.
    private var held = UniqueDeque<Packet>()
    private var heldBytes = 0
    private var hasOpened = false
    /// Maximum size of `held` in bytes; a larger GOP is read twice.
    private static let maxHeldBytes = 64 << 20

    private func nextRead() throws -> Packet? {
        if let packet = held.popFirst() { return packet }
        return try packets.next()
    }

    /// Finds the last keyframe at or before the range's start. In decoding order, all keyframes up to the start precede
    /// the first packet presented after it.
    private func findOpening() throws {
        guard !hasOpened else { return }
        hasOpened = true
        guard let start, track.mediaType == .video, !track.isUnordered else { return }
        var isTooLarge = false
        var end = Int64.min
        while let packet = try packets.next() {
            let time = packet.pts != noTimestamp ? packet.pts : packet.dts
            let pts = time == noTimestamp ? nil : time - zero
            if packet.isKey, let pts, pts <= start {
                opening = pts
                held = UniqueDeque()
                (heldBytes, isTooLarge) = (0, false)
            }
            if let pts { end = max(end, pts + max(1, packet.duration)) }
            let isLast = pts.map { $0 >= start } ?? false && (opening != nil || packet.isKey)
            heldBytes += packet.size
            isTooLarge = isTooLarge || heldBytes > Self.maxHeldBytes
            if isTooLarge, start > 0 { held = UniqueDeque() } else { held.append(packet) }
            if isLast { break }
        }
        // The track ends before the range.
        if end <= start {
            opening = nil
            held = UniqueDeque()
            return
        }
        guard isTooLarge, start > 0, let opening else { return }
        try packets.restart(from: opening + zero)
    }

    /// Reports audio that is missing because a page of an Ogg file is lost.
    private func checkPages(from end: Int64, to pts: Int64) throws(MediaError) {
        guard track.mediaType == .audio, let lostPages, pts > end + 2 * slack, lostPages.isIncomplete else {
            return
        }
        let start = MediaTime(ticks: end, timeBase: timeBase)
        try packets.damage.handle(
            .lostPages(track: track.reference, from: start, to: MediaTime(ticks: pts, timeBase: timeBase)),
            at: start)
    }

    /// Removes samples outside the range; returns false if none remain.
    private func trim(
        _ packet: borrowing Packet, to samples: (first: Int64, end: Int64, unit: Rational, size: Int),
        _ pts: inout Int64, _ duration: inout Int64
    ) -> Bool {
        let (first, count) = (timeBase.rescale(pts, to: samples.unit), Int64(packet.size / samples.size))
        let early = max(0, samples.first - first)
        let late = max(0, first + count - samples.end)
        guard early + late < count else { return false }
        packet.trim(first: Int(early) * samples.size, last: Int(late) * samples.size)
        if early > 0 { pts = samples.unit.rescale(samples.first, to: timeBase) }
        duration = samples.unit.rescale(count - early - late, to: timeBase)
        return true
    }

    /// Corrects decoding times that don't increase, as far as the unchanged presentation times allow it.
    private func ordered(_ dts: Int64, pts: Int64) throws(MediaError) -> Int64 {
        guard let lastDTS, dts <= lastDTS, track.mediaType == .video || dts < lastDTS,
            track.mediaType == .video || track.mediaType == .audio
        else { return dts }
        // After a seek in a program stream, the parser returns parts of a packet with estimated times; they precede the
        // range.
        if !hasBegun, track.mediaType == .audio { return dts }
        // A larger decrease is reported as a discontinuity by `TimeBounds.checkStep`.
        let back = MediaTime(ticks: lastDTS - dts, timeBase: timeBase)
        if back > TimeBounds.backstep { return dts }
        guard track.mediaType == .video, lastDTS + 1 <= pts else {
            throw MediaError.unorderedTimes(
                track: track.reference, at: MediaTime(ticks: pts, timeBase: timeBase))
        }
        return lastDTS + 1
    }

    /// Throws if an edit list hides a frame between presented ones. Hidden frames before the first and after the last
    /// presented frame are allowed, because the output's edit list can hide them.
    private func checkHidden(_ packet: borrowing Packet, pts: Int64) throws(MediaError) {
        guard track.mediaType == .video else { return }
        if packet.isDiscarded {
            guard let firstShown, pts > firstShown else { return }
            hiddenFirst = min(hiddenFirst ?? pts, pts)
        } else {
            firstShown = min(firstShown ?? pts, pts)
            lastShown = max(lastShown ?? pts, pts)
        }
        if let hiddenFirst, let lastShown, hiddenFirst <= lastShown {
            throw MediaError.hiddenBetween(
                track: track.reference, at: MediaTime(ticks: hiddenFirst, timeBase: timeBase))
        }
    }
    private var firstShown: Int64?
    private var lastShown: Int64?
    /// Earliest time of a hidden frame after the first presented one.
    private var hiddenFirst: Int64?

    /// Marks the encoder delay of audio in a fragmented movie as skipped samples. libavformat does this for other
    /// movies, but ignores edit lists of fragmented ones.
    private func hideDelay(of packet: borrowing Packet, pts: Int64) throws(AVError) {
        guard track.mediaType == .audio, let editStart = track.editStart?.ticks(in: timeBase),
            pts < editStart
        else { return }
        let samples = timeBase.rescale(
            editStart - pts, to: Rational(1, max(1, track.format.parameters.sampleRate)))
        try packet.setSkippedSamples(start: UInt32(clamping: samples))
    }

    /// Returns the duration of the declared padding at a packet's end, and updates `isUnpresented`; 0 for a packet that
    /// contains only padding.
    private func endPadding(of packet: borrowing Packet) -> Int64 {
        isUnpresented = track.mediaType == .video && packet.isDiscarded
        guard track.mediaType == .audio, !packets.container.shortensLastPacket else { return 0 }
        let samples = Int64(packet.skippedSamples.end)
        let rate = track.format.parameters.sampleRate
        guard samples > 0, rate > 0 else { return 0 }
        let end = Rational(1, rate).rescale(samples, to: timeBase)
        isUnpresented = packet.duration > 0 && end >= packet.duration
        return isUnpresented ? 0 : end
    }

    /// Returns a packet's decoding time. All decoding times are generated if the first one is missing, as in Matroska,
    /// where libavformat estimates the others, or if they don't increase, as in some movies.
    private func decodingTime(_ packet: borrowing Packet, pts: Int64) throws -> Int64 {
        if isFirst, packet.dts == noTimestamp || track.isUnordered, track.mediaType == .video {
            let nominal = track.nominalFrameRate.map { $0.inverted.rescale(1, to: timeBase) } ?? 1
            // The reorder delay that libavformat detected may be too small; a larger delay has no disadvantage.
            clock = DTSGenerator(
                delay: max(4, track.format.parameters.reorderDelay), step: max(1, nominal))
        }
        isFirst = false
        guard clock != nil else {
            return try ordered(packet.dts == noTimestamp ? pts : packet.dts - zero, pts: pts)
        }
        guard let dts = clock?.time(of: pts) else {
            let time = MediaTime(ticks: pts, timeBase: timeBase)
            throw track.isUnordered
                ? MediaError.unorderedTimes(track: track.reference, at: time)
                : MediaError.damaged(track: track.reference, at: time)
        }
        return dts
    }
}
