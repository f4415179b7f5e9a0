import Foundation
import JobRun
@testable import Media
import TestSupport
import Testing

/// Tests encoder delay and padding of AAC in mp4 that only an `iTunSMPB` tag declares, or that HE-AAC declares in edit
/// lists.
@Suite struct GaplessTests {
    @Test func tag_matchesTheMedia_determinesPresentedSamples() throws {
        let tag = try #require(GaplessTag(" 00000000 00000A40 00000138 0000000000015888 00000000 00000000"))
        #expect(tag.presented(ofMedia: 91_136, frame: 1024) == 2624..<90_824)
        // For HE-AAC, the tag may count samples at the core's rate or at the output's.
        #expect(tag.presented(ofMedia: 45_568, frame: 1024) == 1312..<45_412)
        #expect(tag.presented(ofMedia: 182_272, frame: 2048) == 5248..<181_648)
    }

    @Test func tag_ofOtherMedia_isIgnored() throws {
        let tag = try #require(GaplessTag(" 00000000 00000A40 00000138 0000000000015888"))
        #expect(tag.presented(ofMedia: 60_000, frame: 1024) == nil)
        #expect(tag.presented(ofMedia: 90_000, frame: 1024) == nil)
        #expect(tag.presented(ofMedia: 0, frame: 1024) == nil)
    }

    @Test(arguments: [
        "", " 00000000 00000A40 00000138", " 0 G 0 10", " 0 840 0 0", " 0 -840 0 100",
        " 0 FFFFFFFFFFFFFFFF 0 100", " 0 840 0 7FFFFFFFFFFFFFFF",
    ])
    func malformedTagIsIgnored(_ text: String) {
        #expect(GaplessTag(text) == nil)
    }

    private static let sweep = "aevalsrc=0.4*sin(2*PI*t*(300+80*t)):d=2:s=22050"

    private func decoded(_ path: String, _ options: [String] = []) throws -> [Float] {
        let bytes = try program(
            "ffmpeg", ["-v", "error"] + options + ["-i", path, "-f", "f32le", "-ac", "1", "-"]
        ).output
        return bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// Returns the largest difference between two sections of audio.
    private func difference(_ audio: some Collection<Float>, _ reference: some Collection<Float>) -> Float {
        zip(audio, reference).map { abs($0 - $1) }.max() ?? .infinity
    }

    enum Form: String, CaseIterable {
        /// AAC-LC with a tag.
        case plain
        /// HE-AAC with a tag that counts samples at the core's rate, or at the output's.
        case core, output
        /// HE-AAC with an edit list in the core's time base, or in the output's.
        case coreEdits, outputEdits
    }

    /// The output contains exactly the samples that were encoded, at their times.
    @Test(arguments: Form.allCases)
    func decodedAudioMatchesTheEncoderInput(_ form: Form) async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.m4a")
        try ffmpeg("-f", "lavfi", "-i", Self.sweep, "-c:a", "aac", "-b:a", "96k", source)
        if form != .plain { try GaplessFile.makeHighEfficiency(source, doubledRate: 4) }
        let factor = form == .plain ? 1 : 2
        switch form {
        case .plain, .core: try GaplessFile.tag(source, delay: 1024, padding: 956, samples: 44_100)
        case .output: try GaplessFile.tag(source, delay: 2048, padding: 1912, samples: 88_200)
        case .outputEdits:
            // FFmpeg's muxer uses the output's rate.
            try FileManager.default.moveItem(atPath: source, toPath: scratch.file("core.m4a"))
            try ffmpeg("-i", scratch.file("core.m4a"), "-c", "copy", source)
        case .coreEdits: break
        }
        let all = try decoded(source, ["-ignore_editlist", "1"])
        // FFmpeg applies only the start of a tag, and for HE-AAC half or twice of it.
        let reference: [Float]? =
            switch form {
            case .plain: Array(all.prefix(44_100))
            case .coreEdits, .outputEdits: Array(all.dropFirst(2048).prefix(88_200))
            case .core, .output: nil
            }
        let yaml = """
            version: 1
            defaults: { asset: ./s.m4a, destination: { if_exists: replace } }
            jobs:
              whole: { tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: whole.wav }
              part: { range: { start: 0.5s, end: 1.5s }, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: part.wav }
              copy: { tracks: [ { audio: first, copy: true } ], destination: copy.m4a }
              again: { needs: [copy], asset: { job: copy }, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: again.wav }
            """
        _ = try success(try await run(yaml, in: scratch.path))
        let whole = try decoded(scratch.file("whole.wav"))
        #expect(whole.count == 44_100 * factor)
        if let reference { #expect(difference(whole, reference) < 0.001) }
        let part = try decoded(scratch.file("part.wav"))
        #expect(part.count == 22_050 * factor)
        #expect(difference(part, whole.dropFirst(11_025 * factor)) < 0.001)
        // A copy has the same start and end in its edit list; FFmpeg ignores the end.
        let redecoded = try decoded(scratch.file("again.wav"))
        #expect(redecoded.count == whole.count)
        #expect(difference(redecoded, whole) < 0.001)
        let copied = try decoded(scratch.file("copy.m4a"))
        if form != .outputEdits {
            #expect(difference(copied, whole) < 0.001 && copied.count >= 43_000 * factor)
        }
    }

    /// A tag from before the media was cut hides no samples.
    @Test func staleTag_hidesNothing() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.m4a")
        try ffmpeg("-f", "lavfi", "-i", Self.sweep, "-c:a", "aac", source)
        try GaplessFile.tag(source, delay: 2112, padding: 300, samples: 400_000)
        for timing in ["fast", "precise"] {
            let yaml =
                "version: 1\njobs:\n  it: { asset: { path: ./s.m4a, timing: \(timing) }, tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: { path: o.wav, if_exists: replace } }\n"
            _ = try success(try await run(yaml, in: scratch.path))
            let found = try decoded(scratch.file("o.wav"))
            #expect(found.count >= 45_056, "\(found.count)")
            #expect(found.dropFirst(1024).prefix(2000).contains { abs($0) > 0.1 })
        }
    }

    /// In a file with video the tag is ignored, so that audio stays in sync.
    @Test func tag_ofFileWithVideo_isIgnored() async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", Self.sweep, "-f", "lavfi", "-i", "testsrc=d=2:s=64x64", "-c:a", "aac",
            "-c:v",
            "mpeg4", source)
        try GaplessFile.tag(source, delay: 1024, padding: 956, samples: 44_100)
        let tracks = try await Asset(.file(source)).load(.tracks)
        #expect(tracks.count == 2 && tracks.allSatisfy { $0.edits.isEmpty })
    }
}

/// Real files are decoded to their known number of samples.
@Suite(.enabled(if: TestPaths.media != nil)) struct GaplessFileTests {
    @Test(arguments: [("reports/itunsmpb_lc.m4a", 88_200), ("102400samples_qt-lc-aac.m4a", 102_400)])
    func samples_matchTheEncoderInput(_ name: String, _ count: Int) async throws {
        let scratch = try Scratch()
        let yaml = """
            version: 1
            jobs:
              it: { asset: "\(try #require(TestPaths.media))/\(name)", tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: o.wav }
            """
        _ = try success(try await run(yaml, in: scratch.path))
        #expect(try FFmpegFile(scratch.file("o.wav")).samples(channels: 1, rate: 44_100).count == count)
    }
}
