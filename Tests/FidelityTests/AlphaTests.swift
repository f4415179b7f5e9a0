import Diagnostics
import Foundation
import JobPlan
import JobRun
import TestSupport
import Testing

/// Alpha is kept, or its loss is reported, both for alpha in the frame and for a separate plane as in VP9.
@Suite struct AlphaTests {
    private func movie(in scratch: Scratch) throws -> String {
        try ffmpeg(
            "-f", "lavfi", "-i",
            "testsrc2=s=160x120:r=25:d=1,format=yuva444p10le,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='mod(X*4+N*8,1024)'",
            "-c:v", "prores_ks", "-profile:v", "4444", scratch.file("s.mov"))
        return scratch.file("s.mov")
    }

    /// Returns hashes of the alpha planes, decoded by libvpx or another decoder.
    private func alpha(_ path: String, decoder: [String] = ["-c:v", "libvpx-vp9"]) throws -> [String] {
        try program(
            "ffmpeg",
            ["-v", "error"] + decoder
                + [
                    "-i", path, "-vf", "format=yuva420p,alphaextract", "-fps_mode", "passthrough", "-f",
                    "framemd5", "-",
                ]
        ).text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
    }

    private func job(_ asset: String, _ how: String, _ output: String, _ more: String = "") -> String {
        """
        version: 1
        jobs:
          j: { asset: \(asset), tracks: [ { video: first, \(how) } ], destination: \(output)\(more) }
        """
    }

    /// A separate alpha plane is kept when ProRes is encoded to VP9, copied, and encoded with a codec that stores alpha
    /// in the frame.
    @Test func separateAlphaPlaneIsKept() async throws {
        let scratch = try Scratch()
        let source = try movie(in: scratch)
        _ = try success(
            try await run(job(source, "encode: { codec: vp9, preset: realtime }", "a.webm"), in: scratch.path)
        )
        let shown = try alpha(scratch.file("a.webm"))
        #expect(shown.count == 25 && Set(shown).count > 1)
        #expect(
            try program(
                "ffprobe",
                [
                    "-v", "error", "-show_entries", "stream_tags=alpha_mode", "-of", "csv=p=0",
                    scratch.file("a.webm"),
                ]
            )
            .text.hasPrefix("1"))
        for (name, more) in [("b.mkv", ""), ("c.webm", ", metadata: { keep: none }")] {
            let records = try await run(job("./a.webm", "copy: true", name, more), in: scratch.path)
            _ = try success(records)
            #expect(try alpha(scratch.file(name)) == shown)
            #expect(
                try #require(records.first?.plan).outputs[0].ledger.contains {
                    $0.item.text.lowercased() == "tag alpha_mode" && $0.outcome == .copied
                })
        }
        _ = try success(try await run(job("./b.mkv", "encode: { codec: ffv1 }", "d.mkv"), in: scratch.path))
        #expect(try alpha(scratch.file("d.mkv"), decoder: []) == shown)
        #expect(
            try FFmpegFile(scratch.file("d.mkv")).stream("v:0", "pix_fmt")["pix_fmt"] as? String == "yuva420p"
        )
    }

    /// If an output can't store alpha, the plan reports its loss, and requesting it is an error.
    @Test func lostAlphaIsReported() async throws {
        let scratch = try Scratch()
        let source = try movie(in: scratch)
        let encoded = try await run(
            job(source, "encode: { codec: vp9, preset: realtime }", "a.mp4"), in: scratch.path)
        _ = try success(encoded)
        #expect(
            try #require(encoded.first?.plan).outputs[0].notes.contains {
                $0.contains("the alpha plane is dropped")
            })
        _ = try success(
            try await run(job(source, "encode: { codec: vp9, preset: realtime }", "a.webm"), in: scratch.path)
        )
        let copied = try await run(job("./a.webm", "copy: true", "b.mp4"), in: scratch.path)
        _ = try success(copied)
        #expect(
            try #require(copied.first?.plan).outputs[0].ledger.contains {
                $0.item.text == "alpha plane" && $0.outcome == .dropped
            })
        let wrong = decode(job("./a.webm", "encode: { codec: vp9, pixel_format: yuva420p }", "c.mp4"))
        #expect(wrong.sink.diagnostics.contains { $0.message.contains("can't store the alpha plane") })
    }
}
