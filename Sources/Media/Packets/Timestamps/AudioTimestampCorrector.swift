internal import LibAV

/// Computes the times of a track's packets in samples, if the container's time base is coarser: Matroska and FLV have
/// milliseconds, transport streams 1/90000 s. Each packet starts where the previous one ends, as long as the
/// container's times agree within a tolerance. A larger deviation is a gap, and counting restarts at the container's
/// time.
struct AudioTimestampCorrector {
    /// Duration of one sample.
    let unit: Rational
    private let source: Rational
    private let lengths: PacketLengths
    /// Maximum deviation due to the container's rounding.
    private let tolerance: Int64
    /// Maximum deviation that is neither a gap nor a jump. Times of real files deviate by up to 10 ms temporarily;
    /// after a lasting deviation, the computed times are adjusted.
    private let limit: Int64
    private let isCoarse: Bool
    private var deviating: (packets: Int, least: Int64) = (0, 0)
    private static let maxDeviating = 32
    /// The codec's delay in the container's time base, and in samples.
    private let delay: (declared: Int64, samples: Int64)
    private var expected: Int64?
    /// Start of the track, and the common divisor of its packet durations: after a seek, packets begin at multiples of
    /// this divisor.
    private var grid: (start: Int64, step: Int64)?
    /// Deviations of packets that are read before counting starts; they determine the position of the first one.
    private var observation: Observation? = Observation()
    private struct Observation {
        var packets = 0
        /// Whether the first packet's time is negative, which Matroska can't store; libavformat then estimates it.
        var isGuessed = false
        var samples: Int64 = 0
        var least = Int64.max
        var most = Int64.min
    }
    private static let observedPackets = 16

    /// Returns nil for video, and if the container's time base is exact to the sample.
    init?(_ track: AssetTrack) {
        guard let unit = track.sampleTimeBase else { return nil }
        let parameters = track.format.parameters
        self.unit = unit
        source = track.timeBase
        lengths = PacketLengths(parameters)
        // 1.5 ticks, because the container may truncate or round the packet's time as well as the first one's.
        tolerance = 1 + (source.rescale(3, to: unit) + 1) / 2
        isCoarse = source.double >= 0.000_5
        limit = max(tolerance, Int64(unit.den) * (isCoarse ? 15 : 2) / 1000)
        let padding = Int64(parameters.initialPadding)
        delay = (unit.rescale(padding, to: source), padding)
    }

    /// Resets the state after a seek.
    mutating func restart() {
        (expected, second, deviating) = (nil, nil, (0, 0))
        observation = grid != nil && lengths.unit != nil ? Observation() : nil
        lengths.restart()
    }

    /// Resets the state after a lost packet.
    mutating func noteLoss() {
        (expected, deviating) = (nil, (0, 0))
        lengths.restart()
    }

    /// Whether more packets must be observed before counting: after a seek in a track with short packets, a single
    /// packet doesn't determine the sample position.
    var needsObservation: Bool { observation.map { $0.packets < Self.observedPackets } ?? false }

    /// Observes a packet before counting starts.
    mutating func observe(_ packet: borrowing Packet) {
        guard var seen = observation else { return }
        let length = lengths.samples(of: packet)
        if seen.packets == 0 {
            seen.isGuessed = packet.pts != noTimestamp && packet.pts + delay.declared < 0
            // The track's first time is stored in the file, so no more packets are required.
            if grid == nil, !seen.isGuessed {
                observation = nil
                return
            }
        }
        // The duration of the first Vorbis packet is unknown.
        if seen.packets > 0, let declared = declaredTime(packet), let length {
            seen.least = min(seen.least, declared - seen.samples)
            seen.most = max(seen.most, declared - seen.samples)
            seen.samples += length
        }
        seen.packets += 1
        observation = seen
    }

    /// Ends the observation. The observed packets are passed to `count` afterwards.
    mutating func finishObservation() {
        defer { observation = nil }
        lengths.restart()
        guard let seen = observation, seen.samples > 0, seen.most - seen.least <= 2 * tolerance else {
            return
        }
        let middle = (seen.least + seen.most) / 2
        if let grid {
            second = nearestStart(middle, step: grid.step)
        } else if seen.isGuessed {
            second = middle
        }
    }
    private var second: Int64?

    /// Registers the track's first packet as the reference for times after a seek.
    mutating func begin(with packet: borrowing Packet) {
        if let start = declaredTime(packet) { begin(at: start, length: lengths.samples(of: packet)) }
    }

    private mutating func begin(at start: Int64, length: Int64?) {
        guard grid == nil, let length else { return }
        grid = (start, lengths.unit ?? length)
    }

    /// Replaces a packet's times by sample counts.
    mutating func count(_ packet: borrowing Packet) {
        let length = lengths.samples(of: packet)
        if let declared = declaredTime(packet) {
            let time = time(declared, length: length)
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

    private mutating func time(_ declared: Int64, length: Int64?) -> Int64 {
        guard let expected else {
            if grid == nil, let second, let length { return second - length }
            return length == grid?.step ? nearestStart(declared, step: length ?? 0) : declared
        }
        let away = declared - expected
        guard abs(away) <= limit else {
            deviating = (0, 0)
            return declared
        }
        guard abs(away) > tolerance, isCoarse else {
            deviating = (0, 0)
            return expected
        }
        let isSameDirection = deviating.packets > 0 && (away > 0) == (deviating.least > 0)
        deviating =
            isSameDirection
            ? (deviating.packets + 1, abs(away) < abs(deviating.least) ? away : deviating.least) : (1, away)
        guard deviating.packets >= Self.maxDeviating else { return expected }
        defer { deviating = (0, 0) }
        return expected + deviating.least
    }

    /// Returns the container's time in samples, with the exact codec delay in place of the rounded one.
    private func declaredTime(_ packet: borrowing Packet) -> Int64? {
        let time = packet.pts != noTimestamp ? packet.pts : packet.dts
        guard time != noTimestamp else { return nil }
        return source.rescale(time + delay.declared, to: unit) - delay.samples
    }

    /// Returns the nearest time at which a packet may begin.
    private func nearestStart(_ declared: Int64, step: Int64) -> Int64 {
        guard let grid, step > 0 else { return declared }
        let steps = Double(declared - grid.start) / Double(step)
        let time = grid.start + Int64(steps.rounded()) * step
        return abs(time - declared) > tolerance ? declared : time
    }
}
