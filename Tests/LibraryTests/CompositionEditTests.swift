import TandemKit
import TestSupport
import Testing

@testable import Media

/// Random edits of a composition leave it valid; an edit that throws leaves it unchanged.
@Suite struct CompositionEditTests {
    private static let asset = Asset(
        .pattern(
            TestPattern(
                name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)),
        environment: MediaEnvironment())

    @Test func randomEdits_leaveAValidOrUnchangedComposition() throws {
        for seed in UInt64(1)...5000 {
            var random = MisuseWalkTests.WalkGenerator(state: seed)
            var composition = Composition()
            var edits: [String] = []
            for _ in 0..<10 {
                let before = composition
                do {
                    try edit(&composition, &random, &edits)
                } catch {
                    #expect(composition == before, "seed \(seed): \(edits) threw \(error)")
                }
                let isEmpty = composition.duration == .zero || composition.canvas == nil
                guard composition.isValid || isEmpty else {
                    Issue.record("seed \(seed): invalid after \(edits)")
                    return
                }
            }
        }
    }

    private func edit(
        _ composition: inout Composition, _ random: inout MisuseWalkTests.WalkGenerator,
        _ edits: inout [String]
    ) throws {
        let timescales: [Int32] = [25, 25, 30_000, 90_000]
        func time(_ range: ClosedRange<Double>) -> MediaTime {
            let timescale = timescales.randomElement(using: &random) ?? 25
            let seconds = Double.random(in: range, using: &random)
            return MediaTime(value: Int64(seconds * Double(timescale)), timescale: timescale)
        }
        // Mostly within the composition and the asset.
        let end = max(0.04, composition.duration.seconds)
        let within = TimeRange(start: time(-0.1...end), end: time(0...(end + 0.1)))
        let part = TimeRange(start: time(-0.05...0.5), end: time(0.4...1.05))
        let asset = Self.asset
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            let overlap = time(-0.05...1)
            edits.append("append overlap \(overlap)")
            try composition.append(asset, overlap: overlap)
        case 1:
            let overlap = time(0...0.6)
            edits.append("append \(part) overlap \(overlap)")
            try composition.append(asset, timeRange: part, overlap: overlap)
        case 2:
            edits.append("insert \(part) at \(within.start)")
            try composition.insert(asset, timeRange: part, at: within.start)
        case 3:
            edits.append("gap \(within.duration)")
            try composition.appendGap(within.duration)
        case 4:
            edits.append("insert gap \(within)")
            try composition.insertGap(within)
        case 5:
            edits.append("remove \(within)")
            try composition.remove(within)
        case 6, 7:
            let length = time(0...(end * 3))
            edits.append("scale \(within) to \(length)")
            try composition.scale(within, to: length)
        default:
            edits.append("mix \(part) at \(within.start)")
            try composition.mix(asset, timeRange: part, at: within.start)
        }
    }
}
