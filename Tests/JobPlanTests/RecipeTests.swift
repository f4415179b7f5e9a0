import Diagnostics
import FileSystem
import Foundation
import JobSpec
import LibAV
import Media
import Streaming
import TestSupport
import Testing

@testable import JobPlan

/// Every value of the plans of `jobs` either determines the digest or is listed in `annotation-names.txt`.
@Suite struct RecipeTests {
    /// Keys of a job for each kind of source.
    static let jobs = [
        // A file
        """
        asset: a.mp4
        range: { start: 1s, end: 4s }
        tracks: [ { video: first, encode: { codec: h264, crf: 20 } }, { audio: first, encode: { codec: aac } } ]
        metadata: { set: { title: T, comment: "" }, cover: art.jpg, file_times: keep }
        chapters: [ { start: 0s, title: A } ]
        expect: { duration: 3s }
        destination: { path: new/o.mp4, if_exists: replace }
        """,
        "{ asset: a.mp4, tracks: [ { video: first, copy: true } ], destination: copy.mov }",
        "{ asset: a.mp4, images: { every: 2s, sheet: { columns: 2, index: vtt } }, destination: o.jpg }",
        "{ asset: a.mp4, check: {} }",
        // Images
        """
        asset: { images: "frame-%04d.png", frame_rate: 12 }
        tracks: [ { video: first, encode: { codec: h264, crf: 20 } } ]
        destination: o.mp4
        """,
        // A composition
        """
        composition:
          sequence: [ a.mp4, { join: dissolve, overlap: 1s }, { asset: b.mp4, range: { start: 1s, end: 3s } } ]
          layers:
            - { asset: { image: logo.png, duration: 3s, frame_rate: 25 }, at: 1s, place: { right: 40, top: 40, width: 12% } }
          audio:
            - { id: voice, asset: a.mp4, at: 2s, fade_in: 1s }
        tracks: [ { video: first, encode: { codec: h264, crf: 20 } }, { audio: first, encode: { codec: aac } } ]
        destination: o.mp4
        """,
        // A package
        """
        asset: a.mp4
        outputs:
          hd: { tracks: [ { video: first, encode: { codec: h264, crf: 20 } } ] }
          main: { tracks: [ { audio: first, encode: { codec: aac } } ] }
          sheet: { images: { every: 2s, size: 160x, sheet: { columns: 5 } } }
        package: { destination: out, thumbnails: sheet }
        """,
        """
        asset: a.mp4
        outputs: { hd: { tracks: [ { video: first, encode: { codec: h264, crf: 20 } } ] } }
        package: { destination: out, formats: [hls], container: ts }
        """,
    ]

    private static let video = SourceDescription.file(
        .video { $0.bitRate = 800_000 }, .audio { $0.tags = [MetadataEntry(key: "language", value: "deu")] }
    ) {
        $0.metadata = [MetadataEntry(key: "artist", value: "A")]
        $0.chapters = [AssetChapter(timeRange: span(0, 10), title: "all")]
    }

    private static var prober: FakeProber {
        FakeProber { request in
            switch request.subject {
            case .description: .success(.description(video))
            case .images(let sequence):
                .success(
                    .description(
                        .file(
                            .video(
                                640, 480, codec: "png", format: "rgb24", rate: sequence.frameRate,
                                over: TimeRange(start: .zero, duration: sequence.duration)),
                            container: "image2")))
            case .cadence:
                .success(.cadence(FrameCadence(frameRate: Rational(25, 1), isConstant: true)))
            case .cover: .success(.cover(CoverPlanTests.image("a")))
            case .trial: .success(.verdict(.valid))
            default: nil
            }
        }
    }

    /// Returns the outputs of a job.
    static func tasks(_ keys: String) throws -> [OutputTask] {
        let lines = keys.split(separator: "\n").map { "    " + $0 }
        let yaml = (["version: 1", "jobs:", "  one:"] + lines).joined(separator: "\n") + "\n"
        let (file, sink) = decode(yaml, file: "/jobs/jobs.yaml", directory: "/jobs")
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        var disk = FakeDisk("/jobs/a.mp4", "/jobs/b.mp4", "/jobs/logo.png", "/jobs/art.jpg")
        for number in 3..<39 { disk.add("/jobs/frame-\(number < 10 ? "000" : "00")\(number).png") }
        let result = BatchPlanner.plan([file], prober: prober, disk: disk)
        return try #require(result.plan.jobs.first, "\(rendered(result.diagnostics, yaml))").tasks
    }

    /// Names of the values of the plans, such as `output.tracks.#.metadata.#.key`.
    private struct Names {
        /// Values that change the digest.
        var recipe: Set<String> = []
        /// Values that don't change the digest.
        var annotations: Set<String> = []
        /// Values for which no other one was found.
        var unchanged: Set<String> = []
    }

    /// Changes each value of the encoded plans whose name has a prefix, and returns which of them change the digest.
    private static func names(_ prefix: String = "", byContent content: String? = nil) throws -> Names {
        let tasks = try jobs.flatMap(tasks)
        let values = try tasks.map { try JSONDecoder().decode(JSON.self, from: JSONEncoder().encode($0)) }
        // Texts of an enumeration are tried in place of each other.
        let texts = Dictionary(
            grouping: values.flatMap(\.leaves).compactMap { path, leaf in
                if case .text(let text) = leaf { (key: path.last?.text ?? "", text: text) } else { nil }
            }, by: \.key
        ).mapValues { Set($0.map(\.text)).sorted() }
        var names = Names()
        for (task, value) in zip(tasks, values) {
            let digest = try PlanDigest(task, content: content, programs: []).value.recipe
            for (path, leaf) in value.leaves {
                let name = path.map(\.name).joined(separator: ".")
                guard name.hasPrefix(prefix) else { continue }
                let others = leaf.others(texts[path.last?.text ?? ""] ?? [])
                let changed = others.lazy.compactMap { other -> OutputTask? in
                    guard let data = try? JSONEncoder().encode(value.replacing(path[...], with: other)),
                        let changed = try? JSONDecoder().decode(OutputTask.self, from: data)
                    else { return nil }
                    return changed == task ? nil : changed
                }.first
                guard let changed else {
                    names.unchanged.insert(name)
                    continue
                }
                if try PlanDigest(changed, content: content, programs: []).value.recipe == digest {
                    names.annotations.insert(name)
                } else {
                    names.recipe.insert(name)
                }
            }
        }
        return names
    }

    @Test func everyValueIsPartOfTheRecipeOrAListedAnnotation() throws {
        let names = try Self.names()
        #expect(names.annotations.intersection(names.recipe) == [])
        #expect(names.unchanged.subtracting(names.recipe).subtracting(names.annotations) == [])
        let text = names.annotations.sorted().joined(separator: "\n") + "\n"
        let path = TestPaths.repository + "/Tests/JobPlanTests/annotation-names.txt"
        guard let expected = try? String(contentsOfFile: path, encoding: .utf8) else {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            throw ProgramError(message: "\(path) was missing; read it, and run the test again")
        }
        #expect(text == expected)
    }

    /// Sources that are identified by content may be moved, copied and touched.
    @Test func pathsAndIdentitiesAreAnnotationsOfSourcesByContent() throws {
        let source = "input.source."
        #expect(
            try Self.names(source, byContent: "c").annotations == [
                source + "file.identity.device", source + "file.identity.inode",
                source + "file.identity.modified", source + "file.identity.modifiedNanoseconds",
                source + "file.path", source + "images.identity", source + "images._0.path",
                source + "composition.identities.#", source + "composition._0.sources.#.file._0",
                source + "composition._0.sources.#.images._0.path",
            ])
    }

    /// The time of a source that is identified by content matters only for an output that receives it.
    @Test(arguments: [(0, true), (1, false)]) func timesMatterIfTheyAreKept(_ job: Int, _ isKept: Bool) throws
    {
        let task = try #require(try Self.tasks(Self.jobs[job]).first)
        guard case .file(let path, var identity) = task.input.source else {
            throw ProgramError(message: "no file")
        }
        var touched = task
        identity.modifiedNanoseconds += 1
        touched.input.source = .file(path: path, identity: identity)
        let digests = try [task, touched].map { try PlanDigest($0, content: "c").value }
        #expect((digests[0] != digests[1]) == isKept)
    }
}

/// A JSON value.
private enum JSON: Codable {
    case flag(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case text(String)
    case list([JSON])
    case object([String: JSON])
    case null

    /// A step to a nested value.
    enum Step {
        case key(String)
        case index(Int)

        /// The key, or an equal text for all indices.
        var name: String { if case .key(let key) = self { key } else { "#" } }
        var text: String? { if case .key(let key) = self { key } else { nil } }
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let unsigned = try? value.decode(UInt64.self) {
            self = .unsigned(unsigned)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .unsigned(let unsigned): try value.encode(unsigned)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .list(let list): try value.encode(list)
        case .object(let object): try value.encode(object)
        case .null: try value.encodeNil()
        }
    }

    /// All numbers, flags and texts with their paths.
    var leaves: [(path: [Step], leaf: JSON)] {
        switch self {
        case .list(let list):
            list.enumerated().flatMap { index, value in
                value.leaves.map { ([.index(index)] + $0.path, $0.leaf) }
            }
        case .object(let object):
            object.sorted { $0.key < $1.key }.flatMap { key, value in
                value.leaves.map { ([.key(key)] + $0.path, $0.leaf) }
            }
        case .null: []
        default: [([], self)]
        }
    }

    /// Returns the value with another leaf at a path.
    func replacing(_ path: ArraySlice<Step>, with leaf: JSON) -> JSON {
        switch (self, path.first) {
        case (.list(var list), .index(let index)):
            list[index] = list[index].replacing(path.dropFirst(), with: leaf)
            return .list(list)
        case (.object(var object), .key(let key)):
            object[key] = object[key]?.replacing(path.dropFirst(), with: leaf)
            return .object(object)
        default: return leaf
        }
    }

    /// Words of enumerations that the plans contain with one word only.
    private static let words: [String] =
        ["mono"] + ColorRange.allCases.map(\.rawValue) + AssetTiming.allCases.map(\.rawValue)
        + DamagePolicy.allCases.map(\.rawValue)
        + Deinterlacing.allCases.map(\.rawValue) + JoinKind.allCases.map(\.rawValue)
        + LeadIn.allCases.map(\.rawValue) + PackageFiles.allCases.map(\.rawValue)

    /// Values to try in place of a leaf. The first one that a plan can contain is used.
    func others(_ texts: [String]) -> [JSON] {
        switch self {
        case .flag(let flag): [.flag(!flag)]
        case .integer(let integer): [.integer(integer + 1), .integer(integer - 1)]
        case .unsigned(let unsigned): [.unsigned(unsigned - 1)]
        case .number(let number): [.number(number + 1)]
        case .text(let text): (["\(text)x", "7/3"] + texts + Self.words).filter { $0 != text }.map(JSON.text)
        case .list, .object, .null: []
        }
    }
}
