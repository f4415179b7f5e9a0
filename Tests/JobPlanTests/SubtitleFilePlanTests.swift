import Diagnostics
import ExactStrings
import Foundation
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests plans with tracks of subtitle files. The prober returns descriptions and digests, so no file is read.
@Suite struct SubtitleFilePlanTests {
    private static let film = SourceDescription.file(
        .video(), .audio(), .other(2) { $0.language = "eng" }
    ) { $0.duration = seconds(10) }

    /// A file with a German and an unnamed track.
    private static let subtitles = SourceDescription.file(
        .other(0, codec: "ass") { $0.language = "deu" }, .other(1)
    ) { $0.duration = seconds(8) }

    private static func seconds(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 1) }

    private static func contents(_ digit: String) -> FileContents {
        FileContents(size: 100, digest: String(repeating: digit, count: 64))
    }

    /// Plans one job with rules beside `{ video: first, copy: true }`, with the files of `/jobs` that exist.
    private func planned(
        _ rules: String, keys: String = "", existing: [String] = ["a.srt"],
        file: SourceDescription = subtitles, digit: String = "a"
    ) throws -> (plan: JobPlan?, findings: [String]) {
        let yaml = """
            version: 1
            assets: { titles: { path: a.srt, language: fra } }
            jobs:
              one:
                asset: film.mkv
                tracks: [ { video: first, copy: true }, \(rules) ]
                \(keys)
                destination: o.mkv

            """
        let (decoded, sink) = decode(yaml, directory: "/jobs")
        let jobs = try #require(decoded, "\(rendered(sink, yaml))")
        let prober = FakeProber.subtitles(
            description: { $0 == "film.mkv" ? Self.film : file },
            contents: { name in
                if name == "large.srt" { return .failure(SourceProblem("too large")) }
                return existing.contains(name)
                    ? .success(Self.contents(digit))
                    : .failure(SourceProblem("no such file", isMissing: true))
            }, hasEvents: { name, _ in name != "empty.srt" })
        var disk = FakeDisk("/jobs/film.mkv")
        for name in existing { disk.add("/jobs/\(name)") }
        let result = BatchPlanner.plan([jobs], prober: prober, disk: disk)
        return (
            result.plan.jobs.first,
            result.diagnostics.diagnostics.map {
                "\($0.range.line):\($0.range.column): \($0.message)"
            }
        )
    }

    private func tracks(_ plan: JobPlan?) -> [String] {
        (plan?.outputs.first?.tracks ?? []).dropFirst().map { track in
            let language = track.metadata.first { $0.key == "language" }?.value
            return "\(track.file?.name ?? "-") \(track.source.index) \(track.source.codec) \(language ?? "-")"
        }
    }

    /// The rule selects all tracks of the file, or those that meet its other properties. Indices are those of the file.
    @Test(arguments: [
        ("{ asset: a.srt }", ["a.srt 0 ass deu", "a.srt 1 subrip -"]),
        ("{ asset: titles }", ["a.srt 0 ass deu", "a.srt 1 subrip fra"]),
        ("{ asset: { path: a.srt, language: ita }, index: 1 }", ["a.srt 1 subrip ita"]),
        ("{ asset: a.srt, language: deu }", ["a.srt 0 ass deu"]),
    ])
    func rule_selectsTracksOfTheFile(_ selection: String, _ expected: [String]) throws {
        let (plan, findings) = try planned("{ subtitle: \(selection), copy: true }")
        #expect(findings == [])
        #expect(tracks(plan) == expected)
    }

    /// Other rules select the source's tracks, whatever files are read.
    @Test func otherRules_selectTracksOfTheSource() throws {
        let (plan, findings) = try planned(
            "{ subtitle: all, copy: true }, { subtitle: { asset: a.srt, index: 1 }, encode: { codec: ass } }")
        #expect(findings == [])
        #expect(tracks(plan) == ["- 2 subrip eng", "a.srt 1 subrip -"])
        let output = try #require(plan?.outputs.first)
        #expect(output.tracks[2].file?.path == "/jobs/a.srt")
        #expect(output.tracks[2].file?.contents == Self.contents("a"))
        #expect(plan?.localFiles == ["/jobs/film.mkv", "/jobs/a.srt"])
        // The source's audio is dropped; the track of the file doesn't account for it.
        let entries = output.ledger.map {
            "\($0.file ?? "-") \($0.track ?? -1) \($0.outcome) \($0.item.text)"
        }
        #expect(
            entries == [
                "- 0 copied video h264 1280x720", "- 1 dropped audio aac 48000 Hz stereo",
                "- 2 copied subtitle subrip (eng)", "/jobs/a.srt 1 encoded subtitle subrip",
            ])
    }

    /// A missing file is an error, unless all rules that name it are optional.
    @Test func missingFile_isAnErrorOrOmitted() throws {
        let optional = try planned("{ subtitle: { asset: b.srt }, optional: true, copy: true }")
        #expect(optional.findings == [])
        #expect(optional.plan?.outputs[0].notes == ["optional subtitle dropped: b.srt doesn't exist"])
        #expect(tracks(optional.plan) == [])
        let entry = try #require(
            optional.plan?.outputs[0].ledger.first { $0.item.text == "subtitle file b.srt" })
        #expect(entry.outcome == .dropped && entry.reason == "it doesn't exist")
        let both = try planned(
            "{ subtitle: { asset: large.srt }, optional: true, copy: true }, { subtitle: { asset: large.srt }, copy: true }"
        )
        #expect(both.plan == nil)
        #expect(both.findings == ["6:66: large.srt: too large", "6:130: large.srt: too large"])
    }

    /// A file without a matching track, or without an event, is an error at the rule's selection.
    @Test func filesWithoutSubtitles_areErrors() throws {
        let none = try planned(
            "{ subtitle: { asset: a.srt, language: ita }, copy: true }")
        #expect(
            none.findings == [
                "6:57: no subtitle track matches: a.srt has 2 (0: ass (deu), 1: subrip)"
            ])
        let audio = try planned("{ subtitle: { asset: a.srt }, copy: true }", file: .file(.audio(0)))
        #expect(audio.findings == ["6:57: no subtitle track matches: a.srt has no subtitle"])
        let empty = try planned(
            "{ subtitle: { asset: empty.srt, index: 1 }, copy: true }", existing: ["empty.srt"])
        #expect(
            empty.findings == [
                "6:57: subtitle track 1 of empty.srt has no event before the end of the source"
            ])
        let omitted = try planned(
            "{ subtitle: { asset: empty.srt, index: 1 }, optional: true, copy: true }",
            existing: ["empty.srt"])
        #expect(
            omitted.plan?.outputs[0].notes == [
                "optional subtitle track 1 of empty.srt dropped: it has no event before the end of the source"
            ])
    }

    /// A file ends with the source, or with the job's range. One of another version of the film probably has other times.
    @Test func file_endsWithTheSource() throws {
        var long = Self.subtitles
        long.duration = Self.seconds(70)
        let rule = "{ subtitle: { asset: a.srt, index: 1 }, copy: true }"
        let (plan, findings) = try planned(rule, file: long)
        #expect(
            findings == [
                "6:66: a.srt ends at 1:10, after the source, which ends at 0:10; later subtitles are dropped"
            ])
        #expect(plan?.outputs[0].tracks[1].file?.end == Self.seconds(10))
        let limited = try planned(rule, keys: "limit: { duration: 5s }", file: long)
        #expect(limited.findings == [] && limited.plan?.outputs[0].tracks[1].file?.end == nil)
    }

    /// A rule that doesn't apply needs no file.
    @Test func ruleThatDoesNotApply_readsNoFile() throws {
        let (plan, findings) = try planned(
            "{ subtitle: { asset: none.srt }, when: { video: { height: { min: 2000 } } }, copy: true }")
        #expect(findings == [] && plan?.outputs[0].tracks.count == 1)
    }

    /// The next run would find an optional file that another job creates, and refuse to overwrite it.
    @Test func missingFile_isNoDestination() throws {
        let (plan, findings) = try planned(
            "{ subtitle: { asset: x/../o.mkv }, optional: true, copy: true }")
        #expect(plan == nil || findings.count == 1)
        #expect(
            findings == ["8:18: the destination is also a source, which is never overwritten: /jobs/o.mkv"])
    }

    /// Equal names of different files have the folders that distinguish them.
    @Test func names_areDistinct() {
        let names = FileNames(["/a/b/x.srt", "/a/c/x.srt", "/y.srt"])
        #expect(
            [names["/a/b/x.srt"], names["/a/c/x.srt"], names["/y.srt"], names["/z"]] == [
                "b/x.srt", "c/x.srt", "y.srt", "/z",
            ])
    }

    /// The content determines the digest; the path doesn't.
    @Test func digest_dependsOnTheContent() throws {
        func digest(_ rule: String, _ existing: String, _ digit: String) throws -> PlanDigest {
            let (plan, _) = try planned(
                "{ subtitle: { asset: \(rule), index: 1 }, copy: true }", existing: [existing], digit: digit)
            return try PlanDigest(try #require(plan?.tasks.first))
        }
        let first = try digest("a.srt", "a.srt", "a")
        #expect(try digest("b.srt", "b.srt", "a").value == first.value)
        let changed = try digest("a.srt", "a.srt", "b")
        let (old, new) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        #expect(
            changed.changes(since: first) == ["track 1 file: a.srt, SHA-256 \(old) → a.srt, SHA-256 \(new)"])
    }

    /// The language of an asset applies to tracks that state none, and not to video.
    @Test func languageOfTheAsset_appliesToTracksWithoutOne() throws {
        var description = Self.film
        description.setLanguage("fra")
        #expect(description.tracks.map(\.language) == [nil, "fra", "eng"])
    }

    /// Values of untrusted plans are checked.
    @Test func invalidFiles_areInconsistent() throws {
        let (plan, _) = try planned("{ subtitle: { asset: a.srt, index: 1 }, copy: true }")
        var output = try #require(plan?.outputs.first)
        #expect(output.isValid)
        let valid = try #require(output.tracks[1].file)
        let changes: [(inout SubtitleFilePlan) -> Void] = [
            { $0.path = "a.srt" }, { $0.contents.size = 64_000_001 }, { $0.contents.size = -1 },
            { $0.contents.digest = "A" + $0.contents.digest.dropFirst() },
            { $0.contents.digest.removeLast() },
        ]
        for change in changes {
            output.tracks[1].file = valid
            change(&output.tracks[1].file!)
            #expect(!output.isValid, "\(String(describing: output.tracks[1].file))")
        }
    }
}
