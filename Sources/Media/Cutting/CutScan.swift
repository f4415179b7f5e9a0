package import LibAV

/// The packets of a video track around a range, in decoding order, with the properties that a cut depends on.
package struct CutScan: Sendable {
    /// Properties of one packet, or of one frame of a composition.
    package struct ScannedPacket: Hashable, Sendable {
        /// Presentation time in ticks of the asset's time line.
        package var pts: Int64
        /// Whether the container marks the packet as a keyframe.
        package var isKey: Bool
        /// Kind of random access that the packet itself allows.
        var access: CutBitstream.RandomAccess
        /// Whether the packet can't be part of a copied section: it is never presented, changes parameters, or can't be
        /// rewritten after an open GOP.
        var isBarrier: Bool
        /// Digest of the frame's bytes in the output; 0 unless requested.
        var digest: UInt64
    }

    /// Time base of all times.
    package let tick: Rational
    /// Start of the range in ticks.
    package let start: Int64
    /// End of the range in ticks.
    package let end: Int64
    /// Packets in decoding order, from a keyframe before the range to the last packet that affects its end.
    package private(set) var packets: [ScannedPacket] = []
    /// Whether the frames come from a composition rather than from packets.
    private(set) var isGenerated = false
    /// Time up to which `packets` contains all presented frames.
    private var completeUntil = Int64.max

    private init(tick: Rational, start: Int64, end: Int64) {
        (self.tick, self.start, self.end) = (tick, start, end)
    }

    /// Creates the scan of frames that a composition generates, none of which is a random-access point.
    init(generated range: TimeRange, every unit: Rational, tick: Rational) {
        self.init(
            tick: tick, start: range.start.ticks(in: tick), end: range.end.ticks(in: tick, rounding: .up))
        isGenerated = true
        let first = range.start.ticks(in: unit, rounding: .down)
        let end = max(first + 1, range.end.ticks(in: unit, rounding: .up))
        packets = (first..<end).map {
            ScannedPacket(
                pts: MediaTime(ticks: $0, timeBase: unit).ticks(in: tick), isKey: false, access: .none,
                isBarrier: false, digest: 0)
        }
    }

    /// Reads the packets around a range of the asset's time line. `tick`: time base in which the ends of this and other
    /// ranges are exact; nil for one that suits this range. `part`: index of the range in the cut.
    package static func read(
        path: String, track: AssetTrack, timeZero: MediaTime, range: TimeRange, tick given: Rational? = nil,
        part: Int = 0, withDigests: Bool = false,
        damagePolicy: DamagePolicy = .fail,
        environment: SourceEnvironment, isCancelled: () -> Bool = { false }
    ) throws -> CutScan {
        let tick =
            given ?? AssetReader.videoTick(timeBase: track.timeBase, timeZero: timeZero, range: range)
        var scan = CutScan(
            tick: tick, start: range.start.ticks(in: tick), end: range.end.ticks(in: tick, rounding: .up))
        let zero = timeZero.ticks(in: tick)
        let bitstream = CutBitstream(track.format.parameters)
        let damage = DamageTally()
        damage.setPolicy(damagePolicy)
        let source = try PacketSource(
            track: track, of: .unknown, path: path, environment: environment, damage: damage)
        try source.seek(before: (timeZero + range.start).ticks(in: track.timeBase, rounding: .down))
        // Leading frames follow their keyframe and are presented before it. The second keyframe past the end determines
        // where the first one's GOP can end.
        var pastKeys: [Int64] = []
        var copying = Copying(part: part)
        while let packet = try source.next() {
            if isCancelled() { throw CancellationError() }
            guard packet.pts != noTimestamp else { continue }
            let pts = track.timeBase.rescale(packet.pts, to: tick) - zero
            var scanned = ScannedPacket(
                pts: pts, isKey: packet.isKey, access: .none,
                isBarrier: packet.isDiscarded || packet.changesParameters, digest: 0)
            packet.withBytes { bytes in
                guard let bitstream else { return }
                scanned.access = bitstream.randomAccess(bytes)
                let isShown = pts >= scan.start && pts < scan.end
                copying.take(&scanned, bytes, of: bitstream, canBegin: isShown, withDigest: withDigests)
            }
            scan.packets.append(scanned)
            if let failed = copying.failedStart.take(),
                let index = scan.packets.lastIndex(where: { $0.pts == failed && $0.access == .open })
            {
                scan.packets[index].isBarrier = true
            }
            if pastKeys.count == 2, pts > pastKeys[1] {
                scan.completeUntil = pastKeys[1]
                break
            }
            if packet.isKey, pts >= scan.end, pastKeys.count < 2 { pastKeys.append(pts) }
        }
        return scan
    }

    /// Simulation of a cut that begins at the first possible frame.
    private struct Copying {
        let part: Int
        private var start: Int64?
        private var opening: AVCOpening?
        /// Time of a start that was rejected because later frames depend on leading ones.
        var failedStart: Int64?

        init(part: Int) { self.part = part }

        mutating func take(
            _ scanned: inout ScannedPacket, _ bytes: UnsafeRawBufferPointer, of bitstream: CutBitstream,
            canBegin: Bool, withDigest: Bool
        ) {
            do {
                if let start, opening?.isOver == false, scanned.pts < start {
                    try bitstream.dropLeadingFrame(bytes, behind: &opening)
                } else {
                    begin(scanned, of: bitstream, canBegin: canBegin)
                    if let start, opening?.isOver == false, scanned.pts >= start {
                        let framed = try bitstream.framed(
                            bytes, lengthSize: 4, access: scanned.access, opening: &opening)
                        let own = CutBitstream(codec: bitstream.codec, framing: .lengths(4))
                        if withDigest { scanned.digest = framed.withUnsafeBytes { own.digest($0) } }
                        return
                    }
                }
            } catch is AVCOpening.DependsOnLeadingFrames {
                failedStart = start
                (start, opening) = (nil, nil)
                begin(scanned, of: bitstream, canBegin: canBegin && scanned.access == .clean)
            } catch {
                scanned.isBarrier = true
                if start == scanned.pts { (start, opening) = (nil, nil) }
            }
            if withDigest { scanned.digest = bitstream.digest(bytes) }
        }

        private mutating func begin(_ scanned: ScannedPacket, of bitstream: CutBitstream, canBegin: Bool) {
            guard start == nil, canBegin, scanned.access != .none, !scanned.isBarrier else { return }
            start = scanned.pts
            opening =
                scanned.access == .open
                ? bitstream.sets.map { AVCOpening($0, isOpen: true, part: part) } : nil
        }
    }

    /// Presentation times of the range's frames, in order. The frame on screen at the start of the range has the time
    /// of that start.
    package var shownTimes: [Int64] {
        let times = packets.lazy.map(\.pts).filter { $0 >= 0 && $0 < end }.sorted()
        let first = times.lastIndex { $0 <= start } ?? 0
        return times[first...].map { max($0, start) }
    }

    /// The reason why the range's packets can't be copied.
    package enum Problem: Codable, Hashable, Sendable {
        /// The range doesn't start at a keyframe; the nearest keyframes before and after, if any.
        case startsInsideGroup(before: MediaTime?, after: MediaTime?)
        /// Leading frames, which are presented before the start, follow the first keyframe (open GOP).
        case hasLeadingFrames
        /// Frames past the end are decoded before frames of the range; the next clean end, if any.
        case endsInsideGroup(next: MediaTime?)
    }

    /// Returns the reason why the range can't be copied; nil if it can. `allowsLeading`: whether leading frames of the
    /// first keyframe are acceptable, because they are dropped.
    package func problem(allowsLeading: Bool = false) -> Problem? {
        func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: tick) }
        let keys = packets.lazy.filter(\.isKey).map(\.pts)
        let hasStart = keys.contains(start)
        if !hasStart, start > 0 || keys.contains(where: { $0 < start }) {
            return .startsInsideGroup(
                before: keys.filter { $0 < start }.max().map(time),
                after: keys.filter { $0 > start }.min().map(time))
        }
        if let first = packets.firstIndex(where: { $0.isKey && $0.pts == start }), start > 0, !allowsLeading,
            packets[first...].contains(where: { $0.pts < start })
        {
            return .hasLeadingFrames
        }
        var isPastEnd = false
        for scanned in packets {
            if scanned.pts >= end {
                isPastEnd = true
            } else if isPastEnd, scanned.pts >= start {
                return .endsInsideGroup(next: outward.end.map(time))
            }
        }
        return nil
    }

    /// The range extended to positions at which packets can be cut. `start` is the last keyframe at or before the
    /// range's start; nil if there is none. `end` is the first clean end at or after the range's end; nil for the
    /// track's end.
    package var outward: (start: Int64?, end: Int64?) {
        let begin = packets.lazy.filter { $0.isKey && $0.pts <= start && $0.pts >= 0 }.map(\.pts).max()
        let from = begin ?? start
        var rest = suffixMinima(from: from)
        rest.append(Int64.max)
        var highest = Int64.min
        for (index, scanned) in packets.enumerated() where scanned.pts >= from {
            highest = max(highest, scanned.pts)
            let next = rest[index + 1]
            if next >= end, highest < next, next <= completeUntil {
                return (begin, next == Int64.max ? nil : next)
            }
        }
        return (begin, nil)
    }

    /// Returns, for each packet, the earliest presentation time of it and the packets after it. Times before `from` are
    /// ignored.
    func suffixMinima(from: Int64) -> [Int64] {
        var minima = [Int64](repeating: Int64.max, count: packets.count)
        var least = Int64.max
        for index in packets.indices.reversed() {
            if packets[index].pts >= from { least = min(least, packets[index].pts) }
            minima[index] = least
        }
        return minima
    }
}
