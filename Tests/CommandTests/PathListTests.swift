import Foundation
import TestSupport
import Testing

/// Assets of several files, through the program.
@Suite struct PathListTests {
    /// Each file that a pattern or a path of the list includes is encoded once, and no excepted one.
    @Test(.enabled(if: TestPaths.media != nil)) func jobs_runForEachFileOfAList() throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: true)
        for (source, name) in [
            ("sine_24le.wav", "b.wav"), ("sine_24le.wav", "a.wav"), ("bear.opus", "bear.opus"),
            ("bear_with_picture.flac", "bear.flac"), ("sine_24le.wav", "draft-b.wav"),
            ("440hz-10ms.m4a", "short.m4a"),
        ] {
            try FileManager.default.copyItem(atPath: media + "/" + source, toPath: scratch.file("in/" + name))
        }
        try scratch.write(
            """
            version: 1
            assets:
              audio: { paths: [in/short.m4a, "in/*.wav", "in/*.{opus,flac}"], except: ["in/draft-*"] }
            jobs:
              one:
                asset: audio
                tracks: [ { audio: first, encode: { codec: flac } } ]
                destination: "out/${asset.stem}.${asset.ext}.flac"
            """, to: "jobs.yaml")
        #expect(try tandem("validate", "jobs.yaml", in: scratch).errors == "")
        let plan = try tandem("plan", "--format", "json", "jobs.yaml", in: scratch)
        let json = try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any]
        let jobs = try #require((json?["plan"] as? [String: Any])?["jobs"] as? [[String: Any]])
        #expect(
            jobs.map { $0["id"] as? String } == [
                "one[short.m4a]", "one[a.wav]", "one[b.wav]", "one[bear.flac]", "one[bear.opus]",
            ])
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let outputs = scratch.contents.filter { $0.hasPrefix("out/") }
        #expect(
            outputs == [
                "out/a.wav.flac", "out/b.wav.flac", "out/bear.flac.flac", "out/bear.opus.flac",
                "out/short.m4a.flac",
            ])
        for output in outputs { #expect(try FFmpegFile(scratch.file(output)).decodeErrors() == "") }
    }

    /// Braces without a wildcard are part of the file's name, and a missing file leads to `paths`, which expands them.
    @Test func bracesInAPath_areLiteral() throws {
        let scratch = try folderWithSource()
        try FileManager.default.moveItem(
            atPath: scratch.file("a.mp4"), toPath: scratch.file("{a,b}.mp4"))
        func write(_ asset: String) throws {
            try scratch.write(
                """
                version: 1
                jobs:
                  one:
                    asset: \(asset)
                    tracks: [ { video: first, copy: true } ]
                    destination: "out/${asset.stem}.mkv"
                """, to: "jobs.yaml")
        }
        try write("\"./{a,b}.mp4\"")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == ["out/{a,b}.mkv"])
        try write("\"./{c,d}.mp4\"")
        let missing = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(missing.status == 3)
        #expect(
            missing.errors.split(separator: "\n").contains(
                "  help: braces are expanded only in patterns, which contain `*`, `?` or `[…]`, and in `paths`; use `asset: { paths: [\"{c,d}.mp4\"] }`"
            ), "\(missing.errors)")
        try write("{ paths: [\"{c,d}.mp4\"] }")
        let each = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(each.status == 3)
        let errors = each.errors.split(separator: "\n").filter { $0.hasPrefix("jobs.yaml:") }
        #expect(errors.count == 2, "\(each.errors)")
    }
}
