internal import LibAV

/// Counts the times of a track's packets in samples, where the container's clock is too coarse to say them: Matroska and
/// FLV count milliseconds, transport streams 90,000ths. Packets follow one another at their own lengths, as long as
/// that agrees with what the container says; where it doesn't, there was a pause, and the count begins anew.
struct AudioTimestampCorrector {
    /// One sample.
    let unit: Rational
    private let source: Rational
    private let lengths: PacketLengths
    /// How far the container's rounding may be from the count.
    private let tolerance: Int64
    /// What strays further is a pause or a leap. Real files stray by 10 ms and come back; where they don't, the count follows.
    private let limit: Int64
    private let isCoarse: Bool
    private var astray: (packets: Int, least: Int64) = (0, 0)
    private static let patience = 32
    /// What the container's clock made of the codec's delay, and what it is.
    private let delay: (told: Int64, samples: Int64)
    private var expected: Int64?
    /// Where the track begins, and what its packets' lengths are multiples of: somewhere in its middle, one begins at such.
    private var grid: (start: Int64, step: Int64)?
    /// What packets that are looked at before they are counted say of where they begin.
    private var sight: Sight? = Sight()
    private struct Sight {
        var packets = 0
        /// The first one lies before zero: Matroska can't say when, and libavformat guesses.
        var isGuessed = false
        var samples: Int64 = 0
        var least = Int64.max
        var most = Int64.min
    }
    private static let sightPackets = 16

    /// Nil for frames, and where the container's clock can say every sample's time.
    init?(_ track: AssetTrack) {
        guard let unit = track.sampleTimeBase else { return nil }
        let parameters = track.format.parameters
        self.unit = unit
        source = track.timeBase
        lengths = PacketLengths(parameters)
        // Half a tick of rounding, or a whole one where fractions are cut off, and as much again for the start.
        tolerance = 1 + (source.rescale(3, to: unit) + 1) / 2
        isCoarse = source.double >= 0.000_5
        limit = max(tolerance, Int64(unit.den) * (isCoarse ? 15 : 2) / 1000)
        let padding = Int64(parameters.initialPadding)
        delay = (unit.rescale(padding, to: source), padding)
    }

    /// The packets that follow come from another place.
    mutating func restart() {
        (expected, second, astray) = (nil, nil, (0, 0))
        sight = grid != nil && lengths.unit != nil ? Sight() : nil
        lengths.restart()
    }

    /// A packet is missing.
    mutating func lose() {
        (expected, astray) = (nil, (0, 0))
        lengths.restart()
    }

    /// In the middle of a track whose packets are short, one of them doesn't tell which sample it begins with: some are to be
    /// looked at first.
    var wantsSight: Bool { sight.map { $0.packets < Self.sightPackets } ?? false }

    /// Looks at a packet before the first one is counted.
    mutating func see(_ packet: borrowing Packet) {
        guard var seen = sight else { return }
        let length = lengths.samples(of: packet)
        if seen.packets == 0 {
            seen.isGuessed = packet.pts != noTimestamp && packet.pts + delay.told < 0
            // A track that begins with a time that was written needs no more.
            if grid == nil, !seen.isGuessed {
                sight = nil
                return
            }
        }
        // The first one of Vorbis doesn't know how long it is.
        if seen.packets > 0, let told = told(packet), let length {
            seen.least = min(seen.least, told - seen.samples)
            seen.most = max(seen.most, told - seen.samples)
            seen.samples += length
        }
        seen.packets += 1
        sight = seen
    }

    /// Ends the look: what was seen is counted next.
    mutating func settle() {
        defer { sight = nil }
        lengths.restart()
        guard let seen = sight, seen.samples > 0, seen.most - seen.least <= 2 * tolerance else { return }
        let middle = (seen.least + seen.most) / 2
        if let grid {
            second = likely(middle, step: grid.step)
        } else if seen.isGuessed {
            second = middle
        }
    }
    private var second: Int64?

    /// Takes note of the track's first packet.
    mutating func begin(with packet: borrowing Packet) {
        if let start = told(packet) { begin(at: start, length: lengths.samples(of: packet)) }
    }

    private mutating func begin(at start: Int64, length: Int64?) {
        guard grid == nil, let length else { return }
        grid = (start, lengths.unit ?? length)
    }

    /// Puts the count in place of the container's times.
    mutating func count(_ packet: borrowing Packet) {
        let length = lengths.samples(of: packet)
        if let told = told(packet) {
            let time = time(told, length: length)
            begin(at: time, length: length)
            (packet.pts, packet.dts) = (time, time)
        } else if let expected {
            (packet.pts, packet.dts) = (expected, expected)
        }
        if let length {
            packet.duration = length
        } else {
            packet.duration = source.rescale(packet.duration, to: unit)
        }
        expected = second ?? length.flatMap { packet.pts == noTimestamp ? nil : packet.pts + $0 }
        second = nil
    }

    private mutating func time(_ told: Int64, length: Int64?) -> Int64 {
        guard let expected else {
            if grid == nil, let second, let length { return second - length }
            return length == grid?.step ? likely(told, step: length ?? 0) : told
        }
        let away = told - expected
        guard abs(away) <= limit else {
            astray = (0, 0)
            return told
        }
        guard abs(away) > tolerance, isCoarse else {
            astray = (0, 0)
            return expected
        }
        let isSameWay = astray.packets > 0 && (away > 0) == (astray.least > 0)
        astray =
            isSameWay ? (astray.packets + 1, abs(away) < abs(astray.least) ? away : astray.least) : (1, away)
        guard astray.packets >= Self.patience else { return expected }
        defer { astray = (0, 0) }
        return expected + astray.least
    }

    /// What the container says, in samples; the codec's delay, which it rounds as well, as it is.
    private func told(_ packet: borrowing Packet) -> Int64? {
        let time = packet.pts != noTimestamp ? packet.pts : packet.dts
        guard time != noTimestamp else { return nil }
        return source.rescale(time + delay.told, to: unit) - delay.samples
    }

    /// The nearest time at which a packet may begin.
    private func likely(_ told: Int64, step: Int64) -> Int64 {
        guard let grid, step > 0 else { return told }
        let steps = Double(told - grid.start) / Double(step)
        let time = grid.start + Int64(steps.rounded()) * step
        return abs(time - told) > tolerance ? told : time
    }
}
