import Foundation
import TestSupport
import Testing

/// Tests packages that are read as sources.
@Suite struct PackageAssetTests {
    /// Creates a folder with the package `out/p` of a source of 5 s: video in two sizes, audio in two languages, and
    /// subtitles.
    private func folder(_ package: String = "") throws -> Scratch {
        let scratch = try Scratch()
        try scratch.writePackageSource()
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                outputs:
                  hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, b_frames: 2 } } ] }
                  sd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, size: 64x } } ] }
                  en: { tracks: [ { audio: { language: eng }, encode: { codec: aac } } ] }
                  de: { tracks: [ { audio: { language: deu }, encode: { codec: aac } } ] }
                  text: { tracks: [ { subtitle: first, language: eng, encode: { codec: webvtt } } ] }
                package: { segment: 2s, destination: out/p\(package) }
            """, to: "package.yaml")
        try run(scratch, "package.yaml")
        return scratch
    }

    private func run(_ scratch: Scratch, _ file: String = "jobs.yaml", _ options: String...) throws {
        let result = try tandem(["run"] + options + [file], in: scratch)
        try #require(result.status == 0, "\(result.errors)")
    }

    private func tandem(_ arguments: [String], in scratch: Scratch) throws -> ProgramResult {
        try program(
            TestPaths.tandem, arguments, directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private func job(_ asset: String, _ lines: String, to destination: String = "b.mkv") -> String {
        """
        version: 1
        jobs:
          read:
            asset: \(asset)
        \(lines.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n"))
            destination: \(destination)
        """
    }

    private let copies = """
        tracks:
          - { video: all, copy: true }
          - { audio: all, copy: true }
          - { subtitle: all, encode: { codec: webvtt } }
        """

    /// Returns a property of all streams of a type, as ffprobe prints it.
    private func property(_ name: String, _ selector: String, _ path: String) throws -> [String] {
        let result = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", selector, "-show_entries", "stream\(name)", "-of",
                "csv=p=0", path,
            ])
        return result.text.split(separator: "\n").map(String.init)
    }

    private func subtitles(_ path: String) throws -> [String] {
        let result = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "s", "-show_entries", "packet=pts_time,duration_time",
                "-of",
                "csv=p=0", path,
            ])
        return result.text.split(separator: "\n").map(String.init)
    }

    /// Copies have the packets of the variant with the highest bandwidth, and all audio and subtitles of its groups.
    @Test(arguments: [
        (", files: many", "master.m3u8"), (", files: single", "master.m3u8"),
        (", files: many", "manifest.mpd"),
        (", files: single", "manifest.mpd"),
    ])
    func packagesAreCopiedToOneFile(_ package: String, _ manifest: String) throws {
        let scratch = try folder(package)
        try scratch.write(job("{ playlist: out/p/\(manifest) }", copies), to: "jobs.yaml")
        try run(scratch)
        let (copy, path) = (FFmpegFile(scratch.file("b.mkv")), scratch.file("b.mkv"))
        #expect(try property("=width", "v", path) == ["128"])
        #expect(
            try copy.packetHashes("v:0")
                == FFmpegFile(scratch.file("out/p/hd/playlist.m3u8")).packetHashes("v:0"))
        #expect(try property("_tags=language", "a", path) == ["eng", "deu"])
        #expect(try property("_disposition=default", "a", path) == ["1", "0"])
        for (index, id) in ["en", "de"].enumerated() {
            #expect(
                try copy.packetHashes("a:\(index)")
                    == FFmpegFile(scratch.file("out/p/\(id)/playlist.m3u8")).packetHashes("a:0"))
        }
        #expect(try subtitles(path) == ["0.500000,2.500000", "4.000000,0.500000"])
        #expect(try property("_tags=language", "s", path) == ["eng"])
    }

    /// Subtitles of transport streams are at the times of the media, which don't begin at 0.
    @Test(arguments: ["many", "single"]) func transportStreamsHaveOneTimeLine(_ files: String) throws {
        let scratch = try folder(", formats: [hls], container: ts, files: \(files)")
        try scratch.write(
            job(
                "{ playlist: out/p/master.m3u8 }",
                """
                tracks:
                  - { video: first, copy: true }
                  - { audio: first, copy: true }
                  - { subtitle: first, encode: { codec: webvtt } }
                """), to: "jobs.yaml")
        try run(scratch)
        let path = scratch.file("b.mkv")
        let start = try #require(FFmpegFile(path).frames().times.first)
        // Audio begins with the encoder delay of 1024 samples, which is longer in the second rendition.
        #expect(abs(start - 1024.0 / 44_100) < 0.0015)
        let first = try #require(subtitles(path).first?.split(separator: ",").first.flatMap { Double($0) })
        #expect(abs(first - start - 0.5) < 0.0015)
        #expect(try FFmpegFile(path).frames().times.count == 125)
    }

    /// A range is cut like that of a file: frames, samples and subtitles begin at its start.
    @Test(arguments: ["worker", "none"]) func rangesAreEncoded(_ isolation: String) throws {
        let scratch = try folder()
        try scratch.write(
            job(
                "{ playlist: out/p/master.m3u8 }",
                """
                range: { start: 2.2s, end: 4.2s }
                tracks:
                  - { video: first, encode: { codec: ffv1 } }
                  - { audio: { language: ger }, encode: { codec: flac } }
                  - { subtitle: first, encode: { codec: webvtt } }
                """), to: "jobs.yaml")
        try run(scratch, "jobs.yaml", "--isolation", isolation)
        let (part, whole) = (
            FFmpegFile(scratch.file("b.mkv")), FFmpegFile(scratch.file("out/p/hd/playlist.m3u8"))
        )
        #expect(try part.frameHashes() == Array(whole.frameHashes()[55..<105]))
        #expect(try part.samples(rate: 44_100).count == 88_200)
        #expect(try subtitles(scratch.file("b.mkv")) == ["0.000000,0.800000", "1.800000,0.200000"])
    }

    @Test func smartCutsCopyWholeGOPs() throws {
        let scratch = try folder()
        try scratch.write(
            job(
                "{ playlist: out/p/hd/playlist.m3u8 }",
                """
                range: { start: 1s, end: 5s }
                cut: smart
                tracks: [ { video: first, copy: true } ]
                """, to: "b.mp4"), to: "jobs.yaml")
        try run(scratch)
        let (part, whole) = (
            FFmpegFile(scratch.file("b.mp4")), FFmpegFile(scratch.file("out/p/hd/playlist.m3u8"))
        )
        #expect(try part.frames().times.count == 100)
        // The GOP from 2 s on is copied.
        #expect(try Array(part.frameHashes()[25..<75]) == Array(whole.frameHashes()[50..<100]))
    }

    /// A package of a package has the same packets.
    @Test func packagesAreCopiedToPackages() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              again:
                asset: { playlist: out/p/master.m3u8 }
                outputs:
                  v: { tracks: [ { video: first, copy: true } ] }
                  a: { tracks: [ { audio: first, copy: true } ] }
                  s: { tracks: [ { subtitle: first, encode: { codec: webvtt } } ] }
                package: { segment: 2s, destination: out/q }
            """, to: "jobs.yaml")
        try run(scratch)
        for (new, old) in [("v", "hd"), ("a", "en")] {
            #expect(
                try FFmpegFile(scratch.file("out/q/\(new)/playlist.m3u8")).packetHashes("0")
                    == FFmpegFile(scratch.file("out/p/\(old)/playlist.m3u8")).packetHashes("0"))
        }
        #expect(
            try scratch.lines("out/q/s/subtitles.vtt") == scratch.lines("out/p/text/subtitles.vtt"))
    }

    /// A job runs again if a segment changed, and not otherwise.
    @Test(arguments: ["stat", "content"]) func changedSegmentsCauseAnotherRun(_ mode: String) throws {
        let scratch = try folder()
        try scratch.write(job("{ playlist: out/p/master.m3u8 }", copies), to: "jobs.yaml")
        let options = ["run", "--fingerprint", mode, "jobs.yaml"]
        #expect(try tandem(options, in: scratch).status == 0)
        #expect(
            try tandem(options, in: scratch).errors.contains("1 of 1 jobs done, 1 of them up to date"))
        let segment = scratch.file("out/p/en/00002.m4s")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
        bytes[bytes.count - 20] ^= 1
        try bytes.write(to: URL(fileURLWithPath: segment))
        let result = try tandem(options, in: scratch)
        #expect(result.status == 0 && result.errors.contains("1 of 1 jobs done\n"), "\(result.errors)")
    }

    /// Manifests that refer to anything outside of their folder, and those that can't be read as one source, are errors at
    /// the playlist in the job file.
    @Test(arguments: [
        (
            "https://a/1.m4s",
            "line 5: `https://a/1.m4s` is a URL; only files beneath the package's folder are read"
        ),
        ("../a.mp4", "line 5: `../a.mp4` is outside of the package's folder"),
        (
            "/etc/passwd",
            "line 5: `/etc/passwd` is an absolute path; only files beneath the package's folder are read"
        ),
        ("link.m4s", "link.m4s doesn't exist, isn't a regular file, or is outside of the package's folder"),
        ("2.m4s", "2.m4s doesn't exist, isn't a regular file, or is outside of the package's folder"),
        (
            "1.m4s\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\n1.m4s",
            "line 6: a discontinuity can't be read as part of a source"
        ),
        ("1.m4s\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "the rendition is encrypted"),
    ])
    func hostileManifestsAreErrors(_ segment: String, _ message: String) throws {
        let scratch = try Scratch()
        try scratch.write("a", to: "a.mp4")
        try scratch.write("a", to: "p/1.m4s")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("p/link.m4s"), withDestinationPath: scratch.file("a.mp4"))
        try scratch.write(
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"1.m4s\"\n#EXTINF:1,\n\(segment)\n#EXT-X-ENDLIST\n",
            to: "p/a.m3u8")
        try scratch.write(
            job("{ playlist: p/a.m3u8 }", "tracks: [ { video: first, copy: true } ]"), to: "jobs.yaml")
        let result = try tandem(["plan", "jobs.yaml"], in: scratch)
        #expect(result.status == 3)
        #expect(
            result.errors.split(separator: "\n").first
                == "jobs.yaml:4:24: error[source-unreadable]: a.m3u8: \(message)")
    }

    @Test func packagesAreNeitherClipsNorOverwritten() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              joined:
                composition: [ { asset: { playlist: out/p/master.m3u8 } } ]
                tracks: [ { video: first, encode: { codec: h264 } } ]
                destination: b.mp4
              segment:
                asset: { playlist: out/p/master.m3u8 }
                tracks: [ { video: first, encode: { codec: h264 } } ]
                container: mp4
                destination: { path: out/p/hd/00001.m4s, if_exists: replace }
              plain:
                asset: out/p/master.m3u8
                tracks: [ { video: first, encode: { codec: h264 } } ]
                destination: c.mp4
            """, to: "jobs.yaml")
        let result = try tandem(["plan", "jobs.yaml"], in: scratch)
        let messages = result.errors.split(separator: "\n").filter {
            $0.hasPrefix("jobs.yaml") || $0.hasPrefix("  help")
        }
        let segment = scratch.file("out/p/hd/00001.m4s")
        #expect(
            messages == [
                "jobs.yaml:4:41: error[not-supported]: a package can't be part of a composition; use a job that copies it to a file",
                "jobs.yaml:11:26: error[destination-is-source]: the destination is also a source, which is never overwritten: \(segment)",
                "jobs.yaml:13:12: error[source-unreadable]: master.m3u8: playlists and scripts (hls) are not supported, because they refer to other files",
                "  help: a streaming package is `asset: { playlist: master.m3u8 }`",
            ])
    }

    /// ffmpeg's packages are read as well.
    @Test(arguments: ["fmp4", "mpegts"]) func packagesOfOthersAreRead(_ type: String) throws {
        let scratch = try folder()
        try FileManager.default.createDirectory(
            atPath: scratch.file("other"), withIntermediateDirectories: true)
        try ffmpeg(
            "-i", scratch.file("a.mp4"), "-map", "0:v", "-map", "0:a:0", "-c", "copy", "-f", "hls",
            "-hls_segment_type", type, "-hls_time", "1", "-hls_playlist_type", "vod",
            scratch.file("other/a.m3u8"))
        try scratch.write(
            job(
                "{ playlist: other/a.m3u8 }",
                "tracks: [ { video: first, copy: true }, { audio: first, copy: true } ]"), to: "jobs.yaml")
        try run(scratch)
        #expect(
            try FFmpegFile(scratch.file("b.mkv")).frameHashes()
                == FFmpegFile(scratch.file("a.mp4")).frameHashes())
    }
}
