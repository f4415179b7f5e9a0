import Foundation
import Streaming
import TestSupport
import Testing

/// Reads packages by programs that aren't Tandem's.
@Suite struct PackageReadingTests {
    /// ffmpeg reads the same packets from both manifests as from the files before segmentation.
    @Test(arguments: PackageFiles.allCases) func ffmpegReadsAllPackets(_ files: PackageFiles) throws {
        let playable = try PlayablePackage(files: files)
        let layout = playable.package.layout
        for (id, selector, count) in [("video", "v:0", 180), ("audio", "a:0", 283)] {
            let expected = try FFmpegFile(try #require(playable.sources[id])).packetHashes(selector)
            #expect(expected.count == count)
            for path in [
                layout.multivariantPlaylist, layout.presentationDescription, layout.playlist(of: id),
            ] {
                let found = try hashes(playable.scratch.file(path), selector)
                #expect(found.count == count && found == expected, "\(path): \(found.count) packets")
            }
        }
    }

    /// Returns hashes of a stream's packets. ffmpeg's DASH demuxer doesn't open `.vtt` files by default, and ends with the
    /// subtitles unless one stream is selected, also for MPDs of other packagers.
    private func hashes(_ path: String, _ selector: String) throws -> [String] {
        let permission = path.hasSuffix(".mpd") ? ["-allowed_extensions", "ALL"] : []
        let result = try program(
            "ffprobe",
            permission + [
                "-v", "error", "-select_streams", selector, "-show_entries", "packet=data_hash",
                "-show_data_hash", "md5", "-of", "default=nw=1:nk=1", path,
            ])
        return result.text.split(separator: "\n").map(String.init)
    }

    /// The byte range of each keyframe is sufficient to decode the first frame of its segment.
    @Test(arguments: PackageFiles.allCases) func keyframesAreDecodable(_ files: PackageFiles) throws {
        let playable = try PlayablePackage(files: files)
        let (layout, scratch) = (playable.package.layout, playable.scratch)
        let playlist = try String(
            contentsOfFile: scratch.file(layout.keyframePlaylist(of: "video")), encoding: .utf8)
        let lines = playlist.split(separator: "\n")
        let header = try Data(
            contentsOf: URL(fileURLWithPath: scratch.file(layout.initialization(of: "video")))
        )
        .prefix(Int(playable.package.renditions[0].initializationSize))
        var hashes: [String] = []
        for (number, line) in lines.enumerated() where line.hasPrefix("#EXT-X-BYTERANGE:") {
            let range = line.dropFirst(17).split(separator: "@").compactMap { Int($0) }
            try #require(range.count == 2)
            let file = try Data(contentsOf: URL(fileURLWithPath: scratch.file("video/\(lines[number + 1])")))
            let path = scratch.file("keyframe\(hashes.count).mp4")
            try (header + file[range[1]..<range[1] + range[0]]).write(to: URL(fileURLWithPath: path))
            let frame = try program(
                "ffmpeg", ["-v", "quiet", "-i", path, "-frames:v", "1", "-f", "framemd5", "-"])
            hashes.append(String(frame.text.split(separator: ",").last ?? ""))
        }
        let all = try program(
            "ffmpeg", ["-v", "error", "-i", playable.sources["video"] ?? "", "-f", "framemd5", "-"])
        let frames = all.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
            String($0.split(separator: ",").last ?? "") + "\n"
        }
        #expect(frames.count == 180)
        #expect(hashes == [frames[0], frames[60], frames[120]])
    }

    /// The schema of ISO/IEC 23009-1 isn't Tandem's, so that it is only next to the repository.
    private static let schema: String? = TestPaths.media.map { $0 + "/../schemas/DASH-MPD.xsd" }.flatMap {
        FileManager.default.fileExists(atPath: $0) ? $0 : nil
    }

    @Test(
        .enabled(if: schema != nil, "requires ../shared/schemas/DASH-MPD.xsd"),
        arguments: Fixtures.packages.filter { $1.formats.contains(.dash) }.keys.sorted())
    func descriptionsAreValidBySchema(_ name: String) throws {
        let scratch = try Scratch()
        let package = try #require(Fixtures.packages[name])
        let manifest = try #require(package.manifests().last)
        #expect(manifest.path == package.layout.presentationDescription)
        try scratch.write(manifest.text, to: "m.mpd")
        let schema = try String(contentsOfFile: try #require(Self.schema), encoding: .utf8)
        try scratch.write(
            schema.replacingOccurrences(of: "http://www.w3.org/XML/2008/06/xlink.xsd", with: "xlink.xsd"),
            to: "mpd.xsd")
        let attributes = ["href", "actuate", "type", "show"].map { "<xs:attribute name=\"\($0)\"/>" }
        try scratch.write(
            "<xs:schema xmlns:xs=\"http://www.w3.org/2001/XMLSchema\" "
                + "targetNamespace=\"http://www.w3.org/1999/xlink\">\(attributes.joined())</xs:schema>",
            to: "xlink.xsd")
        let result = try program(
            "xmllint",
            ["--noout", "--nonet", "--schema", scratch.file("mpd.xsd"), scratch.file("m.mpd")])
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Whether a Python has the packages that `judge.py` requires; `TANDEM_TEST_PYTHON` names another one than `python3`.
    private static let python: String? = {
        let name = ProcessInfo.processInfo.environment["TANDEM_TEST_PYTHON"] ?? "python3"
        let result = try? program(name, ["-c", "import m3u8, mpegdash"])
        return result?.status == 0 ? name : nil
    }()

    @Test(
        .enabled(if: python != nil, "requires a Python with PyPI's m3u8 and mpegdash (TANDEM_TEST_PYTHON)"),
        arguments: PackageFiles.allCases)
    func pythonLibrariesReadPackages(_ files: PackageFiles) throws {
        let playable = try PlayablePackage(files: files)
        let script = TestPaths.repository + "/Tests/StreamingTests/judge.py"
        let result = try program(try #require(Self.python), [script, playable.scratch.path])
        #expect(
            result.status == 0 && result.text.contains("2 formats agree"), "\(result.text) \(result.errors)")
    }

    @Test(
        .enabled(if: python != nil, "requires a Python with PyPI's m3u8 and mpegdash (TANDEM_TEST_PYTHON)"),
        arguments: Fixtures.packages.keys.sorted())
    func pythonLibrariesReadManifests(_ name: String) throws {
        let scratch = try Scratch()
        for manifest in try #require(Fixtures.packages[name]).manifests() {
            try scratch.write(manifest.text, to: manifest.path)
        }
        let script = TestPaths.repository + "/Tests/StreamingTests/judge.py"
        let result = try program(try #require(Self.python), [script, "--manifests", scratch.path])
        #expect(
            result.status == 0 && result.text.contains("2 formats agree"), "\(result.text) \(result.errors)")
    }
}
