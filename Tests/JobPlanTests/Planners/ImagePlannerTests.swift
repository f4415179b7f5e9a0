import Diagnostics
import JobSpec
import LibAV
import Media
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// Tests the times, files and layout of still images.
@Suite struct ImagePlannerTests {
    private static let chapters = [
        AssetChapter(timeRange: span(0, 6), title: nil), AssetChapter(timeRange: span(6, 10), title: nil),
    ]

    private func decide(
        _ images: String, of source: InputPlan.Source = .file, ranges: [TimeRange] = [],
        size: PixelSize = PixelSize(width: 320, height: 180),
        to destination: String = "/o-${image.number}.jpg",
        prober: FakeProber = FakeProber(), _ change: (inout ImagesSpec) -> Void = { _ in }
    ) throws -> (decision: Decision<ImagesPlan>, findings: [String]) {
        let snippet = try JobSnippet("images: { \(images) }", to: "\"\(destination)\"")
        var spec = try #require(snippet.output.images)
        change(&spec)
        let extent =
            ranges.count > 1 ? PlannedExtent(joined: ranges) : PlannedExtent(range: ranges.first)
        let path = try #require(DestinationPath(destination))
        let place = try #require(snippet.output.destination).path.range
        let decision = ImagePlanner(
            spec: spec, output: snippet.output, source: source,
            description: .file(.video()) { $0.chapters = Self.chapters }, extent: extent, track: .video(),
            size: size, destination: path, at: place, prober: prober
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    private func times(_ decision: Decision<ImagesPlan>) -> [Double]? {
        decision.value?.stills.map(\.time.seconds)
    }

    /// Times are on the output's time line, in order; images given by `count` are evenly spaced.
    @Test(
        arguments: [
            ("at: [ 5s, 1s ]", [], [1, 5]), ("at: [ 50%, -1s ]", [], [5, 9]), ("at: end", [], [10]),
            ("at: chapter:2", [], [6]), ("at: 25f", [], [1]), ("every: 4s", [], [0, 4, 8]),
            ("every: 5s", [], [0, 5]),
            ("count: 2", [], [2.5, 7.5]), ("count: 1", [], [5]), ("every: 1s", [span(2, 4)], [0, 1]),
            ("at: [ 0s, end ]", [span(2, 4)], [0, 2]), ("at: chapter:2", [span(5, 8)], [1]),
            ("count: 3", [span(0, 1), span(4, 6)], [0.5, 1.5, 2.5]),
        ] as [(String, [TimeRange], [Double])])
    func imageTimesRelateToTheOutput(_ images: String, _ ranges: [TimeRange], _ expected: [Double]) throws {
        let positions = FramePositions(positions: [.init(start: s(1), end: s(1.04))], count: 26)
        let (decision, findings) = try decide(images, ranges: ranges, prober: FakeProber(.frames(positions)))
        #expect(times(decision) == expected && findings == [])
    }

    /// The time in the source includes the start of the range. A frame given by its number is located at its middle,
    /// and the end of a range denotes its last frame.
    @Test func imagesAreLocatedInTheSource() throws {
        let (range, _) = try decide("at: [ 1s, end ]", ranges: [span(2, 4)])
        let tick = MediaTime(value: 1, timescale: 12_800)
        #expect(range.value?.stills.map(\.sourceTime) == [s(3), s(4) - tick])
        let (joined, _) = try decide("at: [ 0.5s, 1.5s ]", ranges: [span(6, 7), span(1, 3)])
        #expect(joined.value?.stills.map(\.sourceTime) == [s(6.5), s(1.5)])
        let positions = FramePositions(positions: [.init(start: s(1), end: s(1.04))], count: 26)
        let (frame, _) = try decide("at: 25f", prober: FakeProber(.frames(positions)))
        #expect(frame.value?.stills.map(\.sourceTime) == [s(1.02)])
        #expect(frame.value?.stills.map(\.time) == [s(1)])
    }

    @Test(arguments: [
        ("at: [ 1s, 11s ]", [], "invalid-range at 11s"), ("at: 3s", [span(1, 3)], "invalid-range at 3s"),
        ("at: [ 1s, 1s ]", [], "invalid-value at 1s"), ("at: chapter:3", [], "invalid-range at chapter:3"),
        ("at: chapter:2", [span(0, 3)], "invalid-range at chapter:2"),
        ("every: 1ms", [], "invalid-value at 1ms"),
        ("at: -11s", [], "invalid-range at -11s"),
    ])
    func impossibleTimesAreErrors(_ images: String, _ ranges: [TimeRange], _ finding: String) throws {
        let (decision, findings) = try decide(images, ranges: ranges)
        #expect(decision.value == nil && findings == [finding], "\(decision.reasons.messages)")
    }

    /// A time and a frame number may denote the same image, which is an error.
    @Test func duplicateImagesAreErrors() throws {
        let positions = FramePositions(positions: [.init(start: s(1), end: s(1.04))], count: 26)
        let (decision, findings) = try decide("at: [ 1s, 25f ]", prober: FakeProber(.frames(positions)))
        #expect(decision.reasons.messages == ["duplicate time 1 s"] && findings == ["invalid-value at 25f"])
    }

    @Test func missingFramesAreErrors() throws {
        let prober = FakeProber(.frames(FramePositions(positions: [nil], count: 250)))
        let (decision, findings) = try decide("at: 250f", prober: prober)
        #expect(decision.value == nil && findings == ["invalid-range at 250f"])
    }

    /// Only keyframes and scenes in the range count; each range starts a scene.
    @Test func keyframesAndScenesAreProbed() throws {
        let found = FakeProber(.keyFrames([s(0), s(4), s(8)]))
        #expect(try times(decide("keyframes: true", prober: found).decision) == [0, 4, 8])
        let (cut, _) = try decide("keyframes: true", ranges: [span(3, 9)], prober: found)
        #expect(times(cut) == [1, 5] && cut.value?.tolerance == .keyFrame)
        let scenes = FakeProber(.keyFrames([s(4)]))
        #expect(try times(decide("scenes: 0.3", prober: scenes).decision) == [0, 4])
        #expect(scenes.requests.map(\.subject) == [.scenes(track: 0, difference: 300, limit: 100_000)])
        let joined = try decide("scenes: 0.3", ranges: [span(0, 1), span(3, 6)], prober: scenes).decision
        #expect(times(joined) == [0, 1, 2])
        let none = try decide("keyframes: true", ranges: [span(1, 3)], prober: found)
        #expect(none.decision.value == nil && none.findings == ["invalid-range at true"])
    }

    @Test func keyframesOfPredictedAndUnreadableSourcesAreUnknown() throws {
        let future = try decide("keyframes: true", of: .job(id: "first", path: "/b.mp4"))
        #expect(future.findings == ["invalid-value at true"])
        #expect(
            future.decision.reasons.messages == [
                "the keyframes of the output of first are not known when the job is planned"
            ])
        let pattern = TestPattern(
            name: "smpte", width: 64, height: 48, frameRate: Rational(25, 1), duration: s(10),
            toneFrequency: nil)
        let signal = try decide("keyframes: true", of: .pattern(pattern))
        #expect(signal.decision.reasons.messages[0].hasPrefix("the keyframes of a test signal"))
        #expect(try decide("scenes: 0.3", prober: .failing()).findings == ["source-unreadable at 0.3"])
    }

    /// Image numbers in names have four digits; times are rounded down to the millisecond.
    @Test func imageNamesContainNumberOrTime() throws {
        #expect(
            try decide("count: 2").decision.value?.stills.map(\.destination) == [
                "/o-0001.jpg", "/o-0002.jpg",
            ])
        #expect(
            try decide("at: [ 1.5s ]", to: "/${image.time}.jpg").decision.value?.stills.map(\.destination)
                == [
                    "/00-00-01.500.jpg"
                ])
        let (single, findings) = try decide("count: 1", to: "/o.jpg")
        #expect(single.value?.stills.map(\.destination) == [nil] && findings == [])
    }

    @Test func namesMustBeUnique() throws {
        let several = try decide("count: 1", to: "/o.jpg", prober: FakeProber(.keyFrames([s(0), s(4)]))) {
            $0.selection = .keyFrames($0.range)
        }
        #expect(several.decision.value == nil && several.findings == ["missing-key at \"/o.jpg\""])
        let same = try decide("at: [ 1s, 1.0001s ]", to: "/${image.time}.jpg")
        #expect(same.findings == ["destination-collision at \"/${image.time}.jpg\""])
        let long = String(repeating: "x", count: 250)
        let index = "count: 2, format: jpeg, sheet: { columns: 2, index: vtt }"
        #expect(try decide(index, to: "/\(long)").decision.value?.sheet?.index == "/\(long).vtt")
        #expect(try decide(index, to: "/\(long)xx").findings == ["invalid-value at vtt"])
    }

    /// A sheet has as many rows as its images require, and fewer columns for fewer images.
    @Test(arguments: [
        ("count: 9, sheet: { columns: 5 }", 5, 2), ("count: 3, sheet: { columns: 5 }", 3, 1),
        ("count: 3, sheet: { columns: 5, rows: 5 }", 5, 5),
        ("count: 10, sheet: { columns: 5, rows: 2 }", 5, 2),
    ])
    func sheetsContainAllImages(_ images: String, _ columns: Int, _ rows: Int) throws {
        let (decision, findings) = try decide("\(images)", to: "/o.jpg")
        let sheet = try #require(decision.value?.sheet)
        #expect(sheet.columns == columns && sheet.rows == rows && sheet.index == nil && findings == [])
        let indexed = images.replacing("columns: 5", with: "columns: 5, index: vtt")
        #expect(try decide(indexed, to: "/o.jpg").decision.value?.sheet?.index == "/o.vtt")
    }

    @Test func sheetsHaveLimits() throws {
        let small = try decide("every: 1s, sheet: { columns: 3, rows: 3 }", to: "/o.jpg")
        #expect(small.decision.value == nil && small.findings == ["invalid-value at 1s"])
        let found = FakeProber(.keyFrames([s(0), s(2), s(4)]))
        let keys = try decide("keyframes: true, sheet: { columns: 1, rows: 2 }", to: "/o.jpg", prober: found)
        #expect(keys.decision.reasons.messages == ["3 still images don't fit into 1 columns and 2 rows"])
        let large = try decide(
            "count: 10, sheet: { columns: 10 }", size: PixelSize(width: 1920, height: 1080), to: "/o.jpg")
        #expect(large.decision.value == nil && large.findings == ["codec-setting at { columns: 10 }"])
    }

    /// Players slow down animations whose frames are shorter than the format allows, which is an error.
    @Test func tooShortAnimationFramesAreErrors() throws {
        let slow = try decide("every: 1s, animation: gif", to: "/o.gif")
        #expect(slow.decision.value?.animation == .gif && slow.findings == [])
        let fast = try decide("every: 10ms, animation: gif", ranges: [span(0, 1)], to: "/o.gif")
        #expect(fast.decision.value == nil && fast.findings == ["invalid-value at 10ms"])
    }
}
