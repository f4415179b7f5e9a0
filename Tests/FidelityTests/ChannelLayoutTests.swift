import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// In all codecs and containers, each channel is assigned to its speaker, or the plan notes that channels are mixed or
/// that the layout is lost.
@Suite struct ChannelLayoutTests {
    /// Layouts with their speakers in FFmpeg's channel order.
    private static let layouts: [(name: String, speakers: [String])] = [
        ("mono", ["FC"]), ("stereo", ["FL", "FR"]), ("2.1", ["FL", "FR", "LFE"]),
        ("3.0", ["FL", "FR", "FC"]),
        ("4.0", ["FL", "FR", "FC", "BC"]), ("quad", ["FL", "FR", "BL", "BR"]),
        ("5.0", ["FL", "FR", "FC", "BL", "BR"]), ("5.0(side)", ["FL", "FR", "FC", "SL", "SR"]),
        ("5.1", ["FL", "FR", "FC", "LFE", "BL", "BR"]), ("5.1(side)", ["FL", "FR", "FC", "LFE", "SL", "SR"]),
        ("hexagonal", ["FL", "FR", "FC", "BL", "BR", "BC"]),
        ("6.1", ["FL", "FR", "FC", "LFE", "BC", "SL", "SR"]),
        ("7.1", ["FL", "FR", "FC", "LFE", "BL", "BR", "SL", "SR"]),
        ("7.1(wide)", ["FL", "FR", "FC", "LFE", "BL", "BR", "FLC", "FRC"]),
    ]
    private static let targets: [(codec: String, containers: [String])] = [
        ("flac", ["flac", "mkv", "mp4", "ogg"]), ("pcm_s24le", ["wav", "mov", "mkv"]),
        ("aac", ["m4a", "mkv", "ts", "adts"]), ("ac3", ["mp4", "mkv", "ts"]),
        ("alac", ["m4a", "mov", "mkv"]),
        ("opus", ["mkv", "webm", "ogg", "mp4", "ts"]), ("vorbis", ["ogg", "mkv"]), ("mp3", ["mp3", "mkv"]),
    ]
    /// Returns the frequency of a channel's test tone in Hz, low enough for LFE.
    private static func tone(_ channel: Int) -> Double { 24 + 8 * Double(channel) }

    /// Cosine and sine of each test tone over one second at 3 kHz, a sixteenth of the sample rate.
    private static let waves: [[(cos: Double, sin: Double)]] = (0..<8).map { number in
        (0..<3000).map { index in
            let angle = 2 * Double.pi * tone(number) * Double(16 * index) / 48_000
            return (cos(angle), sin(angle))
        }
    }

    /// Returns the loudest tone of each channel, by speaker; channels that are nearly silent are omitted.
    private func audibleChannels(_ path: String) throws -> [String: Int] {
        let stream = try FFmpegFile(path).stream("a:0", "channels,channel_layout")
        let count = try #require(stream["channels"] as? Int)
        let name = stream["channel_layout"] as? String ?? ""
        // For PCM, Matroska stores only the number of channels, and players use the default layout.
        let defaultLayouts = [
            1: "mono", 2: "stereo", 3: "2.1", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1",
        ]
        let speakers =
            Self.layouts.first { $0.name == name }?.speakers
            ?? (name == "quad(side)" ? ["FL", "FR", "SL", "SR"] : nil)
            ?? (name == "6.1(back)" ? ["FL", "FR", "FC", "LFE", "BL", "BR", "BC"] : nil)
            ?? (name.isEmpty ? Self.layouts.first { $0.name == defaultLayouts[count] }?.speakers : nil)
        guard let speakers, speakers.count == count else {
            throw ProgramError(message: "\(path): \(count) channels, \(name)")
        }
        let rate = 48_000
        // Without a requested number of channels, since ffmpeg would mix the channels.
        let decoded = try program(
            "ffmpeg", ["-v", "error", "-i", path, "-f", "f32le", "-c:a", "pcm_f32le", "-"])
        let samples = decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        var result: [String: Int] = [:]
        for (channel, speaker) in speakers.enumerated() {
            // Separating tones that are 8 Hz apart requires one second of samples.
            guard samples.count / count > 14_400 + rate else {
                throw ProgramError(message: "\(path): \(samples.count / count) samples")
            }
            let own = (0..<3000).map { Double(samples[(14_400 + 16 * $0) * count + channel]) }
            let powers = Self.waves.map { wave in
                var (re, im) = (0.0, 0.0)
                for (index, value) in wave.enumerated() {
                    re += own[index] * value.cos
                    im += own[index] * value.sin
                }
                return (re * re + im * im).squareRoot() / 1500
            }
            let loudest = try #require(powers.indices.max { powers[$0] < powers[$1] })
            if powers[loudest] > 0.05 { result[speaker] = loudest }
        }
        return result
    }

    @Test(arguments: layouts.map(\.name)) func channelsKeepTheirSpeakers(_ name: String) async throws {
        let scratch = try Scratch()
        let speakers = try #require(Self.layouts.first { $0.name == name }?.speakers)
        let tones = speakers.indices.map { "0.3*sin(2*PI*\(Self.tone($0))*t)" }.joined(separator: "|")
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=\(tones):c=\(name):s=48000:d=2", "-c:a", "flac",
            scratch.file("s.flac"))
        let jobs = Self.targets.flatMap { codec, containers in
            containers.map { (id: "\(codec)-\($0)", codec: codec, container: $0) }
        }
        let text = jobs.map {
            "  \($0.id): { asset: ./s.flac, tracks: [ { audio: first, encode: { codec: \($0.codec) } } ], destination: \($0.id).\($0.container) }\n"
        }
        let records = try await run("version: 1\njobs:\n" + text.joined(), in: scratch.path)
        #expect(try audibleChannels(scratch.file("s.flac")).count == speakers.count)
        func same(_ speaker: String) -> [String] {
            ["SL": ["SL", "BL"], "SR": ["SR", "BR"], "BL": ["BL", "SL"], "BR": ["BR", "SR"]][speaker] ?? [
                speaker
            ]
        }
        for job in jobs {
            _ = try success(records, job.id)
            let notes = try #require(records.first { $0.id == job.id }?.plan?.outputs[0].notes)
            let found = try audibleChannels(scratch.file("\(job.id).\(job.container)"))
            let isKept = speakers.enumerated().allSatisfy { index, speaker in
                same(speaker).contains { found[$0] == index }
            }
            let isNoted = notes.contains {
                $0.contains("mixed") || $0.contains("can't store the channel layout")
            }
            #expect(isKept != isNoted, "\(name) to \(job.id): \(found) \(notes)")
            // Silent channels stay silent.
            if isKept { #expect(found.count == speakers.count, "\(name) to \(job.id): \(found)") }
        }
    }

    /// Audio whose channel layout changes in mid-stream is converted to one layout with correct times, and reported.
    @Test func changedChannelLayoutIsReported() async throws {
        let scratch = try Scratch()
        var joined = Data()
        for (name, channels, tone) in [("a", "2", 500), ("b", "1", 900), ("c", "2", 500)] {
            try ffmpeg(
                "-f", "lavfi", "-i", "sine=\(tone):r=48000:d=0.96", "-ac", channels, "-c:a", "mp2", "-f",
                "mp2",
                scratch.file(name))
            joined += try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
        }
        try joined.write(to: URL(fileURLWithPath: scratch.file("s.mp2")))
        try ffmpeg("-i", scratch.file("s.mp2"), "-c", "copy", scratch.file("s.ts"))
        let records = try await run(
            """
            version: 1
            jobs:
              whole: { asset: ./s.ts, tracks: [ { audio: first, encode: { codec: flac } } ], destination: whole.flac }
              part: { asset: ./s.ts, range: { start: 0.5s, end: 1.5s }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: part.flac }
              before: { asset: ./s.ts, range: { end: 0.5s }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: before.flac }
            """, in: scratch.path)
        let expected: [(String, Double?, Double)] = [
            ("whole", 0.96, 2.88), ("part", 0.46, 1), ("before", nil, 0.5),
        ]
        for (name, time, length) in expected {
            let result = try success(records, name)
            #expect(
                abs(result.outputs[0].duration.seconds - length) < 0.001,
                "\(name): \(result.outputs[0].duration)")
            let warning = result.warnings.first {
                $0.contains("sample rate or channel layout of the source changes")
            }
            let reportedTime = warning.flatMap { $0.split(separator: " ").compactMap { Double($0) }.last }
            #expect(
                time == nil ? warning == nil : abs((reportedTime ?? -1) - (time ?? 0)) < 0.03,
                "\(name): \(result.warnings)")
        }
    }
}
