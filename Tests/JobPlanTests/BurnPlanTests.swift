import Diagnostics
import ExactStrings
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests plans with burned subtitles (`BurnPlanner`, `SubtitleStylePlanner`). The prober returns descriptions and digests, so no file is read.
@Suite struct BurnPlanTests {
    private static let film = SourceDescription.file(
        .video(), .other(1) { $0.language = "eng" }, .other(2, codec: "hdmv_pgs_subtitle"),
        .other(3, codec: "hdmv_text_subtitle") { $0.language = "fra" }
    ) { $0.duration = s(10) }

    private static func contents(_ digit: String) -> FileContents {
        FileContents(size: 100, digest: String(repeating: digit, count: 64))
    }

    /// Plans one job with a `burn`, for a film with tracks 1 (SRT), 2 (PGS) and 3, or for a file `a.srt`.
    private func planned(
        _ burn: String, encode: String = "codec: h264", keys: String = "", asset: String = "film.mkv",
        film: SourceDescription = film, existing: [String] = ["a.srt"], digit: String = "a"
    ) throws -> (plan: JobPlan?, findings: [String]) {
        let yaml = """
            version: 1
            jobs:
              one:
                asset: \(asset)
                tracks: [ { video: first, encode: { \(encode), burn: \(burn) } } ]
                \(keys)
                destination: o.mkv

            """
        let (decoded, sink) = decode(yaml, directory: "/jobs")
        let jobs = try #require(decoded, "\(rendered(sink, yaml))")
        let prober = FakeProber.subtitles(
            description: { $0 == "film.mkv" ? film : .file(.other(0)) },
            contents: { name in
                existing.contains(name)
                    ? .success(Self.contents(digit))
                    : .failure(SourceProblem("no such file", isMissing: true))
            }, hasEvents: { $1 != 3 })
        var disk = FakeDisk("/jobs/film.mkv")
        for name in existing { disk.add("/jobs/\(name)") }
        disk.add("/usr/share/fonts/DejaVuSans.ttf")
        let result = BatchPlanner.plan([jobs], prober: prober, disk: disk)
        return (
            result.plan.jobs.first,
            result.diagnostics.diagnostics.map { "\($0.range.line):\($0.range.column): \($0.message)" }
        )
    }

    private func burn(_ plan: JobPlan?) throws -> BurnPlan {
        try #require(plan?.outputs.first?.tracks.first?.encoding?.burn)
    }

    /// A track of the source, or of a file, is selected; text has the default font unless it contains styles.
    @Test(arguments: [
        ("first", "- 1 subrip DejaVu Sans"), ("1", "- 2 hdmv_pgs_subtitle -"),
        ("{ subtitle: { language: eng } }", "- 1 subrip DejaVu Sans"),
        ("{ asset: a.srt, subtitle: first }", "a.srt 0 subrip DejaVu Sans"),
        ("{ asset: a.srt, font: DejaVu Sans, size: 30, color: yellow }", "a.srt 0 subrip DejaVu Sans"),
    ])
    func subtitles_areSelected(_ value: String, _ expected: String) throws {
        let (plan, findings) = try planned(value)
        #expect(findings == [])
        let burn = try burn(plan)
        #expect("\(burn.file?.name ?? "-") \(burn.track) \(burn.codec) \(burn.style.font ?? "-")" == expected)
        #expect(burn.isText == (burn.codec == "subrip"))
    }

    /// The frames that the encoder receives have the subtitles, in the shape of the output's pixels.
    @Test func encoderInput_hasTheSubtitles() throws {
        let (plan, _) = try planned(
            "{ asset: a.srt, size: 30, color: yellow }",
            encode: "codec: h264, size: 720x576, fit: stretch, pixel_aspect_ratio: 64:45")
        let output = try #require(plan?.outputs.first)
        var expected = BurnedSubtitles(
            path: "/jobs/a.srt", track: 0,
            style: SubtitleStyle(font: "DejaVu Sans", size: 30, color: "ffff00"))
        expected.pixelAspectRatio = Rational(64, 45)
        #expect(output.tracks.first?.encoding?.burnedSubtitles == expected)
        #expect(plan?.localFiles == ["/jobs/film.mkv", "/jobs/a.srt"])
        #expect(output.drawsText && output.isValid)
    }

    /// The ledger states the use of the source's subtitles, which aren't left over.
    @Test func ledger_hasTheDrawnTrack() throws {
        let (plan, findings) = try planned("first", keys: "leftover: warn")
        #expect(
            findings == [
                "6:15: no rule selects track 2 of the source: subtitle hdmv_pgs_subtitle",
                "6:15: no rule selects track 3 of the source: subtitle hdmv_text_subtitle (fra)",
            ])
        let entries = try #require(plan?.outputs.first).ledger.map {
            "\($0.track ?? -1) \($0.outcome.rawValue): \($0.reason)"
        }
        #expect(entries.contains("1 encoded: drawn into the frames"), "\(entries)")
    }

    @Test(arguments: [
        (
            "{ subtitle: { language: deu } }", "codec: h264",
            [
                "5:72: no subtitle track matches: the source has 3 (0: subrip (eng), 1: hdmv_pgs_subtitle, 2: hdmv_text_subtitle (fra))"
            ]
        ),
        ("{ asset: b.srt }", "codec: h264", ["5:69: b.srt: no such file"]),
        (
            "{ asset: a.srt, font: Nope }", "codec: h264", ["5:82: the font `Nope` is not installed"]
        ),
        (
            "{ subtitle: 1, color: red }", "codec: h264",
            [
                "5:82: subtitle track 2 is hdmv_pgs_subtitle, which stores images; `font`, `size` and `color` apply to text"
            ]
        ),
        (
            "1", "codec: ffv1, pixel_format: yuv444p10le",
            ["5:87: images of subtitles can't be drawn into yuv444p10le frames"]
        ),
        ("2", "codec: h264", ["5:60: subtitle track 3 has no event"]),
    ])
    func burn_thatIsNotPossible_isAnError(_ value: String, _ encode: String, _ expected: [String]) throws {
        let (plan, findings) = try planned(value, encode: encode)
        #expect(plan == nil && findings == expected)
    }

    /// With `optional`, frames are encoded without subtitles, which a note states.
    @Test(arguments: [
        ("{ asset: b.srt, optional: true }", "optional `burn` omitted: b.srt doesn't exist"),
        (
            "{ asset: a.srt, subtitle: { language: ita }, optional: true }",
            "optional `burn` omitted: a.srt has 1 (0: subrip)"
        ),
        ("{ subtitle: 2, optional: true }", "optional `burn` omitted: subtitle track 3 has no event"),
    ])
    func optionalBurn_isOmitted(_ value: String, _ note: String) throws {
        let (plan, findings) = try planned(value)
        #expect(findings == [])
        let output = try #require(plan?.outputs.first)
        #expect(output.tracks.first?.encoding?.burn == nil && output.notes.contains(note), "\(output.notes)")
    }

    /// A source without a file has no subtitles of its own; a file can be drawn into its frames.
    @Test func testPattern_takesSubtitlesOfAFile() throws {
        let asset = "{ pattern: smpte, duration: 2s, size: 320x240 }"
        let own = try planned("first", asset: asset)
        #expect(own.findings == ["5:60: no subtitle track matches: the source has no subtitle"])
        let (plan, findings) = try planned("{ asset: a.srt }", asset: asset)
        #expect(try findings == [] && burn(plan).file?.name == "a.srt")
    }

    /// White text in HDR is as bright as the format allows.
    @Test func hdr_isNoted() throws {
        let film = SourceDescription.file(.video { $0.color = .hdr }, .other(1))
        let hevc = "codec: hevc, pixel_format: yuv420p10le"
        let notes = try planned("first", encode: hevc, film: film).plan?.outputs.first?.notes ?? []
        #expect(notes.contains { $0.hasPrefix("burned subtitles keep their code values in HDR") })
        let colored = try planned("{ subtitle: first, color: gray }", encode: hevc, film: film)
        #expect(colored.plan?.outputs.first?.notes.contains { $0.contains("burned") } == false)
    }

    /// The content of a file and the style determine the digest; the path doesn't.
    @Test func digest_dependsOnTheContent() throws {
        func digest(_ burn: String, _ existing: String = "a.srt", digit: String = "a") throws -> PlanDigest {
            let (plan, _) = try planned(burn, existing: [existing], digit: digit)
            return try PlanDigest(try #require(plan?.tasks.first))
        }
        let first = try digest("{ asset: a.srt }")
        #expect(try digest("{ asset: b.srt }", "b.srt").value == first.value)
        #expect(try digest("{ asset: a.srt, size: 20 }").value != first.value)
        let changed = try digest("{ asset: a.srt }", digit: "b")
        let (old, new) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        #expect(
            changed.changes(since: first) == ["track 0 file: a.srt, SHA-256 \(old) → a.srt, SHA-256 \(new)"])
    }

    /// Values of untrusted plans are checked.
    @Test func invalidPlans_areInconsistent() throws {
        let (plan, _) = try planned("{ asset: a.srt }")
        let output = try #require(plan?.outputs.first)
        let changes: [(inout TrackPlan.Encoding) -> Void] = [
            { $0.burn?.track = -1 }, { $0.burn?.file?.path = "a.srt" }, { $0.burn?.style.color = "red" },
            { $0.burn?.style.font = "a\nb" }, { $0.burn?.style.size = 0 },
        ]
        for change in changes {
            var changed = output
            var encoding = try #require(changed.tracks[0].encoding)
            change(&encoding)
            changed.tracks[0].action = .encode(encoding)
            #expect(!changed.isValid, "\(String(describing: encoding.burn))")
        }
    }
}
