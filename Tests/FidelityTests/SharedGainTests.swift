import Foundation
import JobPlan
import JobRun
import LibAV
import Media
import TestSupport
import Testing

/// Tests files that get one gain: ffmpeg measures their loudness together, and the differences between them.
@Suite struct SharedGainTests {
    /// Returns the integrated loudness and the true peak of files one after the other.
    private func loudness(_ files: [String]) throws -> (integrated: Double, truePeak: Double) {
        let inputs = files.flatMap { ["-i", $0] }
        let graph =
            files.indices.map { "[\($0):a]aresample=48000,aformat=channel_layouts=stereo[a\($0)]" }.joined(
                separator: ";")
            + ";" + files.indices.map { "[a\($0)]" }.joined()
            + "concat=n=\(files.count):v=0:a=1,ebur128=peak=true"
        let result = try program(
            "ffmpeg", ["-nostdin", "-hide_banner"] + inputs + ["-filter_complex", graph, "-f", "null", "-"])
        let summary = result.errors.components(separatedBy: "Summary:").last ?? ""
        func value(_ key: String) throws -> Double {
            let text = try #require(summary.components(separatedBy: key).dropFirst().first)
            return try #require(Double(text.split(separator: " ").first ?? ""))
        }
        return (try value("I:"), try value("Peak:"))
    }

    private func yaml(_ target: String, to ending: String, _ codec: String) -> String {
        """
        version: 1
        jobs:
          album:
            asset: ./*.wav
            tracks: [ { audio: first, encode: { codec: \(codec), normalize: { \(target), group: job } } } ]
            destination: out/${asset.stem}.\(ending)

        """
    }

    /// Three files of different loudness, channels and sample rates. All get the same gain, and together they have the
    /// target loudness.
    @Test(arguments: [("flac", "flac"), ("pcm_s24le", "wav")])
    func files_haveTheTargetTogether(_ codec: String, _ ending: String) async throws {
        let scratch = try Scratch()
        for (name, volume, layout, rate) in [
            ("a", -26.0, "stereo", 44_100), ("b", -18.0, "mono", 48_000), ("c", -34.0, "stereo", 48_000),
        ] {
            try ffmpeg(
                "-f", "lavfi", "-i", "anoisesrc=d=4:c=pink:seed=7:r=\(rate),volume=\(volume + 12)dB",
                "-ac", layout == "mono" ? "1" : "2", "-c:a", "pcm_s24le", scratch.file("\(name).wav"))
        }
        let outcomes = try await run(
            yaml("integrated: -20, true_peak: -1", to: ending, codec), in: scratch.path)
        #expect(outcomes.count == 3)
        for outcome in outcomes { _ = try success([outcome], outcome.id) }
        let names = ["a", "b", "c"]
        let made = try loudness(names.map { scratch.file("out/\($0).\(ending)") })
        #expect(abs(made.integrated + 20) <= 0.1 && made.truePeak <= -1, "\(made)")
        let gains = try names.map {
            try loudness([scratch.file("out/\($0).\(ending)")]).integrated
                - loudness([scratch.file("\($0).wav")]).integrated
        }
        #expect((gains.max() ?? 1) - (gains.min() ?? 0) <= 0.11, "\(gains)")
    }

    /// The gain is limited by the peaks of all files.
    @Test func peaksStayBelowTheLimit() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=997:d=3:r=48000,volume=-6dB", "-ac", "2",
            scratch.file("a.wav"))
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=440:d=3:r=48000,volume=12dB", "-ac", "2",
            scratch.file("b.wav"))
        let outcomes = try await run(
            yaml("integrated: -5, true_peak: -6", to: "flac", "flac"), in: scratch.path)
        for outcome in outcomes { _ = try success([outcome], outcome.id) }
        let made = try loudness([scratch.file("out/a.flac"), scratch.file("out/b.flac")])
        #expect(made.truePeak <= -6 && made.truePeak > -6.1, "\(made)")
    }
}
