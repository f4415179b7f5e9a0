import Foundation
import JobPlan
import LibAV
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Replies of a worker are bounded. Each bound is tested with values on both sides.
@Suite struct ReplyValidatorTests {
    private func description() throws -> SourceDescription {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=0.4:r=25:s=64x48", "-f", "lavfi", "-i", "sine=d=0.4", "-c:v",
            "mpeg4",
            scratch.file("a.mp4"))
        return try LocalProber().description(of: scratch.file("a.mp4"))
    }

    private func report(_ numbers: [String: Int] = [:]) throws -> TrackReport {
        var fields: [String: Any] = [
            "end": "1/25",
            "damage": ["skipped": numbers["skipped"] ?? 0, "leading": numbers["leading"] ?? 0],
            "chunks": ["all": numbers["all"] ?? 0, "reused": numbers["reused"] ?? 0],
        ]
        for name in [
            "appendedSamples", "filledSamples", "hiddenSamples", "droppedCaptions", "writtenPackets",
            "droppedSamples",
        ] {
            fields[name] = numbers[name] ?? 1
        }
        return try JSONDecoder().decode(
            TrackReport.self, from: try JSONSerialization.data(withJSONObject: fields))
    }

    private func outcome(_ reports: [[TrackReport]], stop: MediaTime? = nil) -> WorkOutcome {
        .finished(
            WorkFindings(
                outputs: reports.map {
                    OutputFindings(
                        tracks: $0, stop: stop, expectations: [], loudness: [], preview: JobPreview())
                }))
    }

    @Test func validDescriptionsAreAccepted() throws {
        let own = try description()
        #expect(ReplyValidator.isValid(.description(own)))
        #expect(own.tracks.count == 2)
    }

    @Test func coversHaveBounds() {
        let sound = CoverImage(
            codec: "png", width: 1, height: 1, pixelFormat: .yuv420p, size: 1,
            digest: String(repeating: "0", count: 64))
        #expect(ReplyValidator.isValid(.cover(sound)))
        let changes: [(String, Bool, (inout CoverImage) -> Void)] = [
            ("codec", false, { $0.codec = "h264" }), ("no width", false, { $0.width = 0 }),
            ("no height", false, { $0.height = -1 }),
            ("widest", true, { $0.width = CoverImage.maxSide }),
            ("too wide", false, { $0.width = CoverImage.maxSide + 1 }),
            ("most pixels", true, { ($0.width, $0.height) = (40_000, 1000) }),
            ("too many pixels", false, { ($0.width, $0.height) = (40_001, 1000) }),
            ("no bytes", false, { $0.size = 0 }),
            ("most bytes", true, { $0.size = CoverImage.maxBytes }),
            ("too many bytes", false, { $0.size = CoverImage.maxBytes + 1 }),
            ("digest", false, { $0.digest = String(repeating: "0", count: 63) }),
            ("digits", false, { $0.digest = String(repeating: "F", count: 64) }),
        ]
        for (name, isValid, change) in changes {
            var image = sound
            change(&image)
            #expect(ReplyValidator.isValid(.cover(image)) == isValid, "\(name)")
        }
    }

    @Test func impossibleNumbersAreRejected() throws {
        let own = try description()
        let changes: [(String, (inout SourceDescription) -> Void)] = [
            ("tracks", { $0.tracks = Array(repeating: own.tracks[0], count: 10_001) }),
            ("missing bytes", { $0.missingBytes = -1 }),
            ("file size", { $0.fileSize = -1 }), ("largest file size", { $0.fileSize = .max }),
            ("duration", { $0.duration = MediaTime(value: -1, timescale: 1) }),
            ("time zero", { $0.timeZero = MediaTime(value: .max, timescale: 1) }),
            ("index", { $0.tracks[0].index = -1 }),
            ("far index", { $0.tracks[0].index = 1 << 20 }),
            ("width", { $0.tracks[0].width = 1 << 21 }),
            ("height", { $0.tracks[0].height = -1 }),
            ("rate", { $0.tracks[1].sampleRate = -1 }),
            ("count", { $0.tracks[0].sampleCount = .max }),
            ("bit rate", { $0.tracks[0].bitRate = -1 }),
            ("time base", { $0.tracks[0].timeBase = Rational(0, 1) }),
            ("frame rate", { $0.tracks[0].frameRate = Rational(-1, 25) }),
            ("aspect", { $0.tracks[0].pixelAspectRatio = Rational(0, 0) }),
            (
                "range",
                {
                    $0.tracks[0].timeRange = TimeRange(
                        start: MediaTime(value: -1, timescale: 1), duration: .zero)
                }
            ),
        ]
        for (name, change) in changes {
            var other = own
            change(&other)
            #expect(!ReplyValidator.isValid(.description(other)), "\(name)")
        }
    }

    @Test func verdictsOutOfBoundsAreRejected() {
        func holds(_ verdict: SettingsValidation.Outcome) -> Bool {
            ReplyValidator.isValid(.verdict(verdict))
        }
        func format(_ width: Int, _ height: Int) -> SettingsValidation.Outcome {
            .outputs(
                FrameFormat(
                    width: width, height: height, format: .yuv420p, sampleAspectRatio: Rational(1, 1),
                    color: ColorDescription()))
        }
        #expect(holds(.valid) && holds(format(1, 1 << 20)))
        #expect(!holds(format(0, 16)) && !holds(format(16, 1 << 21)))
        #expect(holds(.problem("no")) && !holds(.problem(String(repeating: "x", count: 1 << 17))))
        func ignores(_ setting: SettingsValidation.IgnoredSetting.Setting, _ made: String, _ rate: Int64?)
            -> Bool
        {
            holds(.ignored(SettingsValidation.IgnoredSetting(setting: setting, actual: made, bitRate: rate)))
        }
        #expect(ignores(.bitRate, "64k", 64_000) && ignores(.level, "4", nil))
        #expect(!ignores(.level, String(repeating: "x", count: 257), nil))
        #expect(!ignores(.bitRate, "0", 0) && !ignores(.bitRate, "0", 1 << 41))
        let far = MediaTime(value: .max, timescale: 1)
        #expect(ReplyValidator.isValid(.order(nil)) && ReplyValidator.isValid(.order(.unordered(at: .zero))))
        #expect(!ReplyValidator.isValid(.order(.unordered(at: far))))
        #expect(!ReplyValidator.isValid(.order(.hiddenBetween(at: .zero - far))))
    }

    @Test func findingsMustMatchThePlansOutputs() throws {
        let audio = try report()
        func checked(_ outcome: WorkOutcome, _ tracks: [Int]) -> WorkFindings? {
            guard
                case .finished(let findings)? = ReplyValidator.validated(
                    outcome, tracks: tracks, makesPreview: false)
            else { return nil }
            return findings
        }
        let good = outcome([[audio, audio], [audio]])
        #expect(checked(good, [2, 1])?.outputs.count == 2)
        #expect(
            checked(good, [2, 1])?.outputs.allSatisfy { $0.preview == nil } == true,
            "an unrequested preview must be dropped")
        for tracks in [[], [3], [2], [1, 2], [2, 1, 1], [2, 2]] {
            #expect(checked(good, tracks) == nil, "\(tracks)")
        }
        for name in [
            "appendedSamples", "filledSamples", "hiddenSamples", "droppedCaptions", "writtenPackets",
            "droppedSamples", "skipped", "leading", "all", "reused",
        ] {
            for value in [-1, 1 << 51, Int.max, Int.min] {
                #expect(checked(outcome([[try report([name: value])]]), [1]) == nil, "\(name): \(value)")
            }
            #expect(checked(outcome([[try report([name: 1 << 50])]]), [1]) != nil, "\(name)")
        }
        #expect(checked(outcome([[audio]], stop: .zero), [1]) == nil)
        #expect(checked(outcome([[audio]], stop: MediaTime(value: 1, timescale: 25)), [1]) != nil)
        guard case .cancelled? = ReplyValidator.validated(.cancelled, tracks: [9], makesPreview: false) else {
            Issue.record("a cancelled outcome must be accepted")
            return
        }
    }

    @Test func longTextsAreShortenedAndLimited() throws {
        var findings = WorkFindings(outputs: [
            OutputFindings(
                tracks: [try report()], stop: nil,
                losses: (0..<200).map { _ in String(repeating: "x", count: 400) },
                expectations: [], loudness: [], preview: nil)
        ])
        findings.outputs[0].preview = JobPreview()
        findings.outputs[0].preview?.problems = (0..<20).map { _ in String(repeating: "y", count: 400) }
        guard
            case .finished(let checked)? = ReplyValidator.validated(
                .finished(findings), tracks: [1], makesPreview: true)
        else {
            Issue.record("the outcome must be accepted")
            return
        }
        #expect(
            checked.outputs[0].losses.count == 100 && checked.outputs[0].losses.allSatisfy { $0.count == 300 }
        )
        #expect(checked.outputs[0].preview?.problems.count == 10)
    }
}
