import BinaryCoding
import Diagnostics
import Foundation
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The encoded form of outputs of each kind.
@Suite struct OutputPlanTests {
    /// Outputs of a job for each kind, from a test signal.
    static let kinds = [
        "tracks: [ { video: first, encode: { codec: h264, crf: 20 } }, { audio: first, encode: { codec: aac, normalize: -16 } } ]\n    metadata: { set: { title: T }, file_times: now }\n    chapters: [ { start: 0s, title: A } ]\n    expect: { duration: 2s }\n    fragment: 1s\n    destination: o.mp4",
        "tracks: [ { video: first, encode: { codec: h264, bitrate: 90k } } ]\n    limit: { size: 9MB }\n    destination: o.mp4",
        "images: { every: 1s, sheet: { columns: 2, index: vtt } }\n    destination: o.jpg",
        "waveform: { size: 100x50 }\n    destination: o.png",
        "check: {}",
        "outputs: { hd: { tracks: [ { video: first, encode: { codec: h264 } } ] } }\n    package: { destination: out }",
    ]

    /// Returns the plan of a job with the given keys.
    static func plan(_ keys: String) throws -> JobPlan {
        let yaml = """
            version: 1
            assets: { bars: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 2s, tone: 440 } }
            jobs:
              one:
                asset: bars
                \(keys)

            """
        let (file, sink) = decode(yaml)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return try #require(BatchPlanner.plan([file]).plan.jobs.first)
    }

    /// The plan of media is encoded beside the values of the output, by hand: no value is missing. Each one here differs from
    /// its default.
    @Test func everyValueOfMediaIsCoded() throws {
        let place = SourceRange(file: "j.yaml", line: 1, column: 1, endLine: 1, endColumn: 2)
        let second = MediaTime(seconds: 1)
        let image = CoverImage(
            codec: "png", width: 8, height: 8, pixelFormat: .yuv420p, size: 9, digest: "0a")
        let media = MediaPlan(
            optimizesForNetwork: true, fragmentInterval: second,
            segmentation: SegmentationPlan(interval: second, boundaries: [second]),
            metadata: [MetadataEntry(key: "title", value: "T")], requestedTags: ["title"],
            keepsFileTimes: true,
            chapters: [AssetChapter(timeRange: TimeRange(start: .zero, duration: second), title: "A")],
            covers: [3], cover: CoverPlan(path: "/c.png", image: image, location: place), attachments: [4],
            sizeLimit: 5, sizeLimitLocation: place)
        for (value, unset) in zip(
            Mirror(reflecting: media).children, Mirror(reflecting: MediaPlan()).children)
        {
            #expect("\(value.value)" != "\(unset.value)", "\(value.label ?? "")")
        }
        var output = try #require(try Self.plan(Self.kinds[0]).outputs.first)
        output.kind = .media(media)
        let decoded = try JSONDecoder().decode(OutputPlan.self, from: try JSONEncoder().encode(output))
        #expect(decoded.media == media)
    }

    @Test(arguments: kinds) func outputsOfEachKindAreDecodedAsEncoded(_ keys: String) throws {
        let plan = try Self.plan(keys)
        #expect(plan.isValid)
        let json = try JSONDecoder().decode(JobPlan.self, from: JSONEncoder().encode(plan))
        #expect(json == plan)
        #expect(try BinaryDecoder().decode(JobPlan.self, from: BinaryEncoder().encode(plan)) == plan)
    }

    /// A plan from outside with two kinds isn't an output of either.
    @Test func severalKindsAreRejected() throws {
        let images = try Self.plan(Self.kinds[2])
        var object = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(images.outputs[0])) as? [String: Any])
        let check = try Self.plan(Self.kinds[4])
        let other = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(check.outputs[0])) as? [String: Any])
        object["check"] = other["check"]
        let data = try JSONSerialization.data(withJSONObject: object)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(OutputPlan.self, from: data) }
    }

    private static func name(_ path: LeafEncoder.Path) -> String {
        path.keys.joined(separator: ".") + (path.entry.map { " \($0)" } ?? "")
    }

    /// The names of all values that a digest is computed from. They follow from the names of properties: renaming one
    /// would create all outputs again. A renamed property keeps its name in the digest by a coding key.
    @Test func namesInDigestsAreUnchanged() throws {
        var names: Set<String> = []
        let tasks =
            try Self.kinds.flatMap { try Self.plan($0).tasks } + RecipeTests.jobs.flatMap(RecipeTests.tasks)
        for task in tasks {
            for content in [nil, "c"] {
                let digest = try PlanDigest(task, content: content, programs: [])
                names.formUnion(try #require(digest.details).map { Self.name($0.name.path) })
            }
        }
        let text = names.sorted().joined(separator: "\n") + "\n"
        let path = TestPaths.repository + "/Tests/JobPlanTests/digest-names.txt"
        guard let expected = try? String(contentsOfFile: path, encoding: .utf8) else {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            throw ProgramError(message: "\(path) was missing; read it, and run the test again")
        }
        #expect(text == expected)
    }
}
