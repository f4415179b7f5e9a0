internal import Glibc
internal import JobPlan
internal import LibAV

/// The probes and encodes of an output with a target quality, and the `crf` of the next one.
package struct QualityFit: Sendable {
    /// An encode with its measured similarity.
    struct Attempt: Sendable {
        /// `crf` in thousandths.
        var crf: Int
        var value: Double
        /// Whether only a part of the windows was encoded.
        var isPartial = false
    }

    /// The next probe.
    struct Probe: Equatable {
        /// `crf` in thousandths.
        var crf: Int
        /// Whether only a part of the windows is encoded.
        var isPartial: Bool
    }

    /// Maximum number of probes.
    package static let maximumProbes = 5
    /// Maximum number of encodes of the whole track: the first one, a correction, and a further one if the correction is
    /// insufficient.
    package static let maximumEncodes = 3

    let target: TargetQuality
    private(set) var probes: [Attempt] = []
    private(set) var encodes: [Attempt] = []
    /// The probes of all windows.
    private var complete: [Attempt] { probes.filter { !$0.isPartial } }

    init(_ target: TargetQuality) { self.target = target }

    mutating func addProbe(_ attempt: Attempt) { probes.append(attempt) }
    mutating func addEncode(_ attempt: Attempt) { encodes.append(attempt) }

    /// Returns whether a value is less than the target by more than the accepted difference.
    func isBelow(_ value: Double) -> Bool { value < target.value - target.within }

    /// Returns whether a value exceeds the target by more than the accepted difference.
    func isAbove(_ value: Double) -> Bool { value > target.value + target.within }

    /// The value that probes should have. In fifteen searches in two compilations with libx264 and libx265, the first encode
    /// was below the target that the windows had met, by 0.3 to 4.3 times the default `within`; with libsvtav1 it was above.
    /// Windows should therefore exceed the target by half of the accepted difference, but not approach identity.
    private var aim: Double {
        if target.windows.isEmpty { return target.value }
        return min(target.value + target.within / 2, (target.value + target.metric.identity) / 2)
    }

    /// Returns whether the value of a probe ends the search. Half of the accepted difference remains for the difference
    /// between the windows and the whole.
    private func isNear(_ value: Double) -> Bool { abs(value - aim) <= target.within / 2 }

    /// Whether the last encode is insufficient.
    var isInsufficient: Bool { encodes.last.map { isBelow($0.value) } ?? false }

    /// Whether the probe with the lowest `crf` shows that the target can't be reached. Windows may differ from the whole,
    /// which is therefore encoded if they are only a little below the target.
    var isUnreachable: Bool {
        guard let best = complete.min(by: { $0.crf < $1.crf }), best.crf == target.lowest else {
            return false
        }
        return best.value < target.value - target.within * (target.windows.isEmpty ? 1 : 4)
    }

    /// The next probe; nil if the search has ended. With windows, one or two probes of a part of them show how the similarity
    /// changes with `crf`; then all windows are encoded once, or twice if the first result is far from the target.
    var nextProbe: Probe? {
        guard let last = probes.last else {
            return Probe(crf: target.first, isPartial: !target.windows.isEmpty)
        }
        let next = best
        if last.isPartial {
            let isFar = Double(abs(next - last.crf)) > target.stepsPerHalf * 1000 / 2
            return Probe(crf: next, isPartial: probes.count < 2 && isFar)
        }
        guard probes.count < Self.maximumProbes, !isNear(last.value),
            !complete.contains(where: { $0.crf == next })
        else { return nil }
        // Two probes of a part show the slope, by which a result is corrected.
        let isSlopeKnown = probes.count(where: \.isPartial) > 1
        let isClose = abs(last.value - aim) <= (isSlopeKnown ? 8 : 2) * target.within
        guard target.windows.isEmpty || complete.count < 2 && !isClose else { return nil }
        return Probe(crf: next, isPartial: false)
    }

    /// `crf` of the next encode of the whole track, in thousandths; nil if the last one is accepted, or if no other one is
    /// expected to improve it.
    var nextEncode: Int? {
        guard let last = encodes.last else {
            let nearest = complete.min { abs($0.value - aim) < abs($1.value - aim) }
            if let nearest, isNear(nearest.value) { return nearest.crf }
            return best
        }
        guard encodes.count < Self.maximumEncodes else { return nil }
        if isBelow(last.value) {
            // An earlier encode that was sufficient is repeated.
            if let earlier = encodes.last(where: { !isBelow($0.value) }) { return earlier.crf }
            let next = min(corrected(last), last.crf - target.step)
            return last.crf <= target.lowest ? nil : max(target.lowest, next)
        }
        guard isAbove(last.value), encodes.count == 1 else { return nil }
        let next = corrected(last)
        return next > last.crf ? next : nil
    }

    /// The `crf` at which the probes meet the target, by interpolation between the nearest ones.
    private var best: Int {
        let known = complete.isEmpty ? probes : complete
        let sorted = known.sorted { $0.crf < $1.crf }
        let above = sorted.last { $0.value >= aim }
        let below = sorted.first { $0.value < aim && $0.crf > above?.crf ?? .min }
        if let above, let below {
            let slope = (level(below.value) - level(above.value)) / Double(below.crf - above.crf)
            guard slope < 0 else { return above.crf }
            return rounded(Double(above.crf) + (level(aim) - level(above.value)) / slope)
        }
        guard let nearest = above ?? below else { return target.first }
        return rounded(
            Double(nearest.crf) + (level(aim) - level(nearest.value)) / slope(near: nearest))
    }

    /// Returns the `crf` that corrects an encode of the whole track, with the slope of the probes.
    private func corrected(_ last: Attempt) -> Int {
        // A correction to a higher `crf` is aimed at the middle of the target and the upper limit, since the result must not
        // be below the target.
        let aim = isAbove(last.value) ? target.value + target.within / 2 : target.value
        return rounded(Double(last.crf) + (level(aim) - level(last.value)) / slope(near: last))
    }

    /// Returns the change of the level with `crf` in thousandths near an attempt: between the two nearest of all encodes, of all
    /// probes of all windows, or of the probes of a part, which are comparable; an estimate if no two of them differ.
    private func slope(near attempt: Attempt) -> Double {
        let estimate = -3 / target.stepsPerHalf / 1000
        for comparable in [encodes, complete, probes.filter(\.isPartial)] {
            let sorted = comparable.sorted { abs($0.crf - attempt.crf) < abs($1.crf - attempt.crf) }
            guard let one = sorted.first, let other = sorted.first(where: { $0.crf != one.crf }) else {
                continue
            }
            let slope = (level(other.value) - level(one.value)) / Double(other.crf - one.crf)
            return min(estimate / 4, max(estimate * 4, slope))
        }
        return estimate
    }

    /// Returns a value in decibels, in which it is about linear in `crf`.
    private func level(_ value: Double) -> Double {
        target.metric == .psnr ? min(value, 80) : -10 * log10(max(1e-6, 1 - value))
    }

    private func rounded(_ crf: Double) -> Int {
        guard crf.isFinite else { return target.first }
        let bounded = min(Double(target.highest), max(Double(target.lowest), crf))
        let steps = (bounded / Double(target.step)).rounded()
        return min(target.highest, max(target.lowest, Int(steps) * target.step))
    }

    /// Probes and encodes, for the report.
    var result: OutputResult.Quality {
        func attempts(_ list: [Attempt], ofWindows: Bool) -> [OutputResult.Quality.Attempt] {
            list.map { attempt in
                let windows = attempt.isPartial ? target.fewWindows : target.windows
                return OutputResult.Quality.Attempt(
                    crf: Double(attempt.crf) / 1000, value: attempt.value,
                    windows: ofWindows && !windows.isEmpty ? windows.count : nil)
            }
        }
        return OutputResult.Quality(
            metric: target.metric, pool: target.pool, target: target.value, within: target.within,
            probes: attempts(probes, ofWindows: true), encodes: attempts(encodes, ofWindows: false))
    }

    /// Probes and encodes for the user.
    var text: String { result.text }
}
