import Foundation
import TestSupport
import Testing

/// Tests copied tracks in packages, failed renditions and killed publications.
@Suite struct PackageCopyTests {
    private func copy(_ rule: String, of source: String) -> String {
        """
        version: 1
        jobs:
          one:
            asset: ./\(source)
            outputs: { a: { tracks: [ { \(rule): first, copy: true } ] } }
            package: { segment: 1s, destination: out/p }
        """
    }

    /// HE-AAC is named by its object type, also where its configuration is backward compatible.
    @Test func copiedHighEfficiencyAudio_hasItsObjectType() throws {
        let scratch = try Scratch()
        let source = scratch.file("a.m4a")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=duration=4:sample_rate=22050", "-c:a", "aac", "-b:a", "48k", source)
        try GaplessFile.makeHighEfficiency(source, doubledRate: 4)
        try scratch.write(copy("audio", of: "a.m4a"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        let master = try scratch.lines("out/p/master.m3u8").filter { $0.hasPrefix("#EXT-X-STREAM-INF") }
        #expect(master.count == 1 && master[0].contains("CODECS=\"mp4a.40.5\""), "\(master)")
        let manifest = try String(contentsOfFile: scratch.file("out/p/manifest.mpd"), encoding: .utf8)
        #expect(manifest.contains("codecs=\"mp4a.40.5\"") && manifest.contains("audioSamplingRate=\"44100\""))
        #expect(
            try FFmpegFile(scratch.file("out/p/a/playlist.m3u8")).packetHashes("a:0")
                == FFmpegFile(source).packetHashes("a:0"))
    }

    /// Each copied segment can be decoded after the initialization section alone.
    @Test(arguments: [("libvpx-vp9", "vp09."), ("libaom-av1", "av01.")])
    func copiedSegmentsAreIndependent(_ encoder: String, _ codec: String) throws {
        let scratch = try Scratch()
        let options = encoder == "libaom-av1" ? ["-cpu-used", "8"] : ["-deadline", "realtime"]
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=3", "-c:v", encoder, "-g", "25"]
                + options + [scratch.file("a.mp4")])
        try scratch.write(copy("video", of: "a.mp4"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        let master = try scratch.lines("out/p/master.m3u8").filter { $0.hasPrefix("#EXT-X-STREAM-INF") }
        #expect(master.count == 1 && master[0].contains("CODECS=\"\(codec)"), "\(master)")
        let all = try FFmpegFile(scratch.file("a.mp4")).frameHashes()
        let durations = try scratch.durations("out/p/a/playlist.m3u8")
        #expect(durations == [1, 1, 1])
        for index in durations.indices {
            let parts = ["init.mp4", "0000\(index + 1).m4s"].map { scratch.file("out/p/a/" + $0) }
            let bytes = try parts.reduce(Data()) { try $0 + Data(contentsOf: URL(fileURLWithPath: $1)) }
            try bytes.write(to: URL(fileURLWithPath: scratch.file("segment.mp4")))
            let segment = FFmpegFile(scratch.file("segment.mp4"))
            #expect(try segment.decodeErrors() == "")
            #expect(try segment.frameHashes() == Array(all[(index * 25)..<(index * 25 + 25)]))
        }
    }

    private func ladder(_ expectation: String = "") -> String {
        """
        version: 1
        jobs:
          one:
            asset: ./a.mp4
            outputs:
              hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ]\(expectation) }
              poster: { images: { at: 0s }, destination: out/a.jpg }
            package: { segment: 1s, destination: out/p }
        """
    }

    /// A rendition that fails its expectations is a file that can be played.
    @Test func failedRenditionsAreKept() throws {
        let scratch = try folderWithSource()
        try scratch.write(ladder(", expect: { size: { max: 10B } }"), to: "jobs.yaml")
        for _ in 0..<2 {
            let result = try tandem("run", "--keep-failed", "jobs.yaml", in: scratch)
            #expect(result.status == 5, "\(result.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out"))
            #expect(names == ["p.hd.failed.mp4"])
        }
        #expect(try FFmpegFile(scratch.file("out/p.hd.failed.mp4")).frames().times.count == 25)
    }

    /// Killed in a system call that publishes, a job leaves each output absent or complete, and the next run creates the
    /// missing ones.
    @Test(arguments: ["fsync:2", "fsync:4", "linkat:1", "renameat2:1", "renameat2:2"])
    func killsLeaveWholePackages(_ call: String) throws {
        let parts = call.split(separator: ":")
        let scratch = try folderWithSource()
        try scratch.write(ladder(), to: "jobs.yaml")
        _ = try program(
            "strace",
            [
                "-f", "-qq", "-o", scratch.file("trace"), "-e",
                "inject=\(parts[0]):signal=SIGKILL:when=\(parts[1])", TestPaths.tandem, "run", "jobs.yaml",
            ], directory: scratch.path, environment: ["SWIFT_BACKTRACE": "enable=no"])
        let folder = scratch.file("out/p")
        if FileManager.default.fileExists(atPath: folder) {
            #expect(try FFmpegFile(folder + "/master.m3u8").frames().times.count == 25)
            #expect(try tandem("probe", "out/p/manifest.mpd", in: scratch).status == 0)
        }
        if FileManager.default.fileExists(atPath: scratch.file("out/a.jpg")) {
            #expect(try FFmpegFile(scratch.file("out/a.jpg")).decodeErrors() == "")
        }
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try FFmpegFile(folder + "/master.m3u8").frames().times.count == 25)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
        #expect(names == ["a.jpg", "p"])
        let again = try tandem("run", "jobs.yaml", in: scratch)
        #expect(again.errors.contains("1 of 1 jobs done, 1 of them up to date"), "\(again.errors)")
    }

    /// The report lists the renditions of a package, with links that are relative to the report.
    @Test func reportsListRenditions() throws {
        let scratch = try folderWithSource()
        try scratch.write(ladder(), to: "jobs.yaml")
        try FileManager.default.createDirectory(
            atPath: scratch.file("reports"), withIntermediateDirectories: true)
        let result = try tandem(
            "run", "--report", "reports/a b.html", "--report", "reports/a.json", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        let page = try String(contentsOfFile: scratch.file("reports/a b.html"), encoding: .utf8)
        for link in ["../out/p/master.m3u8", "../out/p/manifest.mpd", "../out/p/hd/playlist.m3u8"] {
            #expect(page.contains("<a href=\"\(link)\">"), "\(link)")
        }
        let json = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: scratch.file("reports/a.json"))))
        let jobs = try #require((json as? [String: Any])?["jobs"] as? [[String: Any]])
        let package = try #require(jobs.lazy.compactMap { $0["package"] as? [String: Any] }.first)
        #expect(package["manifests"] as? [String] == ["master.m3u8", "manifest.mpd"])
        let renditions = try #require(package["renditions"] as? [[String: Any]])
        #expect(renditions.map { $0["id"] as? String } == ["hd"])
        let bandwidth = try scratch.lines("out/p/master.m3u8").compactMap { line in
            line.split(separator: "BANDWIDTH=").dropFirst().first.flatMap { Int($0.prefix { $0 != "," }) }
        }.first
        #expect(renditions.first?["bandwidth"] as? Int == bandwidth)
        #expect(renditions.first?["segments"] as? Int == 1)
    }
}
