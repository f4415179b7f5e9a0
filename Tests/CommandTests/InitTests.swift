internal import Foundation
internal import TestSupport
internal import Testing

/// `init` writes a job file that describes its source, runs unchanged, and creates widely supported output.
@Suite struct InitTests {
    /// The generated job file contains every track, for all file names.
    @Test func unusualFileNamesAreQuoted() throws {
        let scratch = try folderWithSource()
        try FileManager.default.copyItem(
            atPath: scratch.file("a.mp4"), toPath: scratch.file("we \"ird\\ ${x} [1]? 日本.mp4"))
        for name in ["a.mp4", "we \"ird\\ ${x} [1]? 日本.mp4"] {
            let draft = try tandem("init", name, in: scratch)
            #expect(draft.status == 0)
            try scratch.write(draft.text, to: "draft.yaml")
            let plan = try tandem("plan", "draft.yaml", in: scratch)
            #expect(plan.status == 0, "\(plan.errors)")
            #expect(plan.text.contains("audio aac") && !plan.text.contains("no rule selects it"))
        }
        #expect(try tandem("init", "nothing.mp4", in: scratch).status == 1)
    }

    /// Generated job files for subtitles, a timecode, HDR, 10 bits, and low sample rates describe their source and run.
    @Test func draftsDescribeTheirSourceAndRun() throws {
        let scratch = try Scratch()
        try scratch.write("1\n00:00:00,000 --> 00:00:00,500\nHello\n", to: "s.srt")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-f", "lavfi", "-i",
            "sine=duration=1:sample_rate=16000", "-i", scratch.file("s.srt"), "-map", "0", "-map", "1",
            "-map", "2",
            "-c:v", "libx265", "-x265-params",
            "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc", "-pix_fmt",
            "yuv420p10le",
            "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
            "-c:a", "pcm_s16le", "-c:s", "srt", scratch.file("hdr.mkv"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-c:v", "prores_ks", "-timecode",
            "01:00:00:00", scratch.file("tc.mov"))
        try ffmpeg(
            "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono:d=1", "-c:a", "pcm_mulaw", scratch.file("low.wav"))
        for (name, words) in [
            (
                "hdr.mkv",
                [
                    "encode: { codec: mov_text }", "color: sdr",
                    "HDR (smpte2084)",
                ]
            ),
            ("tc.mov", ["kept: rewritten", "pixel_format: yuv420p"]), ("low.wav", ["# bitrate"]),
        ] {
            let draft = try tandem("init", name, in: scratch)
            #expect(draft.status == 0, "\(draft.errors)")
            #expect(draft.text.hasPrefix("# yaml-language-server: $schema="))
            for word in words { #expect(draft.text.contains(word), "\(name): \(draft.text)") }
            try scratch.write(draft.text, to: "draft.yaml")
            #expect(try tandem("validate", "draft.yaml", in: scratch).status == 0)
            let plan = try tandem("plan", "draft.yaml", in: scratch)
            #expect(
                plan.status == 0 && !plan.text.contains("not supported by browsers"),
                "\(plan.text)\(plan.errors)")
            let run = try tandem("run", "draft.yaml", in: scratch)
            #expect(run.status == 0, "\(run.errors)")
        }
        let probe = try tandem("probe", "out/hdr-web.mp4", in: scratch).text
        #expect(
            probe.contains("yuv420p") && probe.contains("bt709") && probe.contains("mov_text"), "\(probe)")
    }

    @Test func sourcesWithoutEncodableTracksAreErrors() throws {
        let scratch = try Scratch()
        try scratch.write("1\n00:00:00,000 --> 00:00:00,500\nHello\n", to: "s.srt")
        let draft = try tandem("init", "s.srt", in: scratch)
        #expect(draft.status == 1 && draft.text.isEmpty, "\(draft.text)")
        #expect(draft.errors.contains("no track can be encoded"), "\(draft.errors)")
    }

    /// The plan notes settings that are valid but that many players don't support.
    @Test(arguments: [
        ("codec: h264, pixel_format: yuv420p10le", "o.mp4", "10 bits"),
        ("codec: h264, pixel_format: yuv422p", "o.mp4", "4:2:2"),
        ("codec: h264, pixel_format: yuv444p", "o.mkv", "4:4:4"),
        (
            "codec: h264, color: { primaries: bt2020, transfer: arib-std-b67, matrix: bt2020nc }", "o.mp4",
            "HDR"
        ),
    ]) func planNotesSettingsThatManyPlayersDontSupport(encode: String, name: String, words: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: encode, destination: name), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.text.contains("  note       track 0: ") && plan.text.contains(words),
            "\(plan.text)\(plan.errors)")
    }
}
