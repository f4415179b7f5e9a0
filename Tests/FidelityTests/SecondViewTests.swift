import Foundation
import JobPlan
import JobSpec
import TestSupport
import Testing

/// MV-HEVC: libavformat neither reads nor writes the configuration of the second view (`lhvC`).
@Suite struct SecondViewTests {
    @Test(arguments: [
        ("copy: true", "libavformat can't write its configuration (lhvC); players show the first view"),
        ("encode: { codec: ffv1 }", "libavcodec decodes only the first view"),
    ]) func secondViewIsInTheLedger(_ action: String, _ reason: String) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.2,setsar=4/3", "-c:v", "libx265", "-x265-params",
            "log-level=none", "-tag:v", "hvc1", scratch.file("a.mp4"))
        // The box of the pixel aspect ratio is renamed.
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: scratch.file("a.mp4"))))
        let (old, new) = (Array("pasp".utf8), Array("lhvC".utf8))
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: old) })
        for view in [false, true] {
            if view { bytes.replaceSubrange(at..<(at + 4), with: new) }
            try Data(bytes).write(to: URL(filePath: scratch.file("b.mp4")))
            let (file, _) = decode(
                "version: 1\njobs:\n  it: { asset: ./b.mp4, tracks: [ { video: first, \(action) } ], destination: o.mkv }\n",
                directory: scratch.path)
            let result = BatchPlanner.plan([try #require(file)])
            let entries = try #require(result.plan.jobs.first?.outputs.first?.ledger)
            #expect(
                entries.filter { $0.item.text == "side data second view" }.map(\.reason)
                    == (view ? [reason] : []),
                "\(entries)")
        }
    }
}
