import Diagnostics
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan
@testable import JobSpec

private func frames(_ numbers: Int64...) -> [Located<Int64>] {
    numbers.map { Located($0, at: .startOfFile("jobs.yaml")) }
}

private func time(_ time: TimeExpression) -> Located<TimeExpression> {
    Located(time, at: .startOfFile("jobs.yaml"))
}

/// Frame numbers count the frames of the first selected video track, regardless of its frame rate.
@Suite struct FrameLocatorTests {
    private static let variable = FramePositions(
        positions: [.init(start: s(0.1), end: s(0.9)), nil], count: 7)

    /// A single probe request returns the times of a file's frames.
    @Test func framesOfFilesAreProbed() throws {
        let prober = FakeProber(.frames(Self.variable))
        let locator = FrameLocator(track: .video(index: 3), source: .file, prober: prober)
        var sink = DiagnosticSink()
        let found = try #require(locator.positions(of: frames(2, 9), in: [span(1, 3)], into: &sink))
        #expect(found.positions[0]?.start == s(0.1) && found.positions[1] == nil && found.count == 7)
        #expect(
            prober.requests == [
                ProbeRequest(
                    path: "/a.mp4", subject: .frames(track: 3, ranges: [span(1, 3)], numbers: [2, 9]))
            ])
        #expect(!sink.hasErrors)
    }

    /// Located frames are not probed again; frames in other ranges are.
    @Test func locatedFramesAreProbedOnce() throws {
        let prober = FakeProber(.frames(Self.variable))
        var locator = FrameLocator(track: .video(), source: .file, prober: prober)
        var sink = DiagnosticSink()
        #expect(locator.locate([time(.frames(2)), time(.end), time(.frames(9))], in: [], into: &sink))
        #expect(locator.position(of: frames(2)[0], in: [], into: &sink)?.position?.start == s(0.1))
        let missing = try #require(locator.position(of: frames(9)[0], in: [], into: &sink))
        #expect(missing.position == nil && missing.count == 7 && prober.requests.count == 1)
        #expect(locator.locate([time(.end)], in: [], into: &sink) && prober.requests.count == 1)
        let other = FakeProber(.frames(FramePositions(positions: [.init(start: s(0), end: nil)], count: 3)))
        locator = FrameLocator(track: .video(), source: .file, prober: other)
        #expect(locator.locate([time(.frames(2))], in: [], into: &sink))
        #expect(locator.position(of: frames(2)[0], in: [span(1, 3)], into: &sink)?.count == 3)
        #expect(other.requests.count == 2)
    }

    /// Generated and predicted sources have a constant rate.
    @Test(arguments: [InputPlan.Source.job(id: "first", path: "/b.mp4")])
    func framesOfPredictedFilesAreLocatedByRate(_ source: InputPlan.Source) throws {
        let locator = FrameLocator(track: .video(), source: source, prober: FakeProber())
        var sink = DiagnosticSink()
        let found = try #require(locator.positions(of: frames(50, 250), in: [], into: &sink))
        #expect(found.positions.map { $0?.start } == [s(2), nil] && found.count == 250)
        let inRange = try #require(locator.positions(of: frames(0, 1, 25), in: [span(2, 3)], into: &sink))
        #expect(inRange.positions.map { $0?.start } == [s(0), s(0.04), nil] && inRange.count == 25)
    }

    @Test(
        arguments: [
            (nil, "/a.mp4", Rule.invalidRange), (TrackDescription.video(rate: nil), nil, .invalidRange),
            (.video(), "/a.mp4", .sourceUnreadable),
        ] as [(TrackDescription?, String?, Rule)])
    func framesThatCantBeLocatedAreErrors(_ track: TrackDescription?, _ path: String?, _ rule: Rule) {
        let locator = FrameLocator(track: track, path: path, prober: FakeProber.failing())
        var sink = DiagnosticSink()
        #expect(locator.positions(of: frames(1), in: [], into: &sink) == nil)
        #expect(sink.diagnostics.map(\.rule) == [rule])
    }

    @Test(
        arguments: [
            (75, [], "frame 9 doesn't exist: the video track has 75 frames, 0f to 74f"),
            (1, [span(0, 1)], "frame 9 doesn't exist: the range has 1 frame, 0f to 0f"),
            (0, [span(0, 1)], "frame 9 doesn't exist: the range has 0 frames"),
        ] as [(Int64, [TimeRange], String)])
    func missingFramesReportValidNumbers(_ count: Int64, _ ranges: [TimeRange], _ message: String) {
        var sink = DiagnosticSink()
        FrameLocator.reportMissing(frames(9)[0], of: count, in: ranges, into: &sink)
        #expect(sink.diagnostics.map(\.message) == [message] && sink.diagnostics[0].rule == .invalidRange)
    }
}

/// Tests ranges whose positions are frame numbers.
@Suite struct RangeResolverTests {
    private func resolve(
        start: TimeExpression? = nil, end: TimeExpression? = nil, duration: TimeExpression? = nil,
        video: TrackDescription = .video()
    ) -> (TimeRange?, [String]) {
        var sink = DiagnosticSink()
        let resolver = RangeResolver(
            source: .file(video, .audio(1, over: span(0, 11))),
            frames: FrameLocator(track: video, path: nil, prober: FakeProber()))
        let spec = RangeSpec(
            start: start.map(time), end: end.map(time), duration: duration.map(time),
            range: .startOfFile("jobs.yaml"))
        return (resolver.resolve(spec, into: &sink), sink.diagnostics.map(\.message))
    }

    /// The end of a range is the start of the frame with its number. The number after the last frame denotes the end of the track.
    @Test func framesLimitRanges() {
        #expect(resolve(start: .frames(25), end: .frames(75)).0 == span(1, 3))
        #expect(resolve(start: .frames(25), end: .frames(250)).0 == span(1, 10))
        #expect(resolve(start: .frames(25), duration: .frames(50)).0 == span(1, 3))
        #expect(resolve(start: .frames(249), duration: .frames(1)).0 == span(9.96, 10))
    }

    @Test func missingFramesAreErrors() {
        #expect(
            resolve(start: .frames(250)).1 == [
                "frame 250 doesn't exist: the video track has 250 frames, 0f to 249f"
            ])
        #expect(
            resolve(end: .frames(251)).1 == [
                "frame 251 doesn't exist: the video track has 250 frames, 0f to 249f"
            ])
        #expect(
            resolve(start: .frames(249), duration: .frames(2)).1 == [
                "the range has 2 frames, but only 1 remain after 9.96 s"
            ])
    }

    /// A limit may exceed the number of frames.
    @Test func limitsMayExceedTheFrames() {
        var sink = DiagnosticSink()
        let resolver = RangeResolver(
            source: .file(.video()), frames: FrameLocator(track: .video(), path: nil, prober: FakeProber()))
        let ranges = [span(0, 1), span(4, 5)]
        #expect(resolver.duration(time(.frames(30)), ofAll: ranges, into: &sink) == s(1.2))
        #expect(resolver.duration(time(.frames(99)), ofAll: ranges, into: &sink) == s(2))
        #expect(!sink.hasErrors)
    }
}

/// An estimated duration is measured before planning if the job depends on it.
@Suite struct EstimatedLengthTests {
    @Test(arguments: [
        ("range: { start: 1s, end: 5s }", "", false), ("range: { start: 1s, end: 11s }", "", true),
        ("range: { end: -1s }", "", true), ("range: { end: 50% }", "", true),
        ("range: { end: 100f }", "", true),
        ("range: { start: 1s }", "", false), ("range: { start: 1s }", "cut: smart", true),
        ("range: { start: 1s, end: end }", "", false), ("limit: { duration: 50% }", "", true),
        ("limit: { duration: 5s }", "", false), ("", "", false),
    ])
    func durationIsRelevantIfTheJobDependsOnTheEnd(_ keys: String, _ more: String, _ isRelevant: Bool) throws
    {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", keys, more)
        func length(_ container: String, isExact: Bool) -> EstimatedLength {
            EstimatedLength(
                source: .file(.video(), container: container) { $0.isDurationExact = isExact },
                job: snippet.job,
                prober: FakeProber())
        }
        #expect(length("mpegts", isExact: false).isRelevant == isRelevant)
        // A duration that was measured, or that the container declares, isn't an estimate.
        #expect(!length("mpegts", isExact: true).isRelevant)
        #expect(!length(SourceDescription.movie, isExact: false).isRelevant)
    }

    /// Images are spread over the source: those of a job, and the thumbnails of a package.
    @Test(arguments: [
        ("every: 1s", true), ("count: 3", true), ("at: [50%]", true), ("at: [11s]", true),
        ("at: [1s]", false),
    ])
    func imagesDependOnTheEnd(_ selection: String, _ isRelevant: Bool) throws {
        func isMeasured(_ job: String) throws -> Bool {
            let (file, sink) = decode(
                "version: 1\njobs:\n  web: { asset: a.ts, \(job) }", directory: "/nowhere")
            let job = try #require(file?.jobs.first, "\(sink.diagnostics)")
            let source = SourceDescription.file(.video(), container: "mpegts") { $0.isDurationExact = false }
            return EstimatedLength(source: source, job: job, prober: FakeProber()).isRelevant
        }
        #expect(
            try isMeasured("images: { \(selection) }, destination: \"${image.number}.jpg\"") == isRelevant)
        if selection.hasPrefix("at") { return }
        let sheet = "images: { \(selection), sheet: { columns: 2, cell: { width: 64 } } }"
        let video = "{ tracks: [ { video: first, encode: { codec: h264, crf: 30 } } ] }"
        #expect(
            try isMeasured(
                "outputs: { hd: \(video), strip: { \(sheet) } }, package: { formats: [hls], thumbnails: strip, destination: out/ }"
            ))
    }
}
