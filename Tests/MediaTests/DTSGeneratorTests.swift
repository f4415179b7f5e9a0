@testable import Media
import TestSupport
import Testing

/// Decoding times that are generated from presentation times increase, and none is later than its presentation time. A
/// stream with deeper reordering than declared is reported.
@Suite struct DTSGeneratorTests {
    /// Returns presentation times in decoding order: groups of a reference frame and the B-frames shown before it.
    private func stream(
        depth: Int, frames: Int, step: Int64, using random: inout some RandomNumberGenerator
    ) -> [Int64] {
        var times: [Int64] = [0]
        var next: Int64 = 1
        while times.count < frames {
            let between = Int64.random(in: 0...Int64(depth), using: &random)
            times.append(next + between)
            // In a B-pyramid, the middle B-frame is decoded first.
            var waiting = [(next, next + between - 1)]
            var level = depth - 1
            while let (low, high) = waiting.popLast() {
                guard low <= high else { continue }
                let middle = level > 0 ? (low + high) / 2 : low
                level -= 1
                times.append(middle)
                waiting.append((middle + 1, high))
                waiting.append((low, middle - 1))
            }
            next += between + 1
        }
        return times.map { $0 * step }
    }

    /// Returns how many frames must be decoded before the first one can be shown.
    private func depth(of times: [Int64]) -> Int {
        let sorted = times.sorted()
        var most = 0
        for (index, time) in times.enumerated() {
            let position = sorted.firstIndex(of: time) ?? 0
            most = max(most, index - position)
        }
        return most
    }

    @Test(arguments: 0..<40) func decodingTimesIncreaseAndAreNotLate(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let times = stream(depth: Int(seed % 5), frames: 200, step: 40, using: &random)
        var clock = DTSGenerator(delay: max(1, depth(of: times)), step: 40)
        var last = Int64.min
        for pts in times {
            let generated = clock.time(of: pts)
            let dts = try #require(generated)
            #expect(dts > last && dts <= pts)
            last = dts
        }
    }

    @Test func deeperReorderingIsReported() {
        var clock = DTSGenerator(delay: 1, step: 40)
        // Four frames are decoded before the first of them is shown.
        let times: [Int64] = [0, 200, 160, 120, 80, 40]
        var isReported = false
        for time in times where clock.time(of: time) == nil { isReported = true }
        #expect(isReported)
    }

    @Test func firstTimes_withoutLeadingFrames_areAFrameApart() {
        var clock = DTSGenerator(delay: 2, step: 1001, hasLeadingFrames: false)
        let times: [Int64] = [0, 3003, 1001, 2002, 6006, 4004, 5005].map { $0 + 100 }
        #expect(times.map { clock.time(of: $0) } == [-1902, -901, 100, 1101, 2102, 3103, 4104])
    }

    @Test func leadingFramesAreDecodedBeforeTheyAreShown() throws {
        var clock = DTSGenerator(delay: 2, step: 40)
        for pts: Int64 in [80, 0, 40, 120] {
            let dts = clock.time(of: pts)
            #expect(try #require(dts) <= pts)
        }
    }
}
