import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Tests the planning of deinterlacing, cropping, rotation and filters, which precede scaling.
@Suite struct FramePlannerTests {
    private func decide(
        _ encode: String, of track: TrackDescription = .video(), _ prober: FakeProber = FakeProber()
    ) throws -> (decision: Decision<FramePlanner.Prepared>, findings: [String]) {
        let snippet = try JobSnippet(rule: "{ video: first, encode: { \(encode) } }", to: "o.mkv")
        let decision = FramePlanner(spec: try snippet.video, track: track, prober: prober).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    @Test func framesAreUnchangedByDefault() throws {
        let track = TrackDescription.video { $0.transform = .quarter }
        let (decision, findings) = try decide("codec: h264", of: track)
        let prepared = try #require(decision.value)
        #expect(prepared.size == PixelSize(width: 1280, height: 720) && prepared.transform == .quarter)
        #expect(
            prepared.settings.crop == nil && prepared.settings.turn == nil && !prepared.settings.mapsTones)
        #expect(prepared.format == track.pixelFormat && prepared.color == track.color)
        #expect(decision.reasons.lines == ["display matrix copied: kept"])
        #expect(findings == [] && decision.reasons.notes == [])
    }

    private static let aperture = CleanAperture(
        width: Rational(704, 1), height: Rational(576, 1), horizontalOffset: Rational(0, 1),
        verticalOffset: Rational(0, 1))

    /// A crop rectangle is in pixels of the coded frame; the clean aperture is relative to the frame's center.
    @Test(arguments: [
        ("{ x: 8, y: 2, width: 640, height: 480 }", PixelRectangle(x: 8, y: 2, width: 640, height: 480)),
        ("{ width: 720, height: 576 }", nil),
        ("clean_aperture", PixelRectangle(x: 8, y: 0, width: 704, height: 576)),
    ])
    func cropsKeepAPart(_ crop: String, _ expected: PixelRectangle?) throws {
        let track = TrackDescription.video(720, 576) { $0.cleanAperture = Self.aperture }
        let (decision, _) = try decide("codec: h264, crop: \(crop)", of: track)
        let prepared = try #require(decision.value)
        #expect(prepared.settings.crop == expected)
        #expect(prepared.size.width == expected?.width ?? 720)
        #expect(prepared.size.height == expected?.height ?? 576)
        #expect(
            decision.reasons.lines == [
                expected == nil
                    ? "clean aperture dropped: \(CopyLosses.aperture)"
                    : "clean aperture encoded: the frame is cropped"
            ])
    }

    @Test(arguments: [
        ("crop: { x: 700, width: 600, height: 100 }", "codec-setting at { x: 700, width: 600, height: 100 }"),
        ("crop: { y: 700, width: 100, height: 22 }", "codec-setting at { y: 700, width: 100, height: 22 }"),
        ("crop: { x: 1, width: 100, height: 100 }", "codec-setting at { x: 1, width: 100, height: 100 }"),
        ("crop: { width: 100, height: 101 }", "codec-setting at { width: 100, height: 101 }"),
        ("crop: clean_aperture", "codec-setting at clean_aperture"),
    ])
    func impossibleCropsAreErrors(_ keys: String, _ finding: String) throws {
        let (decision, findings) = try decide("codec: h264, \(keys)")
        #expect(decision.value == nil && findings == [finding])
    }

    /// The active area within black borders is that of the whole file, whose track is probed once.
    @Test func bordersAreCropped() throws {
        let area = PixelRectangle(x: 0, y: 88, width: 1280, height: 544)
        func decide(
            _ path: String?, _ reply: Result<ProbeResponse, SourceProblem>? = nil
        ) throws -> (prepared: FramePlanner.Prepared?, findings: [String], notes: [String], requests: Int) {
            let snippet = try JobSnippet(
                rule: "{ video: first, encode: { codec: h264, crop: auto } }", to: "o.mkv")
            let prober = FakeProber { request in
                request.path == "/a.mp4" && request.subject == .activeArea(track: 0) ? reply : nil
            }
            let decision = FramePlanner(
                spec: try snippet.video, track: .video(), prober: prober, path: path
            ).decide()
            return (
                decision.value, snippet.findings(decision.reasons), decision.reasons.notes,
                prober.requests.count
            )
        }
        let cropped = try decide("/a.mp4", .success(.activeArea(area)))
        #expect(cropped.prepared?.settings.crop == area && cropped.notes == [] && cropped.requests == 1)
        #expect(cropped.prepared?.size == PixelSize(width: 1280, height: 544))
        let whole = PixelRectangle(x: 0, y: 0, width: 1280, height: 720)
        let uncropped = try decide("/a.mp4", .success(.activeArea(whole)))
        #expect(uncropped.prepared?.settings.crop == nil)
        #expect(uncropped.notes == ["`crop: auto`: video track 0 has no black borders"])
        let black = try decide("/a.mp4", .success(.activeArea(nil)))
        #expect(black.prepared?.settings.crop == nil)
        #expect(
            black.notes == [
                "`crop: auto`: video track 0 is not cropped: all examined frames are black"
            ])
        #expect(try decide(nil).findings == ["codec-setting at auto"])
        #expect(
            try decide("/a.mp4", .failure(SourceProblem("gone"))).findings
                == ["source-unreadable at auto"])
        let wrong = PixelRectangle(x: 0, y: 0, width: 9999, height: 2)
        #expect(
            try decide("/a.mp4", .success(.activeArea(wrong))).findings == ["codec-setting at auto"])
    }

    /// A quarter turn swaps the sides and inverts the pixel aspect ratio; the display matrix is cleared.
    @Test(arguments: [
        ("keep", 0, true, "display matrix copied: kept"),
        ("bake", 90, false, "display matrix encoded: the frame is rotated"),
        ("270", 270, false, "display matrix encoded: the frame is rotated"),
        ("180", 180, false, "display matrix encoded: the frame is rotated"),
        ("0", 0, false, "display matrix dropped: replaced by the job's rotation"),
    ])
    func rotationsReplaceTheDisplayMatrix(
        _ orientation: String, _ degrees: Int, _ keepsMatrix: Bool, _ line: String
    ) throws {
        let track = TrackDescription.video(720, 576) {
            ($0.transform, $0.pixelAspectRatio) = (.quarter, Rational(64, 45))
        }
        let (decision, _) = try decide("codec: h264, orientation: \(orientation)", of: track)
        let prepared = try #require(decision.value)
        #expect(prepared.settings.turn?.clockwiseDegrees ?? 0 == degrees)
        #expect((prepared.transform != nil) == keepsMatrix)
        let isQuarter = degrees % 180 == 90
        #expect(prepared.size.width == (isQuarter ? 576 : 720))
        #expect(prepared.aspect == (isQuarter ? Rational(45, 64) : Rational(64, 45)))
        #expect(decision.reasons.lines == [line])
    }

    @Test func rotationsByOtherAnglesAreNotBaked() throws {
        let (decision, findings) = try decide(
            "codec: h264, orientation: bake", of: .video { $0.transform = .eighth })
        #expect(decision.value == nil && findings == ["codec-setting at bake"])
        #expect(try decide("codec: h264, orientation: bake").decision.value?.settings.turn == nil)
    }

    /// `auto` is the default if the frame is scaled, cropped or rotated. For progressive tracks, it is the default if
    /// the codec would mark all frames as progressive.
    @Test(
        arguments: [
            ("codec: h264", true, .off, true, false), ("codec: h264, size: x480", true, .auto, false, false),
            ("codec: h264, crop: { width: 640, height: 480 }", true, .auto, false, false),
            ("codec: h264, orientation: 90", true, .auto, false, false),
            ("codec: h264, deinterlace: on", true, .on, false, false),
            ("codec: h264, size: x480, deinterlace: off", true, .off, true, false),
            ("codec: h264", false, .off, false, true),
            ("codec: h264, deinterlace: on", false, .on, false, false),
            ("codec: h264, lossless: true", false, .off, false, false),
            ("codec: ffv1", false, .off, false, false),
        ] as [(String, Bool, Deinterlacing, Bool, Bool)])
    func framesAreDeinterlacedIfTheyAreScaledCroppedOrRotated(
        _ encode: String, _ isInterlaced: Bool, _ expected: Deinterlacing, _ staysInterlaced: Bool,
        _ coversLateFields: Bool
    ) throws {
        let (decision, _) = try decide(encode, of: .video { $0.isInterlaced = isInterlaced })
        let prepared = try #require(decision.value)
        #expect(prepared.settings.deinterlacing == expected)
        #expect(prepared.isInterlaced == staysInterlaced)
        #expect(prepared.settings.deinterlacesLateFields == coversLateFields)
    }

    /// libavfilter reports the size, pixel aspect ratio and color of filtered frames.
    @Test func filtersDetermineTheFormat() throws {
        let after = FrameFormat(
            width: 640, height: 480, format: .yuv420p, sampleAspectRatio: Rational(4, 3), color: .standard)
        let prober = FakeProber(trials: .outputs(after))
        let (decision, _) = try decide("codec: h264, filters: \"hue=s=0\"", prober)
        let prepared = try #require(decision.value)
        #expect(prepared.size == PixelSize(width: 640, height: 480) && prepared.aspect == Rational(4, 3))
        #expect(prepared.color.matrix == "bt709" && prepared.settings.filters?.steps.count == 1)
        #expect(prober.requests.count == 1)
    }

    @Test(arguments: [
        SettingsValidation.Outcome.problem("no such filter"),
        .outputs(
            FrameFormat(
                width: 16_386, height: 2, format: .yuv420p, sampleAspectRatio: Rational(0, 1),
                color: .standard)),
        .outputs(
            FrameFormat(
                width: 0, height: 2, format: .yuv420p, sampleAspectRatio: Rational(0, 1), color: .standard)
        ),
    ])
    func impossibleFiltersAreErrors(_ verdict: SettingsValidation.Outcome) throws {
        let (decision, findings) = try decide(
            "codec: h264, filters: \"hue=s=0\"", FakeProber(trials: verdict))
        #expect(decision.value == nil && findings.count == 1)
        #expect(findings.first?.hasPrefix("filter-chain at ") == true && findings[0].contains("hue=s=0"))
    }

    /// HDR that is converted to SDR is tone-mapped, which requires primaries and matrix.
    @Test func toneMappingRequiresPrimariesAndMatrix() throws {
        let encode = "codec: h264, color: { primaries: bt709, transfer: bt709, matrix: bt709 }"
        let known = TrackDescription.video { $0.color = .hdr }
        #expect(try decide(encode, of: known).decision.value?.settings.mapsTones == true)
        let unknown = TrackDescription.video {
            $0.color = .hdr
            $0.color.primaries = nil
        }
        let (decision, findings) = try decide(encode, of: unknown)
        #expect(decision.value == nil && findings == ["codec-setting at bt709"])
        let hlg = "codec: hevc, color: { transfer: arib-std-b67 }"
        #expect(try decide(hlg, of: known).decision.value?.settings.mapsTones == false)
        #expect(try decide(encode).decision.value?.settings.mapsTones == false)
    }

    /// `color: sdr` has no effect on SDR, nor on HDR with an unknown color description.
    @Test func settingsForHDRAreRemovedForOtherTracks() throws {
        let spec = try JobSnippet(rule: "{ video: first, encode: { codec: h264, color: sdr } }").video
        var unknown = ColorDescription()
        unknown.transfer = "smpte2084"
        for (color, applies) in [(ColorDescription.hdr, true), (.standard, false), (unknown, false)] {
            let resolved = FramePlanner.resolved(spec, for: .video { $0.color = color })
            #expect((resolved.color != nil) == applies, "\(color)")
        }
    }

    /// The resolved size must be the requested one, and the color conversion must be supported.
    @Test(arguments: [
        (
            "size: 101x100, fit: stretch", TrackDescription.video(), SettingsValidation.Outcome.valid,
            ["codec-setting at 101x100"]
        ),
        ("size: 100x100, fit: stretch", .video(), .valid, []),
        (
            "color: { primaries: bt2020 }", .video { $0.color = .standard }, .problem("no path"),
            ["codec-setting at { primaries: bt2020 }"]
        ),
        ("color: { primaries: bt2020 }", .video { $0.color = .standard }, .valid, []),
    ])
    func resolvedSettingsAreChecked(
        _ keys: String, _ track: TrackDescription, _ verdict: SettingsValidation.Outcome, _ expected: [String]
    ) throws {
        let snippet = try JobSnippet(rule: "{ video: first, encode: { codec: h264, \(keys) } }")
        let (spec, prober) = (try snippet.video, FakeProber(trials: verdict))
        let prepared = try #require(FramePlanner(spec: spec, track: track, prober: prober).decide().value)
        let encoder = try #require(spec.codec.value.availableEncoder)
        let planner = VideoEncodingPlanner(
            spec: spec, track: track, prepared: prepared, timeZero: .zero, ranges: [], encoder: encoder,
            container: try .required("mp4"))
        let encoding = try #require(planner.decide().value)
        var reasons = Reasons()
        let holds = FramePlanner.check(encoding, of: prepared, spec, prober: prober, &reasons)
        #expect(holds == expected.isEmpty && snippet.findings(reasons) == expected)
    }
}
