import Diagnostics
import Foundation
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Tests plans with `metadata: { cover }`. The prober returns the image's properties, so no image file is read.
@Suite struct CoverPlanTests {
    /// Returns an image whose digest repeats one digit.
    static func image(_ digit: String) -> CoverImage {
        CoverImage(
            codec: "mjpeg", width: 600, height: 400, pixelFormat: .yuv420p, size: 90_000,
            digest: String(repeating: digit, count: 64))
    }

    /// Returns a prober with cover images of the given digests, by path, that validates settings itself.
    private static func prober(of covers: [String: String]) -> FakeProber {
        FakeProber { request in
            switch request.subject {
            case .cover:
                guard let digest = covers[request.path ?? ""] else {
                    return .failure(SourceProblem("no such file"))
                }
                return .success(.cover(image(digest)))
            case .trial(let trial): return .success(.verdict(trial.run()))
            default: return nil
            }
        }
    }

    private static var wide: CoverImage {
        var image = image("a")
        (image.width, image.height) = (60_000, 60_000)
        return image
    }

    private static let asset = "{ pattern: black, size: 64x64, duration: 1s, tone: 1kHz }"
    private static let folder = FileManager.default.temporaryDirectory.path
    private static let known = ["/jobs/art.jpg": "a", "/jobs/web.jpg": "b", "/elsewhere/art.jpg": "a"]

    private func planned(
        _ keys: String, destination: String = "o.m4a", covers: [String: String] = known
    ) throws -> (result: BatchPlanner.Result, yaml: String) {
        let yaml = """
            version: 1
            jobs:
              one:
                asset: \(Self.asset)
                tracks: [ { audio: first, encode: { codec: \(destination.hasSuffix("flac") ? "flac" : "aac") } } ]
                \(keys)
                destination: \(Self.folder)/\(destination)

            """
        let (file, sink) = decode(yaml, directory: "/jobs")
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return (BatchPlanner.plan([file], prober: Self.prober(of: covers)), yaml)
    }

    private func task(_ keys: String, covers: [String: String] = known) throws -> OutputTask {
        let (result, yaml) = try planned(keys, covers: covers)
        return try #require(result.plan.jobs.first?.tasks.first, "\(rendered(result.diagnostics, yaml))")
    }

    @Test func planContainsTheCover() throws {
        let task = try task(
            "metadata: { cover: ./art.jpg, set: { title: T } }", covers: ["/jobs/./art.jpg": "a"])
        let cover = try #require(task.output.media?.cover)
        #expect(cover.path == "/jobs/./art.jpg" && cover.image == Self.image("a") && cover.location.line == 6)
        #expect(task.output.media?.covers.isEmpty == true && task.output.metadata.map(\.key) == ["title"])
        let bare = try #require(try self.task("").output.expectedSize)
        #expect(task.output.expectedSize == bare + 90_000)
    }

    @Test func textAndJSONContainTheCover() throws {
        let (result, _) = try planned("metadata: { cover: art.jpg }")
        let text = PlanText.render(result.plan, reasons: { _ in RunReasons(lines: []) })
        #expect(text.contains("  cover      /jobs/art.jpg, JPEG 600x400, 90.0 kB\n"), "\(text)")
        let file = PlanFile(files: ["jobs.yaml"], specs: [], variables: [:], plan: result.plan)
        #expect(try PlanFile.read(file.data()).plan.jobs == result.plan.jobs)
        #expect(result.plan.jobs[0].localFiles == ["/jobs/art.jpg"])
    }

    /// The digest depends on the cover's content, not on its path or time.
    @Test func digestDependsOnTheImagesContent() throws {
        let bare = try PlanDigest(task(""))
        let one = try PlanDigest(task("metadata: { cover: art.jpg }"))
        let moved = try PlanDigest(task("metadata: { cover: /elsewhere/art.jpg }"))
        let changed = try PlanDigest(
            task("metadata: { cover: art.jpg }", covers: ["/jobs/art.jpg": "c"]))
        #expect(one.value == moved.value && one.value != changed.value && one.value != bare.value)
        #expect(one.changes(since: moved) == [])
        let (a, c) = (String(repeating: "a", count: 64), String(repeating: "c", count: 64))
        #expect(
            changed.changes(since: one) == ["cover: JPEG 600x400, SHA-256 \(a) → JPEG 600x400, SHA-256 \(c)"])
        #expect(one.changes(since: bare) == ["cover: added JPEG 600x400, SHA-256 \(a)"])
    }

    @Test func aPlanOfAnotherImageIsRefused() throws {
        let (before, _) = try planned("metadata: { cover: art.jpg }")
        let (now, _) = try planned("metadata: { cover: art.jpg }", covers: ["/jobs/art.jpg": "c"])
        let file = PlanFile(files: ["jobs.yaml"], specs: [], variables: [:], plan: before.plan)
        #expect(file.planProblem(now: before.plan) == nil)
        #expect(file.planProblem(now: now.plan) == "the cover of the job one changed")
    }

    /// Plans with impossible covers, as an untrusted file may contain, are invalid.
    @Test func impossibleCoversAreInvalid() throws {
        let (result, _) = try planned("metadata: { cover: art.jpg }")
        let plan = result.plan.jobs[0]
        #expect(plan.isValid)
        let changes: [(String, (inout OutputPlan) -> Void)] = [
            ("relative path", { $0.media?.cover?.path = "art.jpg" }),
            ("codec", { $0.media?.cover?.image.codec = "gif" }),
            ("width", { $0.media?.cover?.image.width = 0 }),
            ("pixels", { $0.media?.cover?.image = Self.wide }),
            ("size", { $0.media?.cover?.image.size = CoverImage.maxBytes + 1 }),
            ("short digest", { $0.media?.cover?.image.digest = "a" }),
            ("digest", { $0.media?.cover?.image.digest = String(repeating: "g", count: 64) }),
            ("container", { $0.container = "wav" }),
            ("two kinds", { $0.media?.covers = [1] }),
        ]
        for (name, change) in changes {
            var wrong = plan
            change(&wrong.outputs[0])
            #expect(!wrong.isValid, "\(name)")
        }
    }

    @Test(arguments: [
        ("metadata: { cover: none.jpg }", "source-unreadable", "none.jpg: no such file", 6),
        (
            "limit: { size: 80kB }\n    metadata: { cover: art.jpg }", "conflicting-keys",
            "the cover (90.0 kB) exceeds `limit: { size }` (80.0 kB)", 7
        ),
    ])
    func errorsAreLocated(_ keys: String, _ rule: String, _ message: String, _ line: Int) throws {
        let (result, yaml) = try planned(keys)
        let errors = result.diagnostics.diagnostics.filter { $0.severity == .error }
        #expect(errors.map(\.message) == [message], "\(rendered(result.diagnostics, yaml))")
        #expect(errors.map(\.rule.rawValue) == [rule] && errors.map(\.range.line) == [line])
        #expect(result.plan.jobs.isEmpty)
    }

    /// Each output of a job has its own cover, or the job's. An image file is probed and listed once.
    @Test func eachOutputCanHaveItsOwnCover() throws {
        let yaml = """
            version: 1
            defaults: { metadata: { cover: art.jpg } }
            jobs:
              one:
                asset: \(Self.asset)
                outputs:
                  web: { tracks: [ { audio: first, encode: { codec: aac } } ], metadata: { cover: "${output}.jpg" }, destination: \(Self.folder)/o.m4a }
                  flac: { tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(Self.folder)/o.flac }
                  mkv: { tracks: [ { audio: first, encode: { codec: flac } } ], metadata: { keep: none }, destination: \(Self.folder)/o.mka }

            """
        let (file, sink) = decode(yaml, directory: "/jobs")
        let known = try #require(file, "\(rendered(sink, yaml))")
        let plan = BatchPlanner.plan([known], prober: Self.prober(of: Self.known)).plan
        let job = try #require(plan.jobs.first)
        #expect(
            job.outputs.map(\.media?.cover?.path) == ["/jobs/web.jpg", "/jobs/art.jpg", "/jobs/art.jpg"])
        #expect(job.localFiles == ["/jobs/web.jpg", "/jobs/art.jpg"])
    }

    /// The ledger lists the source's covers, with the reason why they are dropped.
    @Test func theSourcesCoverIsReplaced() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=0.2", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=1:duration=1",
            "-map", "0", "-map", "1", "-c:v", "png", "-disposition:v", "attached_pic",
            "-metadata:s:v", "title=Old", scratch.file("a.flac"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=32x32:rate=1", "-frames:v", "1", scratch.file("art.png"))
        let yaml = """
            version: 1
            jobs:
              one: { asset: ./a.flac, metadata: { cover: art.png }, tracks: [ { audio: first, copy: true } ], destination: o.flac }
            """
        let (file, _) = decode(yaml, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        let output = try #require(
            result.plan.jobs.first?.outputs.first, "\(rendered(result.diagnostics, yaml))")
        #expect(output.media?.covers.isEmpty == true && output.media?.cover?.image.width == 32)
        let entry = try #require(output.ledger.first { $0.item.text == "cover png" })
        #expect(entry.outcome == .dropped && entry.reason == "replaced by the cover that the job sets")
    }
}
