@testable import Media
import TestSupport
import Testing

/// Overlapping subtitle events are merged into samples that don't overlap. Each sample has the lines of all events that
/// are shown at its time.
@Suite struct CueMergerTests {
    private func cue(_ text: String) -> [UInt8] {
        [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xff)] + Array(text.utf8)
    }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.dropFirst(2).prefix(Int(bytes[0]) << 8 | Int(bytes[1])), as: UTF8.self)
    }

    private func merged(_ cues: [(start: Int64, end: Int64?, text: String)]) -> [(Int64, Int64, String)] {
        var merger = CueMerger()
        for one in cues { merger.take(start: one.start, end: one.end, bytes: cue(one.text)) }
        merger.finish()
        var samples: [(Int64, Int64, String)] = []
        while let sample = merger.next() { samples.append((sample.start, sample.end, text(sample.bytes))) }
        return samples
    }

    @Test func overlappingCuesShareASample() {
        let samples = merged([(0, 4, "a"), (2, 6, "b"), (8, 9, "c")])
        #expect(samples.map(\.0) == [0, 2, 4, 8])
        #expect(samples.map(\.1) == [2, 4, 6, 9])
        #expect(samples.map(\.2) == ["a", "a\nb", "b", "c"])
    }

    @Test func aCueWithoutAnEndIsShownUntilTheNext() {
        let samples = merged([(0, nil, "a"), (5, 7, "b"), (9, nil, "c")])
        #expect(samples.map(\.2) == ["a", "b", "c"])
        #expect(samples.map(\.1) == [5, 7, 9], "the last one has no duration")
    }

    @Test func stylesAreMovedWithTheirLines() throws {
        var merger = CueMerger()
        let style: [UInt8] = [0, 0, 0, 1, 0, 1, 1, 18, 255, 255, 255, 255]
        let styled = cue("x") + [0, 0, 0, 22] + Array("styl".utf8) + [0, 1] + style
        merger.take(start: 0, end: 9, bytes: cue("äbc"))
        merger.take(start: 0, end: 9, bytes: styled)
        merger.finish()
        let first = merger.next()
        let sample = try #require(first)
        #expect(text(sample.bytes) == "äbc\nx")
        // Offsets count characters, not bytes: four precede.
        #expect(sample.bytes.suffix(12).prefix(4) == [0, 4, 0, 5])
    }

    @Test(arguments: 0..<40) func samplesDontOverlapAndContainEveryCue(seed: UInt64) {
        var random = SeededGenerator(seed)
        var start: Int64 = 0
        let cues = (0..<30).map { index in
            start += Int64.random(in: 0...5, using: &random)
            return (
                start: start, end: Optional(start + Int64.random(in: 1...8, using: &random)),
                text: "<\(index)>"
            )
        }
        let samples = merged(cues)
        for (a, b) in zip(samples, samples.dropFirst()) { #expect(a.1 <= b.0) }
        for time in 0..<(start + 10) {
            let shown = cues.filter { $0.start <= time && time < $0.end ?? 0 }.map(\.text)
            let lines = samples.first { $0.0 <= time && time < $0.1 }?.2.split(separator: "\n") ?? []
            #expect(Set(shown) == Set(lines.map(String.init)), "at \(time)")
        }
    }
}
