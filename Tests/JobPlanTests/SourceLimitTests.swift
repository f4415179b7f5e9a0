import Diagnostics
import Foundation
@testable import JobPlan
import JobRun
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Tests properties of sources that the plan changes: loudness tags, bit rates for the source's audio, and incomplete
/// dates.
@Suite struct SourceLimitTests {
    private func plan(_ yaml: String, in scratch: Scratch) throws -> BatchPlanner.Result {
        let (file, sink) = decode(yaml, directory: scratch.path)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return BatchPlanner.plan([file])
    }

    private func plan(_ asset: String, encode: String, to target: String, in scratch: Scratch) throws
        -> BatchPlanner.Result
    {
        try plan(
            "version: 1\njobs:\n  it: { asset: ./\(asset), tracks: [ { audio: first, \(encode) } ], destination: \(target) }\n",
            in: scratch)
    }

    // MARK: Loudness tags

    @Test(arguments: [
        ("REPLAYGAIN_TRACK_GAIN", true), ("replaygain_album_peak", true), ("R128_TRACK_GAIN", true),
        ("iTunNORM", true), ("iTunNORM-eng", true), ("MP3GAIN_UNDO", true), ("R128_MODE", false),
        ("gain", false),
    ])
    func loudnessTags_areRecognizedByKey(_ key: String, _ isOne: Bool) {
        #expect(LoudnessTags.contain(key) == isOne)
    }

    /// Loudness tags are dropped if levels change, with an entry in the ledger, and kept otherwise.
    @Test(arguments: [
        ("encode: { codec: flac, normalize: -16 }", false), ("encode: { codec: flac, gain: -3dB }", false),
        ("encode: { codec: flac, filters: acompressor }", false),
        ("encode: { codec: flac, channels: mono }", false),
        ("encode: { codec: flac }", true), ("encode: { codec: flac, gain: 0dB }", true), ("copy: true", true),
    ])
    func loudnessTags_areDroppedIfLevelsChange(_ action: String, _ areKept: Bool) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=0.5", "-ac", "2", "-metadata", "REPLAYGAIN_TRACK_GAIN=-8.00 dB",
            "-metadata",
            "title=T", scratch.file("s.flac"))
        let result = try plan("s.flac", encode: action, to: "o.flac", in: scratch)
        #expect(result.diagnostics.diagnostics.isEmpty, "\(result.diagnostics.diagnostics.map(\.message))")
        let output = try #require(result.plan.jobs.first?.outputs.first)
        #expect(output.metadata.contains { $0.key.uppercased() == "REPLAYGAIN_TRACK_GAIN" } == areKept)
        #expect(output.metadata.contains { $0.key == "title" })
        let entry = try #require(
            output.ledger.first { $0.item.text.uppercased() == "TAG REPLAYGAIN_TRACK_GAIN" })
        #expect(
            entry.outcome == (areKept ? .copied : .dropped)
                && (areKept || entry.reason == LoudnessTags.reason))
    }

    @Test func loudnessTags_ofATrack_areDroppedIfLevelsChange() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=1", "-c:a", "flac", "-metadata:s:a:0",
            "REPLAYGAIN_TRACK_GAIN=-8.00 dB",
            scratch.file("s.mka"))
        let records = try await run(
            """
            version: 1
            defaults: { asset: ./s.mka }
            jobs:
              quiet: { tracks: [ { audio: first, encode: { codec: flac, gain: -3dB } } ], destination: quiet.mka }
              same: { tracks: [ { audio: first, encode: { codec: flac } } ], destination: same.mka }
            """, in: scratch.path)
        for record in records { _ = try success(records, record.id) }
        for (name, isThere) in [("quiet", false), ("same", true)] {
            let probed = try program(
                "ffprobe", ["-v", "error", "-show_streams", "-show_format", scratch.file("\(name).mka")])
            #expect(probed.text.uppercased().contains("REPLAYGAIN") == isThere, "\(name)")
        }
    }

    /// `tags: true` replaces the source's tags by the measured loudness.
    @Test(arguments: [
        ("flac", "flac", false), ("mp3", "mp3", false), ("opus", "ogg", true), ("flac", "mkv", false),
    ])
    func loudnessTags_areWritten(_ codec: String, _ container: String, _ isOpus: Bool) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.05*sin(2*PI*997*t):d=4:s=48000", "-metadata",
            "REPLAYGAIN_TRACK_GAIN=-30.00 dB", scratch.file("s.flac"))
        let yaml =
            "version: 1\njobs:\n  it: { asset: ./s.flac, tracks: [ { audio: first, encode: { codec: \(codec), normalize: { integrated: -20, tags: true } } } ], destination: o.\(container) }\n"
        _ = try success(try await run(yaml, in: scratch.path))
        let probed = try program(
            "ffprobe",
            ["-v", "error", "-show_entries", "format_tags:stream_tags", scratch.file("o.\(container)")])
        let name = isOpus ? "R128_TRACK_GAIN=" : "REPLAYGAIN_TRACK_GAIN="
        let lines = probed.text.split(separator: "\n").filter { $0.contains(name) }
        #expect(lines.count == 1, "\(probed.text)")
        let value = lines.first?.split(separator: "=").last.flatMap { Double($0.prefix { $0 != " " }) }
        let gain = (value ?? .nan) / (isOpus ? 256 : 1)
        #expect(abs(gain - (isOpus ? -3 : 2)) < 0.3, "\(gain)")
    }

    @Test func loudnessTags_inContainersWithoutThem_areErrors() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("s.flac"))
        #expect(throws: ProgramError.self) {
            try plan(
                "s.flac", encode: "encode: { codec: aac, normalize: { tags: true } }", to: "o.m4a",
                in: scratch)
        }
    }

    // MARK: Bit rates

    /// A bit rate above the limit for the source's sample rate or channels is lowered to the limit, with a warning.
    @Test(arguments: [
        ("aac", "160k", 16_000, 1, "m4a", Int64(96_000)), ("aac", "320k", 8000, 2, "m4a", 96_000),
        ("mp3", "320k", 22_050, 1, "mp3", 160_000), ("mp3", "24k", 44_100, 1, "mp3", 32_000),
        ("opus", "400k", 48_000, 1, "ogg", 256_000),
    ])
    func bitRate_thatTheSourceLimits_isClamped(
        _ codec: String, _ rate: String, _ sampleRate: Int, _ channels: Int, _ container: String,
        _ expected: Int64
    ) async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=0.5:sample_rate=\(sampleRate)", "-ac", "\(channels)",
            scratch.file("s.wav"))
        let encode = "encode: { codec: \(codec), bitrate: \(rate) }"
        let result = try plan("s.wav", encode: encode, to: "o.\(container)", in: scratch)
        let found = result.diagnostics.diagnostics
        #expect(
            found.count == 1 && found[0].severity == .warning && found[0].rule == .codecLimit,
            "\(found.map(\.message))")
        #expect(
            found.first?.message.contains("encoding at \(expected / 1000)k") == true,
            "\(found.map(\.message))")
        guard case .encode(let encoding)? = result.plan.jobs.first?.outputs.first?.tracks.first?.action else {
            Issue.record("the track isn't encoded")
            return
        }
        #expect(encoding.encoder.bitRate == expected)
        _ = try success(
            try await run(
                "version: 1\njobs:\n  it: { asset: ./s.wav, tracks: [ { audio: first, \(encode) } ], destination: o.\(container) }\n",
                in: scratch.path))
    }

    /// A bit rate that is invalid for every source, or for the job's own settings, is an error.
    @Test(arguments: [
        ("mp3", "bitrate: 100k", "mp3"), ("mp3", "bitrate: 320k, sample_rate: 22050, channels: mono", "mp3"),
        ("aac", "bitrate: 160k, sample_rate: 16000, channels: mono", "m4a"), ("ac3", "bitrate: 700k", "mkv"),
    ])
    func bitRate_thatTheJobDecides_isAnError(_ codec: String, _ settings: String, _ container: String) throws
    {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5", scratch.file("s.wav"))
        let result = try plan(
            "s.wav", encode: "encode: { codec: \(codec), \(settings) }", to: "o.\(container)", in: scratch)
        #expect(
            result.diagnostics.hasErrors && result.plan.jobs.isEmpty,
            "\(result.diagnostics.diagnostics.map(\.message))")
    }

    // MARK: Creation times

    @Test(arguments: [
        ("2024-03-09T13:36:19Z", true), ("2024-03-09 13:36:19", true),
        ("2024-02-29T00:00:00.123456+01:00", true),
        ("2024-03-09T13:36:19-0530", true), ("13:36:19", false), ("2024-03-09", false), ("2024", false),
        ("2023-02-29T00:00:00", false), ("2024-13-09T13:36:19", false), ("2024-03-09T13:36", false),
        ("now", false),
        ("2024-03-09T13:36:19Zx", false), ("2024-03-09T13:36:19.", false), ("", false),
        ("2024-03-09T13:36:19+1", false),
    ])
    func creationTime_requiresDateAndTime(_ text: String, _ isComplete: Bool) {
        #expect((CreationTime(text) != nil) == isComplete)
    }

    /// A time without a date isn't completed with the current date.
    @Test func creationTime_withoutADate_isDropped() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=0.5", "-metadata", "creation_time=13:36:19", scratch.file("s.flac"))
        for (target, codec, isText) in [
            ("mp4", "aac", false), ("mkv", "flac", false), ("mp3", "mp3", false), ("flac", "flac", true),
        ] {
            let yaml =
                "version: 1\njobs:\n  it: { asset: ./s.flac, tracks: [ { audio: first, encode: { codec: \(codec) } } ], destination: o.\(target) }\n"
            let entry = try plan(yaml, in: scratch).plan.jobs.first?.outputs.first?.ledger.first {
                $0.item.text.lowercased() == "tag creation_time"
            }
            #expect(entry?.outcome == (isText ? .copied : .dropped), "\(target)")
            _ = try success(try await run(yaml, in: scratch.path))
            let probed = try program(
                "ffprobe",
                ["-v", "error", "-show_entries", "format_tags:stream_tags", scratch.file("o.\(target)")])
            #expect(probed.text.lowercased().contains("creation_time") == isText, "\(target): \(probed.text)")
        }
    }
}
