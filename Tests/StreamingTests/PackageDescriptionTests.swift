import Foundation
import Media
import Streaming
import TestSupport
import Testing

/// Tests the reading of packages, of Tandem's own, of others', and of hostile ones.
@Suite struct PackageDescriptionTests {
    /// A folder in memory.
    private struct FakeFolder: PackageFolder {
        var files: [String: String] = [:]
        /// Sizes of files without contents.
        var sizes: [String: Int64] = [:]

        func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8] {
            guard let text = files[path] else { throw PackageReadingError(path, "no such file") }
            guard text.utf8.count <= limit else { throw PackageReadingError(path, "too large") }
            return Array(text.utf8)
        }

        func size(of path: String) -> Int64? { sizes[path] ?? files[path].map { Int64($0.utf8.count) } }
    }

    private func description(
        _ manifest: String, _ files: [String: String], sizes: [String: Int64] = [:]
    ) throws(PackageReadingError) -> PackageDescription {
        try PackageReader.description(of: manifest, in: FakeFolder(files: files, sizes: sizes))
    }

    private func refusal(_ manifest: String, _ files: [String: String]) -> String {
        do throws(PackageReadingError) {
            return "\(try description(manifest, files).renditions.map(\.name))"
        } catch {
            return "\(error)"
        }
    }

    private func media(_ lines: String...) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:6"] + lines + ["#EXT-X-ENDLIST"]).joined(separator: "\n")
    }

    /// Both manifests of the golden packages describe the same segments and durations as the package.
    @Test(arguments: Fixtures.packages.keys.sorted()) func ownManifestsAreReadBack(_ name: String) throws {
        let package = try #require(Fixtures.packages[name])
        let files = Dictionary(uniqueKeysWithValues: try package.manifests().map { ($0.path, $0.text) })
        let hls = try description("master.m3u8", files)
        #expect(hls.format == .hls && hls.variants.count > 0)
        for rendition in package.renditions {
            let found = try #require(
                hls.renditions.first { $0.name == "\(rendition.id)/playlist.m3u8" }, "\(rendition.id)")
            if !rendition.segments.isEmpty {
                #expect(found.segments == rendition.segments.count)
                let start = try #require(rendition.segments.first?.start)
                let length = try #require(rendition.end) - start
                #expect(abs((found.duration - length).seconds) < 0.000_01)
            }
            if rendition.language != nil, case .audio = rendition.kind { #expect(found.language != nil) }
        }
        guard package.formats.contains(.dash) else { return }
        let dash = try description("manifest.mpd", files)
        #expect(dash.format == .dash && Set(dash.renditions.map(\.name)) == Set(package.renditions.map(\.id)))
        for rendition in package.renditions where package.files == .many && !rendition.segments.isEmpty {
            guard case .subtitles = rendition.kind else {
                let found = try #require(dash.renditions.first { $0.name == rendition.id })
                #expect(found.segments == rendition.segments.count)
                #expect(found.files == rendition.segments.count + 1)
                continue
            }
        }
        // The media files don't exist here.
        #expect(dash.problems.allSatisfy { $0.contains("missing") } && !dash.problems.isEmpty)
    }

    @Test func filesAreMeasured() throws {
        let list = media(
            "#EXT-X-MAP:URI=\"init.mp4\"", "#EXTINF:6.0,", "1%20a.m4s?x=1", "#EXTINF:2.5,", "sub/../2.m4s")
        let found = try description(
            "a/list.m3u8", ["a/list.m3u8": list],
            sizes: ["a/init.mp4": 10, "a/1 a.m4s": 100, "a/2.m4s": 1000])
        #expect(found.problems == [] && found.renditions[0].size == 1110 && found.renditions[0].files == 3)
        #expect(found.duration == MediaTime(value: 17, timescale: 2))
        #expect(found.renditions[0].longestSegment == MediaTime(value: 6, timescale: 1))
    }

    @Test func byteRangesAreComparedWithTheFile() throws {
        let list = media(
            "#EXT-X-MAP:URI=\"a.mp4\",BYTERANGE=\"10@0\"", "#EXTINF:6,", "#EXT-X-BYTERANGE:50@10", "a.mp4",
            "#EXTINF:6,", "#EXT-X-BYTERANGE:50", "a.mp4")
        #expect(try description("l.m3u8", ["l.m3u8": list], sizes: ["a.mp4": 110]).problems == [])
        #expect(
            try description("l.m3u8", ["l.m3u8": list], sizes: ["a.mp4": 109]).problems == [
                "l.m3u8: a byte range is behind the end of a.mp4"
            ])
    }

    @Test func incompletePlaylistsAreProblems() throws {
        let live = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:6,\na.ts\n"
        let found = try description("l.m3u8", ["l.m3u8": live])
        #expect(found.renditions[0].isEncrypted)
        #expect(
            found.problems == [
                "l.m3u8: 1 file is missing, such as a.ts",
                "l.m3u8: the playlist isn't complete (`EXT-X-ENDLIST` is missing)",
                "l.m3u8: a segment is longer than the target duration of 2 s",
            ])
    }

    /// References that leave the folder are refused before any file is opened.
    @Test(arguments: [
        ("https://example.com/a.ts", "is a URL"), ("//example.com/a.ts", "is a URL"),
        ("file:///etc/passwd", "is a URL"), ("data:text/plain,x", "is a URL"),
        ("/etc/passwd", "is an absolute path"), ("../a.ts", "is outside of the package's folder"),
        ("x/../../a.ts", "is outside of the package's folder"),
        ("%2e%2e/a.ts", "is outside of the package's folder"), ("a%00.ts", "isn't a valid URI"),
        ("a%ff.ts", "isn't a valid URI"), ("a%2", "isn't a valid URI"), (".", "doesn't name a file"),
    ]) func referencesOutside(_ uri: String, _ reason: String) {
        let list = media("#EXTINF:6,", uri)
        #expect(refusal("l.m3u8", ["l.m3u8": list]).contains(reason))
        #expect(refusal("l.m3u8", ["l.m3u8": list]).hasPrefix("l.m3u8:4: "))
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(uri)\n"
        #expect(refusal("m.m3u8", ["m.m3u8": master]).contains(reason))
        let mpd =
            "<MPD><Period duration=\"PT1S\"><AdaptationSet><Representation id=\"a\"><BaseURL>\(uri)</BaseURL></Representation></AdaptationSet></Period></MPD>"
        #expect(refusal("m.mpd", ["m.mpd": mpd]).contains(reason))
        let template =
            "<MPD mediaPresentationDuration=\"PT2S\"><Period><AdaptationSet><SegmentTemplate duration=\"1\" media=\"\(uri)\"/><Representation id=\"a\"/></AdaptationSet></Period></MPD>"
        #expect(refusal("m.mpd", ["m.mpd": template]).contains(reason))
    }

    @Test func representationIDsCantLeaveTheFolder() {
        let mpd =
            "<MPD mediaPresentationDuration=\"PT2S\"><Period><AdaptationSet><SegmentTemplate duration=\"1\" media=\"$RepresentationID$/$Number$\"/><Representation id=\"../../x\"/></AdaptationSet></Period></MPD>"
        #expect(refusal("m.mpd", ["m.mpd": mpd]).contains("outside of the package's folder"))
    }

    @Test func cyclesEnd() {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nm.m3u8\n"
        #expect(refusal("m.m3u8", ["m.m3u8": master]).contains("is a multivariant playlist"))
    }

    @Test(arguments: [
        ("", "isn't a playlist"), ("#EXTM3U\n", "neither variants nor segments"),
        ("#EXTM3U\n#EXTINF:x,\na\n", "invalid duration"), ("#EXTM3U\n#EXTINF:-1,\na\n", "invalid duration"),
        ("#EXTM3U\n#EXTINF:99999999999999999999,\na\n", "invalid duration"),
        ("#EXTM3U\na.ts\n", "without `EXTINF`"), ("#EXTM3U\n#EXT-X-STREAM-INF:X\na\n", "invalid attributes"),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=x\na\n", "no `BANDWIDTH`"),
        (
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\na\n",
            "invalid byte"
        ),
        ("#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:-5@0\na\n", "invalid byte"),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:-1\n", "invalid target"),
        ("<MPD/>", "no `Period`"), ("<MPD", "isn't complete"), ("<a></b>", "unexpected end"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><MPD>&b;</MPD>", "document types"),
        ("<MPD>&b;</MPD>", "unknown entity"),
        ("<x/>", "isn't an MPD"), ("<MPD type=\"dynamic\"><Period/></MPD>", "live"),
        ("<MPD a=\"1\" a=\"2\"/>", "repeated attribute"), ("<MPD a=1/>", "isn't quoted"),
        ("<MPD mediaPresentationDuration=\"P1Y\"><Period/></MPD>", "invalid duration"),
        ("<MPD mediaPresentationDuration=\"PT99999999999999H\"><Period/></MPD>", "invalid duration"),
        (String(repeating: "<a>", count: 100_000), "nested more than"),
    ]) func invalidManifests(_ text: String, _ reason: String) {
        #expect(refusal("m", ["m": text]).contains(reason), "\(refusal("m", ["m": text]))")
    }

    @Test(arguments: [
        "<S d=\"1\" r=\"1000000000\"/>", "<S d=\"0\"/>", "<S d=\"-1\"/>", "<S d=\"1\" r=\"-1\"/>", "<S/>",
        "<S t=\"99999999999999999999\" d=\"1\"/>", "<S d=\"9223372036854775807\"/>", "",
    ]) func invalidTimelines(_ entries: String) {
        let mpd =
            "<MPD><Period><AdaptationSet><SegmentTemplate media=\"$Time$\"><SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate><Representation id=\"a\"/></AdaptationSet></Period></MPD>"
        #expect(refusal("m", ["m": mpd]).contains("m:1: "), "\(refusal("m", ["m": mpd]))")
    }

    /// Many representations with many segments each exceed the limit of all.
    @Test func countsAreLimitedTogether() {
        let representations = (0..<400).map { "<Representation id=\"r\($0)\"/>" }.joined()
        let mpd =
            "<MPD><Period><AdaptationSet><SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"9999\"/></SegmentTimeline></SegmentTemplate>\(representations)</AdaptationSet></Period></MPD>"
        #expect(refusal("m", ["m": mpd]).contains("more than 1048576 segments"))
        let variants = (0..<600).map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0).m3u8\n" }.joined()
        var files = ["m": "#EXTM3U\n" + variants]
        for index in 0..<600 { files["\(index).m3u8"] = media("#EXTINF:6,", "a.ts") }
        #expect(refusal("m", files).contains("more than 500 renditions"))
    }

    /// Truncated and altered manifests are errors or other descriptions, never traps.
    @Test func alteredManifestsDontTrap() throws {
        var generator = SeededGenerator(40)
        for name in Fixtures.packages.keys.sorted() {
            let files = Dictionary(
                uniqueKeysWithValues: try #require(Fixtures.packages[name]).manifests().map {
                    ($0.path, $0.text)
                })
            for manifest in ["master.m3u8", "manifest.mpd", "hd/playlist.m3u8"] {
                guard let text = files[manifest] else { continue }
                for _ in 0..<150 {
                    var bytes = Array(text.utf8)
                    for _ in 0..<Int.random(in: 1...4, using: &generator) {
                        let index = Int.random(in: 0..<bytes.count, using: &generator)
                        switch Int.random(in: 0...3, using: &generator) {
                        case 0: bytes = Array(bytes[..<max(1, index)])
                        case 1: bytes[index] = UInt8.random(in: 0x20...0x7e, using: &generator)
                        case 2: bytes.insert(UInt8(ascii: "9"), at: index)
                        default: bytes.remove(at: index)
                        }
                        if bytes.isEmpty { bytes = [0x23] }
                    }
                    var changed = files
                    changed[manifest] = String(decoding: bytes, as: UTF8.self)
                    _ = refusal(manifest, changed)
                }
            }
        }
    }
}
