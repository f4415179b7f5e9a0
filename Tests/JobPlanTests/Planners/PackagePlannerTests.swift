import Diagnostics
import JobSpec
import LibAV
import Media
import Publishing
import Streaming
import TestSupport
import Testing

@testable import JobPlan

/// Tests the plan of a package: its renditions, their segments and variants.
@Suite struct PackagePlannerTests {
    private static let source = SourceDescription.file(
        .video(), .audio(), .other(2) { $0.language = "deu" })

    /// Plans a package with the given outputs.
    private func decide(
        _ outputs: [String], _ package: String = "", _ keys: String = "",
        of description: SourceDescription = source, in input: InputPlan.Source = .file,
        prober: FakeProber? = nil
    ) throws -> (decision: Decision<(input: InputPlan, output: OutputPlan)>, findings: [String]) {
        let lines = ["outputs:"] + outputs.map { "  " + $0 }
        let snippet = try JobSnippet(
            lines.joined(separator: "\n    "),
            "package: { destination: out/p\(package.isEmpty ? "" : ", " + package) }",
            keys, to: nil)
        guard let output = snippet.job.outputs.last, let spec = output.package,
            let written = output.destination
        else { throw ProgramError(message: "no package") }
        let decision = PackagePlanner(
            job: snippet.job, output: output, spec: spec, input: ResolvedInput(input, description),
            destination: try #require(DestinationPath("/jobs/out/p", on: FakeDisk(folders: ["/jobs"]))),
            written: written,
            prober: prober
                ?? FakeProber { request in
                    if case .trial = request.subject { return .success(.verdict(.valid)) }
                    return .success(.presence(true))
                },
            files: AddedFiles()
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    private static let hd = "hd: { tracks: [ { video: first, encode: { codec: h264 } } ] }"
    private static let sd = "sd: { tracks: [ { video: first, encode: { codec: h264, size: 640x } } ] }"
    private static let main = "main: { tracks: [ { audio: first, language: eng, encode: { codec: aac } } ] }"
    private static let text =
        "text: { tracks: [ { subtitle: first, title: Untertitel, encode: { codec: webvtt } } ] }"

    @Test func renditionsHaveOneTrackInSegments() throws {
        let (decision, findings) = try decide([Self.hd, Self.sd, Self.main, Self.text], "segment: 4s")
        #expect(findings == [])
        let output = try #require(decision.value?.output)
        let package = try #require(output.package)
        #expect(
            output.destination == "/jobs/out/p" && output.destinationKind == .folder && output.tracks.isEmpty)
        #expect(package.renditions.map(\.output.id) == ["hd", "sd", "main", "text"])
        #expect(package.renditions.map(\.output.container) == ["mp4", "mp4", "mp4", "webvtt"])
        #expect(package.renditions.map(\.output.media?.segmentation?.interval) == [s(4), s(4), s(4), nil])
        #expect(package.renditions.map(\.language) == [nil, nil, "eng", "deu"])
        #expect(package.renditions[3].title == "Untertitel")
        #expect(output.isValid && output.expectedDuration == s(10))
        #expect(output.written.map(\.id) == ["hd", "sd", "main", "text"])
    }

    @Test(arguments: [("every: 3s", 3, 4), ("count: 4", 2.5, 4)])
    func thumbnailsAreASheetAtEqualIntervals(_ selection: String, interval: Double, count: Int) throws {
        let sheet = "previews: { images: { \(selection), size: 160x, sheet: { columns: 3 } } }"
        let (decision, findings) = try decide([Self.hd, sheet, Self.main], "thumbnails: previews")
        #expect(findings == [])
        let output = try #require(decision.value?.output)
        let package = try #require(output.package)
        #expect(output.isValid && package.thumbnailInterval == s(interval))
        let images = try #require(package.renditions[1].output.images)
        #expect(images.stills.count == count && images.sheet?.columns == 3 && images.sheet?.rows == 2)
        #expect(package.renditions[1].output.media?.segmentation == nil)
        #expect(package.variants == [StreamingVariant(video: "hd", audio: "main")])
        // A plan from outside whose thumbnails have no interval is refused.
        var (changed, other) = (output, package)
        other.thumbnailInterval = nil
        changed.kind = .package(other)
        #expect(!changed.isValid)
    }

    /// A plan from outside whose renditions are divided otherwise than the package is refused.
    @Test func renditionsAreDividedAsThePackage() throws {
        let output = try #require(try decide([Self.hd, Self.main]).decision.value?.output)
        let package = try #require(output.package)
        let changes: [(inout PackagePlan) -> Void] = [
            { $0.segment = s(3) }, { $0.segment = s(0.5) },
            { $0.renditions[0].output.media?.segmentation = nil },
            { $0.renditions[1].output.media?.segmentation?.interval = s(1) },
        ]
        for (index, change) in changes.enumerated() {
            var (changed, other) = (output, package)
            change(&other)
            changed.kind = .package(other)
            #expect(output.isValid && !changed.isValid, "change \(index)")
        }
    }

    @Test func thumbnailsAloneAreNoPackage() throws {
        let sheet = "previews: { images: { every: 1s, sheet: { columns: 3 } } }"
        let text = "hd: { tracks: [ { video: first, optional: true, encode: { codec: h264 } } ] }"
        let findings = try decide([text, sheet], "thumbnails: previews", of: .file(.audio())).findings
        #expect(!findings.isEmpty)
    }

    @Test func withoutVariantsEveryVideoHasEveryAudio() throws {
        let second = "second: { tracks: [ { audio: first, encode: { codec: ac3 } } ] }"
        let variants = try #require(
            try decide([Self.hd, Self.sd, Self.main, second]).decision.value?.output.package
        ).variants
        #expect(
            variants.map { [$0.video, $0.audio] } == [
                ["hd", "main"], ["hd", "second"], ["sd", "main"], ["sd", "second"],
            ])
        let alone = try #require(try decide([Self.main]).decision.value?.output.package).variants
        #expect(alone == [StreamingVariant(video: nil, audio: "main")])
    }

    @Test func optionalRenditionWithoutATrackIsLeftOut() throws {
        let optional =
            "more: { tracks: [ { audio: { language: fra }, optional: true, encode: { codec: aac } } ] }"
        let (decision, findings) = try decide(
            [Self.hd, Self.main, optional],
            "variants: [ { video: hd, audio: main }, { video: hd, audio: more } ]")
        let package = try #require(decision.value?.output.package)
        #expect(findings == [] && package.renditions.count == 2)
        #expect(package.variants.map { [$0.video, $0.audio] } == [["hd", "main"], ["hd", nil]])
        #expect(decision.reasons.notes.contains { $0.hasPrefix("more: ") })
    }

    @Test func ruleThatSelectsSeveralTracksIsAnError() throws {
        let all = "all: { tracks: [ { audio: all, encode: { codec: aac } } ] }"
        let two = SourceDescription.file(.video(), .audio(), .audio(2))
        #expect(try decide([Self.hd, all], of: two).findings == ["no-such-track at all"])
    }

    @Test(arguments: [
        ("25", "50", "4s", true), ("25", "24", "4s", true), ("25", "24", "1500ms", false),
        ("25", "30000/1001", "4s", false),
    ])
    func frameRatesMustHaveWholeSegments(first: String, second: String, segment: String, isValid: Bool) throws
    {
        func output(_ id: String, _ rate: String) -> String {
            "\(id): { tracks: [ { video: first, encode: { codec: h264, frame_rate: \(rate) } } ] }"
        }
        let (decision, findings) = try decide(
            [output("a", first), output("b", second)], "segment: \(segment)")
        #expect((decision.value != nil) == isValid)
        #expect(findings == (isValid ? [] : ["invalid-value at b"]))
    }

    @Test func encoderWithoutKeyframeControlIsAnError() throws {
        let output =
            "a: { tracks: [ { video: first, encode: { codec: av1, encoder: libsvtav1, bitrate: 1M } } ] }"
        #expect(try decide([output]).findings.map { $0.prefix(13) } == ["codec-setting"])
    }

    @Test func codecWithoutAManifestStringIsAnError() throws {
        let output = "a: { tracks: [ { audio: first, encode: { codec: vorbis } } ] }"
        let findings = try decide([output, Self.hd]).findings
        #expect(findings.count == 1 && findings[0].hasPrefix("container-codec"), "\(findings)")
        let copy = "a: { tracks: [ { audio: first, copy: true } ] }"
        #expect(
            try decide([copy], of: .file(.audio(0, codec: "dts"))).findings.map { $0.prefix(15) } == [
                "container-codec"
            ])
    }

    /// Renditions, package and plan text name the container, and the digest contains it.
    @Test func transportStreamsAreTheContainerOfAllSegments() throws {
        let (decision, findings) = try decide(
            [Self.hd, Self.main, Self.text], "formats: [hls], container: ts, iframes: true")
        #expect(findings == [])
        let output = try #require(decision.value?.output)
        let package = try #require(output.package)
        #expect(package.container == .ts && output.container == "ts" && output.isValid)
        #expect(package.renditions.map(\.output.container) == ["ts", "ts", "webvtt"])
        #expect(package.renditions.map(\.output.media?.fragmentInterval) == [nil, nil, nil])
        #expect(
            package.summary(of: output) == "HLS, segments of 6 s in ts, a file each, playlists of keyframes")
        #expect(package.renditions[2].title == "Untertitel")
        // A plan from outside with another container is refused.
        let changes: [(inout OutputPlan, inout PackagePlan) -> Void] = [
            { $1.formats = [.hls, .dash] }, { $1.container = .mp4 },
            { output, _ in output.container = "mp4" },
            { $1.renditions[0].output.container = "mp4" },
        ]
        for (index, change) in changes.enumerated() {
            var (changed, other) = (output, package)
            change(&changed, &other)
            changed.kind = .package(other)
            #expect(!changed.isValid, "change \(index)")
        }
    }

    /// The ledger lists a language and a title that only the manifests contain as kept.
    @Test func languageAndTitleOfTheSource_areInTheManifests() throws {
        let source = SourceDescription.file(
            .video(),
            .audio {
                ($0.language, $0.title) = ("eng", "Main")
                $0.tags = [
                    MetadataEntry(key: "language", value: "eng"), MetadataEntry(key: "title", value: "Main"),
                    MetadataEntry(key: "handler_name", value: "SoundHandler"),
                ]
            })
        func outcomes(_ audio: String) throws -> [LedgerItem: LedgerEntry.Outcome] {
            let (decision, findings) = try decide(
                [Self.hd, audio], "formats: hls, container: ts", of: source)
            #expect(findings == [])
            let ledger = try #require(decision.value?.output.ledger)
            return Dictionary(
                ledger.filter { $0.track == 1 }.map { ($0.item, $0.outcome) }, uniquingKeysWith: { $1 })
        }
        let kept = try outcomes("main: { tracks: [ { audio: first, encode: { codec: aac } } ] }")
        #expect(kept[.tag("language")] == .copied && kept[.tag("title")] == .copied)
        #expect(kept[.tag("handler_name")] == .dropped)
        let named = try outcomes(
            "main: { tracks: [ { audio: first, title: Other, encode: { codec: aac } } ] }")
        #expect(named[.tag("language")] == .copied && named[.tag("title")] == .dropped)
    }

    @Test(arguments: [
        ("hevc", "container-codec at { video: first, copy: true }"), ("av1", "container-codec at copy"),
        ("h264", nil),
    ]) func copiedVideoOfATransportStreamIsH264(codec: String, finding: String?) throws {
        let (_, findings) = try decide(
            [Self.copy], "formats: hls, container: ts", of: .file(.video(codec: codec)),
            prober: prober([0, 6]))
        #expect(findings == [finding].compactMap(\.self))
    }

    private static let copy = "copy: { tracks: [ { video: first, copy: true } ] }"

    private func prober(_ keyframes: [Double]) -> FakeProber {
        FakeProber { request in
            switch request.subject {
            case .trial: .success(.verdict(.valid))
            case .keyFrames: .success(.keyFrames(keyframes.map(s)))
            case .order: .success(.order(nil))
            case .presentationTimes: .success(.presentationTimes(true))
            default: nil
            }
        }
    }

    @Test func keyframesOfACopyDetermineTheSegmentsOfAllRenditions() throws {
        let (decision, findings) = try decide(
            [Self.copy, Self.sd, Self.main], "segment: 2s", prober: prober([0, 1, 2.5, 3, 6.2, 7, 8, 9]))
        #expect(findings == [])
        let package = try #require(decision.value?.output.package)
        let boundaries = package.renditions.map(\.output.media?.segmentation?.boundaries)
        // The first keyframe at or after each multiple of 2 s.
        #expect(boundaries == Array(repeating: [2.5, 6.2, 8].map(s), count: 3))
    }

    @Test func startsAreTheFirstTimesAtOrAfterEachMultiple() {
        #expect(PackagePlanner.starts([1, 2, 3, 3.9, 9, 9.1].map(s), every: s(2)) == [2, 9].map(s))
        #expect(PackagePlanner.starts([], every: s(2)) == [])
    }

    @Test func copyFromATestSignalIsAnError() throws {
        let pattern = InputPlan.Source.job(id: "x", path: "/x.mp4")
        let findings = try decide([Self.copy], in: pattern).findings
        #expect(findings.count == 1 && findings[0].hasPrefix("copy-range"))
    }

    @Test func tooManySegmentsAreAnError() throws {
        let long = SourceDescription.file(.video(over: span(0, 200_000)))
        #expect(try decide([Self.hd], "segment: 1s", of: long).findings == ["invalid-value at 1s"])
    }

    @Test func digestChangesWithSegmentsAndVariantsButNotWithNotes() throws {
        func digest(_ package: String, _ outputs: [String] = [Self.hd, Self.main]) throws -> String {
            let (input, output) = try #require(try decide(outputs, package).decision.value)
            let task = OutputTask(job: "one", file: "jobs.yaml", input: input, output: output)
            return try PlanDigest(task, programs: []).value.recipe
        }
        let plain = try digest("segment: 4s")
        #expect(try digest("segment: 4000ms") == plain)
        #expect(try digest("segment: 5s") != plain)
        let playlists = try digest("segment: 4s, formats: [hls]")
        #expect(playlists != plain)
        #expect(try digest("segment: 4s, formats: [hls], container: mp4") == playlists)
        #expect(try digest("segment: 4s, formats: [hls], container: ts") != playlists)
        #expect(try digest("segment: 4s, files: single") != plain)
        #expect(try digest("segment: 4s, variants: [ { video: hd }, { audio: main } ]") != plain)
    }
}
