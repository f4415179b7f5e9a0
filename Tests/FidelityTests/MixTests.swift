import Diagnostics
import Foundation
import JobRun
import TestSupport
import Testing

/// Mixes of several audio tracks equal the sum of the tracks as decoded by ffmpeg.
@Suite struct MixTests {
    private let rate = 48_000

    /// Creates three tracks: two of full length, and one that starts after them and ends before them.
    private func source(in scratch: Scratch) throws -> String {
        let path = scratch.file("s.mov")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=f=440:d=4:r=48000", "-f", "lavfi", "-i", "sine=f=1000:d=4:r=48000",
            "-itsoffset", "1.5", "-f", "lavfi", "-i", "sine=f=250:d=1:r=48000", "-map", "0", "-map", "1",
            "-map", "2", "-c:a", "pcm_f32le", "-metadata:s:a:1", "language=eng", path)
        return path
    }

    private func mixed(_ rule: String, range: String, in scratch: Scratch) async throws -> [Float] {
        _ = try source(in: scratch)
        let yaml = """
            version: 1
            jobs:
              m:
                asset: ./s.mov
            \(range)
                tracks:
                  - audio: all
                    mix: \(rule)
                    encode: { codec: pcm_f32le }
                destination: o.wav
            """
        _ = try success(try await run(yaml, in: scratch.path))
        return try FFmpegFile(scratch.file("o.wav")).samples(rate: rate)
    }

    /// Returns the largest difference from the sum of the tracks, each with its volume at each sample.
    private func error(
        _ output: [Float], of path: String, from start: Int, volume: (_ track: Int, _ sample: Int) -> Float
    ) throws -> Float {
        let tracks = try (0..<3).map { try FFmpegFile(path).samples(track: $0, rate: rate) }
        let offsets = [0, 0, rate * 3 / 2]
        var worst: Float = 0
        for index in output.indices {
            var sum: Float = 0
            for (track, samples) in tracks.enumerated() {
                let at = index + start - offsets[track]
                if samples.indices.contains(at) { sum += samples[at] * volume(track, index) }
            }
            worst = max(worst, abs(sum - output[index]))
        }
        return worst
    }

    @Test func mixIsTheSumOfItsTracks() async throws {
        let scratch = try Scratch()
        let output = try await mixed("true", range: "    leftover: error", in: scratch)
        #expect(output.count == 4 * rate)
        #expect(try error(output, of: scratch.file("s.mov"), from: 0) { _, _ in 1 } < 1e-6)
    }

    @Test func volumesAndRampsCountFromTheRangesStart() async throws {
        let scratch = try Scratch()
        let output = try await mixed(
            """
            [ { audio: 0, volume: 0.25 },
                          { audio: { language: eng }, volume: [ { at: 0s, value: 0 }, { at: 50%, value: 1 }, { at: end, value: 0.5 } ] } ]
            """, range: "    range: { start: 1s, end: 3s }", in: scratch)
        #expect(output.count == 2 * rate)
        let half = Float(rate)
        let worst = try error(output, of: scratch.file("s.mov"), from: rate) { track, sample in
            let time = Float(sample) / half
            return track == 0 ? 0.25 : track == 2 ? 1 : time < 1 ? time : 1.5 - time / 2
        }
        #expect(worst < 1e-4)
    }

    @Test func loudnessIsMeasuredAfterMixing() async throws {
        let scratch = try Scratch()
        _ = try source(in: scratch)
        let yaml = """
            version: 1
            jobs:
              m:
                asset: ./s.mov
                tracks:
                  - audio: all
                    mix: true
                    encode: { codec: pcm_s24le, normalize: { integrated: -20, true_peak: -1 } }
                destination: o.wav
                expect: { loudness: { integrated: { is: -20, within: 0.3 }, true_peak: { max: -1 } } }
            """
        _ = try success(try await run(yaml, in: scratch.path))
        let measured = try FFmpegFile(scratch.file("o.wav")).loudness()
        #expect(abs(measured.integrated + 20) <= 0.3 && measured.truePeak <= -1, "\(measured)")
    }

    @Test func invalidMixesAreErrorsAtTheirLine() async throws {
        let scratch = try Scratch()
        _ = try source(in: scratch)
        for (rule, words) in [
            ("[ { audio: 7, volume: 1 } ]", "no audio track matches"),
            ("[ { audio: 0, volume: 1 }, { audio: all, volume: 1 } ]", "duplicate volume for track"),
            ("[ { audio: 0, volume: [ { at: 9s, value: 1 } ] } ]", "the output lasts"),
            (
                "[ { audio: 0, volume: [ { at: 2s, value: 1 }, { at: 1s, value: 1 } ] } ]",
                "must be in order"
            ),
            ("[ { audio: 0, volume: [ { at: 5f, value: 1 } ] } ]", "a time in the output"),
        ] {
            let yaml = """
                version: 1
                jobs:
                  m:
                    asset: ./s.mov
                    tracks:
                      - audio: all
                        mix: \(rule)
                        encode: { codec: flac }
                    destination: o.flac
                """
            let outcomes = try await run(yaml, in: scratch.path)
            guard case .failed(let failure) = outcomes[0].outcome else {
                Issue.record("\(rule) is not refused")
                continue
            }
            #expect(failure.message.contains(words), "\(rule): \(failure.message)")
            #expect(failure.location.line == 7)
        }
    }

    /// A volume also applies to the only audio track of a test signal.
    @Test func volumeOfATestSignalIsApplied() async throws {
        let scratch = try Scratch()
        let yaml = """
            version: 1
            assets: { bars: { pattern: smpte, duration: 2s, tone: 1kHz } }
            jobs:
              full: { asset: bars, tracks: [ { audio: first, encode: { codec: pcm_f32le } } ], destination: a.wav }
              mixed:
                asset: bars
                range: [ { start: 0s, end: 1s }, { start: 0.5s, end: 1.5s } ]
                tracks:
                  - { audio: all, mix: [ { audio: 0, volume: [ { at: 0s, value: 0 }, { at: 2s, value: 1 } ] } ], encode: { codec: pcm_f32le } }
                destination: b.wav
            """
        for record in try await run(yaml, in: scratch.path) {
            guard case .succeeded = record.outcome else {
                Issue.record("\(record.id): \(record.outcome)")
                return
            }
        }
        let (full, mixed) = (
            try FFmpegFile(scratch.file("a.wav")).samples(rate: rate),
            try FFmpegFile(scratch.file("b.wav")).samples(rate: rate)
        )
        #expect(mixed.count == 2 * rate)
        let joined = full[0..<rate] + full[(rate / 2)..<(rate * 3 / 2)]
        let worst = zip(joined, mixed).enumerated().map { index, pair in
            abs(pair.0 * Float(index) / Float(2 * rate) - pair.1)
        }.max()
        #expect(worst ?? 1 < 1e-4)
    }
}
