import BinaryCoding
import Diagnostics
import Foundation
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The digest depends on everything that determines an output, and on no annotation.
@Suite struct PlanDigestTests {
    static func task() throws -> OutputTask {
        let yaml = """
            version: 1
            assets: { bars: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 1s } }
            jobs:
              one:
                asset: bars
                range: { end: 480ms }
                tracks: [ { video: first, encode: { codec: h264, crf: 20 } } ]
                metadata: { set: { title: T } }
                destination: out/one.mp4
            """
        let (file, sink) = decode(yaml)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return try #require(BatchPlanner.plan([file]).plan.jobs.first?.tasks.first)
    }

    private func value(after change: (inout OutputTask) throws -> Void) throws -> DigestValue {
        var task = try Self.task()
        try change(&task)
        return try PlanDigest(task).value
    }

    @Test func annotationsAreNotPartOfTheDigest() throws {
        let changes: [(inout OutputTask) throws -> Void] = [
            { $0.job = "two" }, { $0.file = "other.yaml" }, { $0.input.damagePolicy = .skip },
            { $0.output.id = "hd" }, { $0.output.input = 3 }, { $0.output.destination = "/elsewhere.mp4" },
            { $0.output.ifExists = .replace }, { $0.output.makesDirectories = false },
            { $0.output.ledger = [] }, { $0.output.notes = ["a note"] }, { $0.output.expectedSize = 7 },
            { $0.output.expectedDuration = MediaTime(value: 9, timescale: 1) },
            { $0.output.tracks[0].expected.frames = 3 }, { $0.output.tracks[0].expected.isExact.toggle() },
            {
                $0.input.requestedRange = TimeRange(start: .zero, duration: MediaTime(value: 9, timescale: 1))
            },
            { $0.output.media?.requestedTags = ["title"] }, { $0.output.location = .startOfFile("x.yaml") },
            { $0.output.tracks[0].requestedTags = ["language"] }, { $0.output.tracks[0].deviation = "d" },
            { $0.output.tracks[0].fallbackReason = "it can't be copied" },
            { task in
                var encoding = try task.encoding
                encoding.requestedColor = ["range"]
                task.output.tracks[0].action = .encode(encoding)
            },
        ]
        let original = try value { _ in }
        for (index, change) in changes.enumerated() {
            #expect(try value(after: change) == original, "change \(index)")
        }
    }

    @Test func theRecipeIsPartOfTheDigest() throws {
        let changes: [(inout OutputTask) throws -> Void] = [
            { $0.output.container = "mov" }, { $0.output.media?.optimizesForNetwork.toggle() },
            { $0.output.media?.metadata[0].value = "U" }, { $0.output.media?.keepsFileTimes.toggle() },
            { $0.output.media?.sizeLimit = 1_000_000 }, { $0.input.range = nil },
            { $0.output.tracks[0].disposition = ["forced"] },
            { $0.output.tracks[0].action = .copy },
            { task in
                var encoding = try task.encoding
                encoding.encoder.bitRate = 4711
                task.output.tracks[0].action = .encode(encoding)
            },
        ]
        let original = try value { _ in }
        for (index, change) in changes.enumerated() {
            #expect(try value(after: change) != original, "change \(index)")
        }
    }

    /// Texts for the user can be reworded without creating all outputs again.
    @Test func textsThatDescribeSettingsAreNotPartOfTheDigest() throws {
        let changed = try value {
            var encoding = try $0.encoding
            encoding.settings = [TrackPlan.Setting(key: "quality", value: "20 of 51", origin: .job)]
            $0.output.tracks[0].action = .encode(encoding)
        }
        #expect(try changed == value { _ in })
    }

    /// Outputs whose digest an earlier version computed from the same values in another way have a reason to be created.
    @Test func aDigestOfAnotherVersionIsAChange() throws {
        let now = try PlanDigest(Self.task())
        var before = now
        before.value.recipe = "another"
        #expect(now.relation(to: before.value) == .other)
        #expect(now.changes(since: before) == ["the output was created by an earlier version of Tandem"])
    }

    /// The names of values in digests of earlier versions differ; they aren't reported as changes.
    @Test(arguments: [nil, 2]) func namesOfAnEarlierLayout_areNotCompared(_ layout: Int?) throws {
        let now = try PlanDigest(Self.task())
        var stored = try #require(
            JSONSerialization.jsonObject(with: JSONEncoder().encode(now)) as? [String: Any])
        stored["layout"] = layout
        stored["parts"] = [["key": "container", "value": "mov"]]
        stored["details"] = [["key": "source job path", "value": "/x/a.mp4"]]
        var before = try JSONDecoder().decode(
            PlanDigest.self, from: JSONSerialization.data(withJSONObject: stored))
        before.value.recipe = "another"
        #expect(now.changes(since: before) == ["the output was created by an earlier version of Tandem"])
    }

    @Test func digestsAreDecodedAsEncoded() throws {
        let digest = try PlanDigest(Self.task())
        #expect(try JSONDecoder().decode(PlanDigest.self, from: JSONEncoder().encode(digest)) == digest)
    }

    @Test(arguments: ["", "ab", "ab~", "ab+c", "ab~+c"]) func recordedValuesKeepTheirText(_ text: String) {
        let value = DigestValue(text)
        #expect(value.text == text)
        #expect(value.skippedDamage == text.contains("~"))
        #expect(value.expectations == (text.contains("+") ? "c" : nil))
    }

    @Test(arguments: [
        LedgerItem.tag("title"), .tag(""), .sideData(.masteringDisplay), .named("video h264 64x48"),
        .displayMatrix,
    ]) func ledgerItemsAreCodedAsText(_ item: LedgerItem) throws {
        let data = try JSONEncoder().encode([item])
        #expect(try JSONDecoder().decode([String].self, from: data) == [item.text])
        #expect(try JSONDecoder().decode([LedgerItem].self, from: data) == [item])
    }
}

/// Names of the values of a digest, by which changes that follow from others are recognized.
@Suite struct RecipeNameTests {
    /// Returns the names of the values of plans that belong to a subject, for the user.
    private func names(of subject: RecipeName.Subject) throws -> Set<String> {
        let tasks = try RecipeTests.jobs.flatMap(RecipeTests.tasks)
        let values = try tasks.flatMap { try #require(PlanDigest($0, programs: []).details) }
        return Set(values.map(\.name).filter { $0.subject == subject }.map(\.description))
    }

    @Test(
        arguments: [
            (.source, "source path", "source description duration"),
            (.range, "range start", "range duration"),
            (.cover, "cover image width", "cover image digest"),
            (.track(0, .source), "track 0 source width", "track 0 source codec"),
            (.track(0, .setting), "track 0 encoder width", "track 0 video fit"),
            (.track(1, .setting), "track 1 encoder sample rate", "track 1 audio sample rate"),
            (.track(0, .other), "track 0 codec", "track 0 two passes"),
            (
                .rendition(.source), "package renditions 0 track 0 source width",
                "package renditions 1 track 0 source codec"
            ),
            (
                .rendition(.setting), "package renditions 0 track 0 encoder width",
                "package renditions 1 track 0 audio sample rate"
            ),
            (.other, "container", "metadata title"),
        ] as [(RecipeName.Subject, String, String)])
    func namesStateTheirSubject(_ subject: RecipeName.Subject, _ one: String, _ other: String) throws {
        let names = try names(of: subject)
        #expect(names.contains(one) && names.contains(other), "\(names.sorted())")
    }

    /// Options and tags are named by their keys; a key that looks like a property is kept.
    @Test func entriesHaveTheirKeysAsNames() throws {
        var task = try PlanDigestTests.task()
        task.output.media?.metadata = [
            MetadataEntry(key: "encode", value: "E"), MetadataEntry(key: "artist", value: "A"),
            MetadataEntry(key: "artist", value: "B"),
        ]
        let details = try #require(PlanDigest(task, programs: []).details)
        let tags = details.filter { $0.name.description.hasPrefix("metadata") }
        #expect(
            Set(tags.map { "\($0.name): \($0.value)" }) == [
                "metadata encode: E", "metadata 0 artist: A", "metadata 1 artist: B",
            ])
        task.output.media?.metadata.swapAt(0, 1)
        #expect(try PlanDigest(task, programs: []).details == details)
    }

    /// Values with other boundaries between names and texts have other lines.
    @Test func linesOfDifferentValuesDiffer() {
        let values = [("a", "b = c"), ("a = b", "c"), ("a", "b"), ("", "b")].map { entry, value in
            RecipeValue(name: RecipeName(path: LeafEncoder.Path(keys: ["k"], entry: entry)), value: value)
        }
        #expect(Set(values.map(\.line)).count == values.count)
    }

    /// A changed setting is one line, although the encoder's configuration changes with it.
    @Test func changesThatFollowFromOthersAreOmitted() throws {
        let digest = { (size: String, width: String) in
            var digest = try PlanDigest(PlanDigestTests.task(), programs: [])
            func detail(_ track: String, _ part: String, _ value: String) -> RecipeValue {
                let keys = ["output", "tracks", track, "action", "encode", "_0", part, "width"]
                return RecipeValue(name: RecipeName(path: LeafEncoder.Path(keys: keys)), value: value)
            }
            digest.parts = [PlanPart(.setting(.index(0), key: "size"), size)]
            digest.details = [
                detail("0", "video", width), detail("0", "encoder", width),
                detail("1", "encoder", "w" + width),
            ]
            digest.value = DigestValue(size + width)
            return digest
        }
        let changes = try digest("b", "2").changes(since: digest("a", "1"))
        #expect(changes == ["track 0 size: a → b", "track 1 encoder width: w1 → w2"])
    }
}

extension OutputTask {
    /// The encoding of the first track. Throws if the track is not encoded.
    fileprivate var encoding: TrackPlan.Encoding {
        get throws {
            guard case .encode(let encoding) = output.tracks[0].action else {
                throw ProgramError(message: "the track is not encoded")
            }
            return encoding
        }
    }
}
