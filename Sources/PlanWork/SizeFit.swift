internal import Glibc
internal import JobPlan

/// The encodes of an output with a target size, and the bit rate of the next one.
package struct SizeFit: Sendable {
    /// A finished encode.
    struct Attempt: Sendable {
        /// Bit rate of the video track, in bits per second.
        var bitRate: Int64
        /// Size of the file in bytes.
        var size: Int64
        /// Size of the video track's packets in bytes.
        var video: Int64
    }

    /// Maximum number of encodes: the first one, two corrections, and a repetition of an earlier one that was small enough.
    package static let maximumAttempts = 4

    let target: TargetSize
    private(set) var attempts: [Attempt] = []

    init(_ target: TargetSize) { self.target = target }

    mutating func add(_ attempt: Attempt) { attempts.append(attempt) }

    /// Whether the last file is larger than the target size.
    var isOver: Bool { attempts.last.map { $0.size > target.bytes } ?? false }

    /// Whether the last file is smaller than the target size by more than 3 %.
    var isUnder: Bool { attempts.last.map { $0.size < target.minimumBytes } ?? false }

    /// Bit rate of the next encode; nil if the last file is accepted, or if no other rate is expected to improve it.
    var nextRate: Int64? {
        guard let last = attempts.last, isOver || isUnder, attempts.count < Self.maximumAttempts else {
            return nil
        }
        if isUnder, isSaturated || last.bitRate >= target.maximumRate { return nil }
        if attempts.count == Self.maximumAttempts - 1 {
            return isOver
                ? attempts.filter { $0.size <= target.bytes }.max { $0.size < $1.size }?.bitRate : nil
        }
        // The size of everything but the video is taken as constant.
        let wanted = (attempts.count > 1 ? target.safeAim : target.aim) - (last.size - last.video)
        guard wanted > 0, last.video > 0 else { return nil }
        let ratio = Double(wanted) / Double(last.video)
        let rate = Double(last.bitRate) * pow(ratio, 1 / (exponent ?? 1))
        guard rate >= Double(target.minimumRate) else { return nil }
        let bounded = Int64(min(rate, Double(target.maximumRate)))
        return bounded == last.bitRate ? nil : bounded
    }

    /// Whether a higher bit rate made the video hardly larger: the encoder has reached its best quality.
    var isSaturated: Bool {
        guard attempts.count > 1, let growth else { return false }
        // Some encoders follow small changes of the rate in steps.
        let (before, last) = (attempts[attempts.count - 2].bitRate, attempts[attempts.count - 1].bitRate)
        return Double(last) > 1.25 * Double(before) && growth < 0.1
    }

    /// Exponent of the rate in the size of the video, bounded for corrections; nil if it isn't known. Unless one of the last
    /// two files was larger than the size and the other one smaller, a rate is reduced at least in proportion, and raised at
    /// most in proportion.
    private var exponent: Double? {
        guard let growth else { return nil }
        let larger = attempts.suffix(2).filter { $0.size > target.bytes }
        if larger.count == 1 { return max(0.3, min(5, growth)) }
        return isOver ? max(0.3, min(1, growth)) : max(1, min(3, growth))
    }

    /// Exponent of the rate in the size of the video, measured by the last two encodes; nil if they don't determine it.
    private var growth: Double? {
        guard attempts.count > 1 else { return nil }
        let (before, last) = (attempts[attempts.count - 2], attempts[attempts.count - 1])
        guard before.video > 0, last.video > 0, last.bitRate != before.bitRate else { return nil }
        return log(Double(last.video) / Double(before.video))
            / log(Double(last.bitRate) / Double(before.bitRate))
    }

    /// The rates that were tried with the sizes that they reached, such as `812 kb/s: 4.9 MB, 830 kb/s: 5.0 MB`.
    var text: String { Self.text(attempts.map { ($0.bitRate, $0.size) }) }

    /// Returns rates and sizes as text.
    package static func text(_ attempts: [(bitRate: Int64, size: Int64)]) -> String {
        attempts.map { "\($0.bitRate / 1000) kb/s: \(PlanText.bytes($0.size))" }.joined(separator: ", ")
    }
}
