internal import LibAV

/// A volume envelope whose positions are sample numbers instead of times.
struct GainRamp {
    /// A section with a linear gain: `count` samples, `gain` of the first one, and the increase per sample.
    struct Segment {
        var count: Int64
        var gain: Float
        var step: Float
    }

    private let points: [(position: Int64, gain: Double)]

    /// Creates a ramp; `unit` is the duration of a sample, and the envelope's times count from `origin`.
    init(_ envelope: VolumeEnvelope, origin: MediaTime, unit: Rational) {
        points = envelope.points.map {
            ((origin + $0.time).ticks(in: unit), Double($0.billionths) / 1e9)
        }
    }

    /// Returns the gain from a position on, and the number of samples for which it is linear, at most `limit`.
    func segment(at position: Int64, limit: Int64) -> Segment {
        guard let first = points.first, let last = points.last else {
            return Segment(count: limit, gain: 1, step: 0)
        }
        if position < first.position {
            return Segment(count: min(limit, first.position - position), gain: Float(first.gain), step: 0)
        }
        guard let next = points.firstIndex(where: { $0.position > position }), next > 0 else {
            return Segment(count: limit, gain: Float(last.gain), step: 0)
        }
        let (from, to) = (points[next - 1], points[next])
        let slope = (to.gain - from.gain) / Double(to.position - from.position)
        return Segment(
            count: min(limit, to.position - position),
            gain: Float(from.gain + slope * Double(position - from.position)), step: Float(slope))
    }
}
