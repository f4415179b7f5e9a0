import FileSystem
import Foundation
import TestSupport
import Testing

/// Packages are judged by ffmpeg, ffprobe and xmllint.
@Suite struct PackageTests {
    /// Creates a folder with a source `a.mp4` of 5 s: video with B-frames, audio in two languages, and subtitles.
    private func folder(rate: String = "25") throws -> Scratch {
        let scratch = try Scratch()
        try scratch.writePackageSource(rate: rate)
        return scratch
    }

    private func jobs(_ package: String = "", crf: Int = 30, video: String = "") -> String {
        """
        version: 1
        jobs:
          one:
            asset: ./a.mp4
            outputs:
              hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 30\(video) } } ] }
              sd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, size: 64x, crf: \(crf)\(video) } } ] }
              en: { tracks: [ { audio: { language: eng }, encode: { codec: aac } } ] }
              de: { tracks: [ { audio: { language: deu }, language: deu, encode: { codec: aac } } ] }
              text: { tracks: [ { subtitle: first, language: eng, encode: { codec: webvtt } } ] }
            package: { segment: 2s, destination: out/p\(package.isEmpty ? "" : ", " + package) }
        """
    }

    private func run(_ scratch: Scratch, status: Int32 = 0) throws {
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == status, "\(result.errors)")
    }

    private func lines(_ scratch: Scratch, _ path: String) throws -> [String] {
        try scratch.lines("out/p/" + path)
    }

    private func durations(_ scratch: Scratch, _ id: String) throws -> [Double] {
        try scratch.durations("out/p/\(id)/playlist.m3u8")
    }

    private func names(_ scratch: Scratch, _ folder: String = "out") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.file(folder)).sorted()
    }

    private func inode(_ scratch: Scratch, _ path: String) -> UInt64? {
        FileIdentity(path: scratch.file("out/p/" + path))?.inode
    }

    /// ffmpeg reads all frames of all renditions, from the playlists and from the manifest.
    @Test(arguments: ["25", "30000/1001"], ["many", "single"])
    func everyFrameIsInThePackage(rate: String, files: String) throws {
        let scratch = try folder(rate: rate)
        try scratch.write(jobs("files: \(files), iframes: true"), to: "jobs.yaml")
        try run(scratch)
        let frames = try FFmpegFile(scratch.file("a.mp4")).frames().times.count
        for id in ["hd", "sd"] {
            let playlist = FFmpegFile(scratch.file("out/p/\(id)/playlist.m3u8"))
            #expect(try playlist.frames().times.count == frames, "\(id)")
            #expect(try playlist.decodeErrors() == "", "\(id)")
            let keyframes = try lines(scratch, "\(id)/keyframes.m3u8")
            #expect(keyframes.filter { $0.hasPrefix("#EXT-X-BYTERANGE") }.count == 3)
        }
        let (hd, sd, en) = (
            try durations(scratch, "hd"), try durations(scratch, "sd"), try durations(scratch, "en")
        )
        #expect(hd == sd && hd.count == 3)
        let end = Double(frames) / (rate == "25" ? 25 : 30000.0 / 1001)
        #expect(abs(hd.reduce(0, +) - end) < 0.000_01)
        // Segments of audio end within half a packet of those of video.
        #expect(abs(en[0] - hd[0]) < 0.03 && abs(en[0] + en[1] - hd[0] - hd[1]) < 0.03)
        let manifest = scratch.file("out/p/manifest.mpd")
        #expect(try program("/usr/bin/xmllint", ["--noout", manifest]).status == 0)
        let probed = try FFmpegFile(manifest).probe([
            "-allowed_extensions", "ALL", "-select_streams", "v", "-count_packets", "-show_entries",
            "stream=width,nb_read_packets",
        ])
        let streams = try #require(probed["streams"] as? [[String: Any]])
        #expect(Set(streams.compactMap { $0["width"] as? Int }) == [64, 128])
    }

    /// Each segment can be decoded after the initialization section alone, with the first frame at its playlist time.
    @Test func segmentsAreIndependent() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        var start = 0.0
        for (index, duration) in try durations(scratch, "hd").enumerated() {
            let parts = ["init.mp4", "0000\(index + 1).m4s"].map { scratch.file("out/p/hd/" + $0) }
            let bytes = try parts.reduce(Data()) { try $0 + Data(contentsOf: URL(fileURLWithPath: $1)) }
            let path = scratch.file("segment.mp4")
            try bytes.write(to: URL(fileURLWithPath: path))
            let file = FFmpegFile(path)
            #expect(try file.decodeErrors() == "")
            let times = try file.frames().times
            #expect(times.count == Int((duration * 25).rounded()))
            #expect(abs((times.first ?? -1) - start) < 0.001)
            start += duration
        }
    }

    @Test func subtitlesAreDividedAtTheSameTimes() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        #expect(try durations(scratch, "text") == durations(scratch, "hd"))
        let texts = try (1...3).map { try lines(scratch, "text/0000\($0).vtt").joined(separator: " ") }
        // The cue from 0.5 s to 3 s is in both segments, with its own times.
        #expect(texts[0].contains("00:00.500 --> 00:03.000") && texts[1].contains("00:00.500 --> 00:03.000"))
        #expect(texts[2].contains("Two") && !texts[2].contains("One"))
        let master = try lines(scratch, "master.m3u8").filter { $0.contains("TYPE=SUBTITLES") }
        #expect(master.count == 1 && master[0].contains("LANGUAGE=\"en\""))
    }

    @Test func copiedVideoDeterminesTheSegments() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                outputs:
                  copy: { tracks: [ { video: first, copy: true } ] }
                  low: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, size: 64x } } ] }
                package: { segment: 1s, destination: out/p }
            """, to: "jobs.yaml")
        try run(scratch)
        // Keyframes every 30 frames, 1.2 s.
        #expect(try durations(scratch, "copy") == [1.2, 1.2, 1.2, 1.2, 0.2])
        #expect(try durations(scratch, "low") == durations(scratch, "copy"))
        let (source, copy) = (
            FFmpegFile(scratch.file("a.mp4")), FFmpegFile(scratch.file("out/p/copy/playlist.m3u8"))
        )
        #expect(try copy.decodedFrames().map(\.hash) == source.decodedFrames().map(\.hash))
        // Both videos begin segments with closed GOPs, so that players may switch between them.
        #expect(try lines(scratch, "master.m3u8").contains("#EXT-X-INDEPENDENT-SEGMENTS"))
        #expect(try lines(scratch, "manifest.mpd").count { $0.contains("<AdaptationSet") } == 1)
    }

    /// Copied video has independent segments if all of them begin with a closed GOP.
    @Test(arguments: [
        ("libx264", "x264", "open-gop=0:keyint=25:scenecut=0", true),
        ("libx264", "x264", "open-gop=1:keyint=25:scenecut=0", false),
        ("libx265", "x265", "log-level=none:open-gop=0:keyint=25:scenecut=0", true),
        ("libx265", "x265", "log-level=none:open-gop=1:keyint=25:scenecut=0", false),
    ]) func copiedSegmentsOfOpenGOPs_areNotIndependent(
        encoder: String, name: String, parameters: String, isClosed: Bool
    ) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=4", "-c:v", encoder, "-preset",
            "veryfast", "-bf", "2", "-\(name)-params", parameters, scratch.file("a.mp4"))
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                outputs: { copy: { tracks: [ { video: first, copy: true } ] } }
                package: { segment: 2s, destination: out/p }
            """, to: "jobs.yaml")
        try run(scratch)
        #expect(try durations(scratch, "copy").count == 2)
        let master = try lines(scratch, "master.m3u8")
        #expect(master.contains("#EXT-X-INDEPENDENT-SEGMENTS") == isClosed)
        let mpd = try lines(scratch, "manifest.mpd").joined()
        #expect(mpd.contains("startWithSAP=\"\(isClosed ? 2 : 3)\""))
    }

    /// The sheet is in both manifests with the times of its tiles, and a rerun takes it from the folder.
    @Test(arguments: ["many", "single"]) func thumbnailsArePartOfThePackage(files: String) throws {
        let scratch = try folder()
        func job(_ crf: Int) -> String {
            jobs("thumbnails: previews, files: \(files)", crf: crf).replacingOccurrences(
                of: "    outputs:\n",
                with:
                    "    outputs:\n      previews: { images: { every: 1s, size: 64x, sheet: { columns: 3 } } }\n"
            )
        }
        try scratch.write(job(30), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("5 images from 0 s to 4 s, 3 columns × 2 rows"), "\(plan.text)")
        try run(scratch)
        let size = try FFmpegFile(scratch.file("out/p/previews/00001.jpg")).stream("v:0", "width,height")
        #expect(size["width"] as? Int == 192 && size["height"] as? Int == 96)
        let mpd = try lines(scratch, "manifest.mpd").joined()
        #expect(
            mpd.contains("media=\"$RepresentationID$/$Number%05d$.jpg\" startNumber=\"1\" duration=\"6\""))
        #expect(mpd.contains("thumbnail_tile\" value=\"3x2\""))
        #expect(
            try lines(scratch, "previews/playlist.m3u8").contains(
                "#EXT-X-TILES:RESOLUTION=64x48,LAYOUT=3x2,DURATION=1.000000"))
        #expect(try lines(scratch, "master.m3u8").contains { $0.hasPrefix("#EXT-X-IMAGE-STREAM-INF:") })
        // ffmpeg ignores the images.
        #expect(try FFmpegFile(scratch.file("out/p/master.m3u8")).decodeErrors() == "")
        let before = inode(scratch, "previews/00001.jpg")
        try scratch.write(job(35), to: "jobs.yaml")
        try run(scratch)
        #expect(inode(scratch, "previews/00001.jpg") == before)
    }

    // MARK: Probing

    @Test func probe_listsRenditionsOfBothManifests() throws {
        let scratch = try folder()
        try scratch.write(jobs("iframes: true"), to: "jobs.yaml")
        try run(scratch)
        let hls = try tandem("probe", "out/p/master.m3u8", in: scratch)
        #expect(hls.status == 0, "\(hls.errors)")
        for text in [
            "format     HLS", "duration   0:05 (5 s)", "variant    hd/playlist.m3u8: 128x96, 25.000 frames/s",
            "rendition  hd/playlist.m3u8: video, 128x96, 3 segments, 5 s, longest 2 s, 4 files of",
            "rendition  de/playlist.m3u8: audio, de, “German”", "rendition  hd/keyframes.m3u8: keyframes",
            "rendition  text/playlist.m3u8: subtitles, en",
        ] { #expect(hls.text.contains(text), "\(text): \(hls.text)") }
        #expect(!hls.text.contains("problem"))
        let media = try tandem("probe", "out/p/hd/playlist.m3u8", in: scratch)
        #expect(media.text.contains("rendition  playlist.m3u8: media, 3 segments, 5 s"), "\(media.text)")
        try FileManager.default.removeItem(atPath: scratch.file("out/p/hd/00002.m4s"))
        let dash = try tandem("probe", "--format", "json", "out/p/manifest.mpd", in: scratch)
        let json = try #require(try JSONSerialization.jsonObject(with: dash.output) as? [String: Any])
        #expect(json["format"] as? String == "dash" && json["duration"] as? String == "5/1")
        let renditions = try #require(json["renditions"] as? [[String: Any]])
        #expect(renditions.compactMap { $0["name"] as? String } == ["hd", "sd", "en", "de", "text"])
        #expect(renditions[0]["segments"] as? Int == 3 && renditions[0]["is_encrypted"] as? Bool == false)
        #expect(json["problems"] as? [String] == ["hd: 1 file is missing, such as hd/00002.m4s"])
    }

    /// Neither links nor paths lead out of the package's folder, and other kinds of files don't block.
    @Test func probe_staysInTheFolderOfThePackage() throws {
        let scratch = try Scratch()
        try scratch.write("#EXTM3U\n#EXTINF:1,\na.ts\n", to: "secret.m3u8")
        try scratch.write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlink.m3u8\n", to: "p/master.m3u8")
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("p/link.m3u8"), withDestinationPath: "../secret.m3u8")
        let linked = try tandem("probe", "p/master.m3u8", in: scratch)
        #expect(
            linked.status != 0 && linked.errors.contains("leaves the package's folder"), "\(linked.errors)")
        try scratch.write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n../secret.m3u8\n", to: "p/up.m3u8")
        let up = try tandem("probe", "p/up.m3u8", in: scratch)
        #expect(up.status != 0 && up.errors.contains("p/up.m3u8:3: ") == false)
        #expect(up.errors.contains("up.m3u8:3: `../secret.m3u8` is outside"), "\(up.errors)")
        #expect(try program("mkfifo", [scratch.file("p/pipe.m3u8")]).status == 0)
        let pipe = try tandem("probe", "p/pipe.m3u8", in: scratch)
        #expect(pipe.status != 0 && pipe.errors.contains("not a regular file"), "\(pipe.errors)")
        let rooted = try tandem("probe", "--root", "p", "secret.m3u8", in: scratch)
        #expect(rooted.status != 0 && rooted.errors.contains("outside of --root"), "\(rooted.errors)")
        try scratch.write("#EXTM3U\n" + String(repeating: "#\n", count: 9 << 20), to: "p/big.m3u8")
        let big = try tandem("probe", "p/big.m3u8", in: scratch)
        #expect(big.status != 0 && big.errors.contains("at most 16777216"), "\(big.errors)")
    }

    // MARK: Reruns

    @Test func rerun_createsOnlyTheRenditionThatChanged() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        let again = try tandem("run", "jobs.yaml", in: scratch)
        #expect(again.errors.contains("1 of them up to date"), "\(again.errors)")
        let before = ["hd/00001.m4s", "sd/00001.m4s", "en/init.mp4"].map { inode(scratch, $0) }
        try scratch.write(jobs(crf: 35), to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(why.text.contains("rendition sd crf: 30 → 35"), "\(why.text)")
        try run(scratch)
        let after = ["hd/00001.m4s", "sd/00001.m4s", "en/init.mp4"].map { inode(scratch, $0) }
        #expect(before[0] == after[0] && before[1] != after[1] && before[2] == after[2])
        #expect(try names(scratch) == ["p"])
        #expect(try FFmpegFile(scratch.file("out/p/hd/playlist.m3u8")).decodeErrors() == "")
        // Only the manifests change.
        try scratch.write(jobs("iframes: true", crf: 35), to: "jobs.yaml")
        let relinked = try tandem("run", "jobs.yaml", in: scratch)
        #expect(relinked.status == 0 && relinked.errors.contains("(0:05"), "\(relinked.errors)")
        #expect(inode(scratch, "sd/00001.m4s") == after[1])
        #expect(try names(scratch, "out/p/hd").contains("keyframes.m3u8"))
    }

    @Test func changedFolder_isNotReplaced() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        try scratch.write("mine", to: "out/p/hd/notes.txt")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status != 0 && result.errors.contains("was changed since Tandem published it"))
        #expect(try lines(scratch, "hd/notes.txt") == ["mine"])
    }

    @Test func folderOfOtherFiles_isNeverReplaced() throws {
        let scratch = try folder()
        try scratch.write("mine", to: "out/p/notes.txt")
        try scratch.write(
            jobs().replacingOccurrences(
                of: "destination: out/p", with: "destination: { path: out/p, if_exists: replace }"),
            to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            result.status != 0 && result.errors.contains("a package needs a folder of its own"),
            "\(result.errors)")
        #expect(try names(scratch, "out/p") == ["notes.txt"])
    }

    @Test func folderWithASource_isRefused() throws {
        let scratch = try folder()
        try FileManager.default.createDirectory(
            atPath: scratch.file("out/p"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("out/p/a.mp4"))
        try scratch.write(
            jobs().replacingOccurrences(of: "./a.mp4", with: "./out/p/a.mp4"), to: "jobs.yaml")
        let result = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(result.status != 0 && result.errors.contains("contains a source"), "\(result.errors)")
    }

    @Test func clean_removesThePackageOfAJobThatIsGone() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        try scratch.write(jobs().replacingOccurrences(of: "out/p", with: "out/q"), to: "jobs.yaml")
        try run(scratch)
        let listed = try tandem("clean", "jobs.yaml", in: scratch)
        #expect(listed.text.contains("out/p"), "\(listed.text)\(listed.errors)")
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(try names(scratch) == ["q"])
    }

    @Test func failedExpectation_keepsTheEarlierPackage() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        try run(scratch)
        let before = inode(scratch, "hd/init.mp4")
        let text = jobs(crf: 33).replacingOccurrences(
            of: "sd: {", with: "sd: { expect: { size: { max: 10kB } },")
        try scratch.write(text, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status != 0 && result.errors.contains("expectation-failed"), "\(result.errors)")
        #expect(inode(scratch, "hd/init.mp4") == before)
        #expect(try names(scratch) == ["p"])
    }

    /// A run that is killed at any moment leaves the old package or the new one, and the next run removes the rest.
    @Test func killedRun_leavesACompletePackage() throws {
        let scratch = try folder()
        try scratch.write(jobs("iframes: true"), to: "jobs.yaml")
        try run(scratch)
        func crf() throws -> Set<String> {
            Set(try lines(scratch, "master.m3u8").filter { $0.contains("BANDWIDTH") })
        }
        let old = try crf()
        for delay in stride(from: 50, to: 900, by: 85) {
            try scratch.write(jobs("iframes: true", crf: 20), to: "jobs.yaml")
            _ = try program(
                "/usr/bin/timeout",
                ["-s", "KILL", "\(Double(delay) / 1000)", TestPaths.tandem, "run", "--force", "jobs.yaml"],
                directory: scratch.path)
            let playlist = FFmpegFile(scratch.file("out/p/hd/playlist.m3u8"))
            #expect(try playlist.frames().times.count == 125, "\(delay) ms")
            #expect(try !crf().isEmpty)
        }
        try run(scratch)
        #expect(try names(scratch) == ["p"])
        #expect(try crf() != old)
    }

    @Test func severalShards_collectAPackage() throws {
        let scratch = try folder()
        try scratch.write(jobs(), to: "jobs.yaml")
        #expect(try tandem("plan", "--out", "plan", "--shards", "1", "jobs.yaml", in: scratch).status == 0)
        #expect(try tandem("run", "--plan", "plan", "--shard", "0", in: scratch).status == 0)
        let result = try tandem("collect", "plan", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
    }
}
