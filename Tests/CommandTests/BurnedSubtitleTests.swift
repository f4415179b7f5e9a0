import Foundation
import TestSupport
import Testing

/// Tests subtitles drawn into a composition's frames, by comparison with ffmpeg's `ass` filter and with the frames
/// without subtitles.
@Suite struct BurnedSubtitleTests: Composing {
    private func captions(in scratch: Scratch) throws {
        try scratch.write(
            """
            1
            00:00:00,400 --> 00:00:01,200
            Hello <i>world</i>,
            two lines

            2
            00:00:02,000 --> 00:00:03,000
            The {second} cue: 100%, \\\\n 'quoted'

            """, to: "c.srt")
    }

    /// Each subtitle event is visible from its start to its end, with ffmpeg's position and rendering.
    @Test(arguments: ["worker", "none"]) func subtitleEventsAreDrawnAtTheirTimes(_ isolation: String) throws {
        let scratch = try folder()
        try captions(in: scratch)
        _ = try rendered(
            "{ size: 256x192, sequence: [ ./a.mkv, ./b.mkv ], layers: [ { subtitle: ./c.srt, at: 200ms, size: 20, color: yellow } ] }",
            in: scratch, isolation: isolation)
        _ = try FileManager.default.moveItem(atPath: scratch.file("o.mkv"), toPath: scratch.file("drawn.mkv"))
        _ = try rendered(
            "{ size: 256x192, sequence: [ ./a.mkv, ./b.mkv ] }", in: scratch, isolation: isolation)
        let drawn = FFmpegFile(scratch.file("drawn.mkv"))
        let differs = zip(try drawn.frameHashes(), try FFmpegFile(scratch.file("o.mkv")).frameHashes()).map {
            $0 != $1
        }
        let expected = (0..<100).map { (15..<35).contains($0) || (55..<80).contains($0) }
        #expect(
            differs == expected,
            "\(differs.enumerated().filter { $0.element != expected[$0.offset] }.map(\.offset))")
        // ffmpeg's conversion of the same events to ASS, rendered with the same font.
        try ffmpeg("-itsoffset", "0.2", "-i", scratch.file("c.srt"), scratch.file("late.ass"))
        let script = try String(contentsOfFile: scratch.file("late.ass"), encoding: .utf8)
        try scratch.write(
            script.replacingOccurrences(
                of: "Default,Arial,16,&Hffffff", with: "Default,DejaVu Sans,30,&H0000ffff"),
            to: "late.ass")
        try ffmpeg(
            "-i", scratch.file("o.mkv"), "-an", "-vf", "ass=\(scratch.file("late.ass"))", "-c:v", "ffv1",
            scratch.file("r.mkv"))
        #expect(try drawn.frameHashes() == (try FFmpegFile(scratch.file("r.mkv")).frameHashes()))
    }

    /// ASS files keep their styles. Subtitle tracks of media files are drawn like subtitle files.
    @Test func subtitleFilesAndTracksAreDrawnAlike() throws {
        let scratch = try folder()
        try captions(in: scratch)
        try ffmpeg("-i", scratch.file("c.srt"), scratch.file("c.ass"))
        try ffmpeg(
            "-i", scratch.file("a.mkv"), "-i", scratch.file("c.srt"), "-map", "0:v", "-map", "1:s", "-c",
            "copy",
            scratch.file("with.mkv"))
        try ffmpeg("-i", scratch.file("c.srt"), "-c:s", "mov_text", scratch.file("c.mp4"))
        var hashes: [[String]] = []
        for layer in [
            "{ subtitle: ./c.ass, font: DejaVu Sans }", "{ subtitle: ./with.mkv, track: 0 }",
            "{ subtitle: ./c.mp4 }",
        ] {
            let output = try rendered("{ sequence: [ ./a.mkv, ./b.mkv ], layers: [ \(layer) ] }", in: scratch)
            hashes.append(try output.frameHashes())
            try FileManager.default.removeItem(atPath: scratch.file("o.mkv"))
        }
        let different = zip(hashes[0], hashes[1]).enumerated().filter { $0.element.0 != $0.element.1 }.map(
            \.offset)
        #expect(different == [], "\(different)")
        let plain = try ["a", "b"].flatMap { try FFmpegFile(scratch.file("\($0).mkv")).frameHashes() }
        for drawn in hashes {
            let differs = zip(drawn, plain).map { $0 != $1 }
            #expect(differs == (0..<100).map { (10..<30).contains($0) || (50..<75).contains($0) })
        }
    }

    @Test func invalidSubtitleLayersAreErrors() throws {
        let scratch = try folder()
        try captions(in: scratch)
        for (layer, words, command) in [
            ("{ subtitle: ./none.srt }", "none.srt", "plan"),
            ("{ subtitle: ./c.srt, size: 1 }", "`size`", "validate"),
            ("{ subtitle: ./c.srt, color: pink }", "`color`", "validate"),
            ("{ subtitle: ./c.srt, opacity: 0.5 }", "`opacity`", "validate"),
        ] {
            let errors = try error("{ sequence: [ ./a.mkv ], layers: [ \(layer) ] }", in: scratch, command)
            #expect(errors.contains(words) && errors.contains("jobs.yaml:4:"), "\(layer): \(errors)")
        }
    }
}
