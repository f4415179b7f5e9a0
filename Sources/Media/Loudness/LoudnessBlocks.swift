internal import LibAV

/// The loudness of audio by blocks of 400 ms, every 100 ms, as EBU R128 measures it. The blocks of several files together
/// have the loudness of their concatenation.
package struct LoudnessBlocks: Codable, Hashable, Sendable {
    /// Momentary loudness in hundredths of a LU, above the absolute gate of -70 LUFS, in ascending order.
    private let levels: [Int32]
    /// Number of blocks with each level.
    private let counts: [Int64]
    /// Maximum true peak in dBTP.
    package let truePeak: Double

    /// Peak of digital silence, in dBTP.
    private static let silence = -120.0
    /// Possible peaks in dBTP. Samples of 32-bit floating point reach 771 dB.
    package static let peaks = silence...1000
    /// Levels of EBU R128's absolute gate, and of a limit that no audio reaches.
    private static let range: ClosedRange<Int32> = -6999...6000

    /// Blocks that are being counted.
    struct Counter {
        private var counts: [Int32: Int64] = [:]
        var truePeak = LoudnessBlocks.silence

        /// Counts a block by its momentary loudness in LUFS.
        mutating func add(_ loudness: Double) {
            let level = (loudness * 100).rounded()
            guard level >= Double(LoudnessBlocks.range.lowerBound) else { return }
            counts[Int32(min(level, Double(LoudnessBlocks.range.upperBound))), default: 0] += 1
        }

        var blocks: LoudnessBlocks {
            LoudnessBlocks(counts, truePeak: min(LoudnessBlocks.peaks.upperBound, truePeak))
        }
    }

    /// Creates the blocks from the number of blocks with each level.
    private init(_ countsByLevel: [Int32: Int64], truePeak: Double) {
        levels = countsByLevel.keys.sorted()
        counts = levels.map { countsByLevel[$0] ?? 0 }
        self.truePeak = truePeak
    }

    /// Creates the blocks of several measurements together.
    package init(joining parts: [LoudnessBlocks]) {
        var sums: [Int32: Int64] = [:]
        for part in parts {
            for (level, count) in zip(part.levels, part.counts) { sums[level, default: 0] += count }
        }
        self.init(sums, truePeak: parts.map(\.truePeak).max() ?? Self.silence)
    }

    /// Whether the values are possible; others come from a damaged or hostile program.
    package var isValid: Bool {
        levels.count == counts.count && levels.allSatisfy(Self.range.contains)
            && zip(levels, levels.dropFirst()).allSatisfy { $0 < $1 }
            && counts.allSatisfy { (1...1 << 32).contains($0) } && Self.peaks.contains(truePeak)
    }

    /// Integrated loudness in LUFS; nil for silence. Blocks 10 LU below the loudness of all blocks don't count.
    package var integrated: Double? {
        guard let all = loudness(from: Self.range.lowerBound) else { return nil }
        return loudness(from: Int32(((all - 10) * 100).rounded(.up)))
    }

    /// Returns the mean loudness of the blocks from a level upwards, in LUFS; nil if there are none.
    private func loudness(from lowest: Int32) -> Double? {
        var (sum, total) = (0.0, 0.0)
        for (level, count) in zip(levels, counts) where level >= lowest {
            // The offset of EBU R128 between power and loudness cancels out.
            sum += Double(count) * Decibels.factor(Double(level) / 100) * Decibels.factor(Double(level) / 100)
            total += Double(count)
        }
        return total > 0 ? Decibels.of(factor: (sum / total).squareRoot()) : nil
    }
}
