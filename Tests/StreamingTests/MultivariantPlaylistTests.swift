import Foundation
import LibAV
import Media
import Streaming
import TestSupport
import Testing

/// Tests groups, names and order of multivariant playlists.
@Suite struct MultivariantPlaylistTests {
    private let hd = Fixtures.video("hd", width: 1280, height: 720, rate: 3_000_000)
    private let sd = Fixtures.video("sd", width: 640, height: 360, rate: 800_000, codec: "avc1.64001e")

    private func lines(
        _ renditions: [StreamingRendition], variants: [StreamingVariant] = [], _ prefix: String
    ) throws -> [String] {
        let package = Fixtures.package(renditions, formats: [.hls], variants: variants)
        let text = try #require(package.manifests().last).text
        return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
    }

    private func value(_ name: String, _ line: String) -> String {
        guard let start = line.range(of: "\(name)=") else { return "" }
        let rest = line[start.upperBound...]
        if rest.first == "\"" { return String(rest.dropFirst().prefix { $0 != "\"" }) }
        return String(rest.prefix { $0 != "," })
    }

    private func members(_ lines: [String]) -> [String] {
        lines.map { "\(value("GROUP-ID", $0)) \(value("NAME", $0)) \(value("URI", $0).prefix { $0 != "/" })" }
    }

    /// French exists in one format only: the first group must remain playable without that format.
    @Test func groupsHaveTheMembersOfTheFirstFormat() throws {
        let media = try lines(
            [
                hd, Fixtures.audio("en", language: "eng"), Fixtures.audio("de", language: "deu"),
                Fixtures.audio(
                    "en6", language: "eng", title: "English 5.1", codec: "ec-3", layout: "5.1(side)"),
                Fixtures.audio("fr6", language: "fra", codec: "ec-3", layout: "5.1(side)"),
            ], "#EXT-X-MEDIA")
        #expect(
            members(media).sorted() == [
                "aac-2ch English en", "aac-2ch German de", "ec-3-6ch English en6", "ec-3-6ch French fr6",
                "ec-3-6ch German de",
            ])
        #expect(
            media.filter { value("DEFAULT", $0) == "YES" }.map { value("NAME", $0) } == [
                "English", "English",
            ])
        #expect(Set(media.map { value("CHANNELS", $0) }) == ["2", "6"])
    }

    /// Named groups have exactly their members, in any format.
    @Test func namedGroupsHaveTheirMembers() throws {
        let renditions = [
            hd, sd, Fixtures.audio("en", language: "eng"),
            Fixtures.audio("fr", language: "fra", isDefault: true),
            Fixtures.audio("en6", language: "eng", codec: "ec-3", layout: "5.1(side)"),
        ]
        let variants = [
            ("hd", "stereo", "en"), ("hd", "stereo", "fr"), ("hd", "surround", "en6"),
            ("hd", "surround", "fr"), ("sd", "stereo", "en"), ("sd", "stereo", "fr"),
        ].map { StreamingVariant(video: $0, audio: $2, audioGroup: $1) }
        let media = try lines(renditions, variants: variants, "#EXT-X-MEDIA")
        #expect(
            members(media).sorted() == [
                "stereo English en", "stereo French fr", "surround English en6", "surround French fr",
            ])
        #expect(
            media.filter { value("DEFAULT", $0) == "YES" }.map { value("NAME", $0) } == ["French", "French"])
        let streams = try lines(renditions, variants: variants, "#EXT-X-STREAM-INF")
        #expect(
            Set(streams.map { "\(value("RESOLUTION", $0)) \(value("AUDIO", $0))" }) == [
                "1280x720 stereo", "1280x720 surround", "640x360 stereo",
            ])
    }

    @Test func qualitiesHaveGroupsOfTheirOwn() throws {
        let renditions = [
            hd, sd, Fixtures.audio("high", language: "eng", rate: 256_000),
            Fixtures.audio("low", language: "eng", rate: 64_000), Fixtures.audio("de", language: "ger"),
        ]
        #expect(
            try members(lines(renditions, "#EXT-X-MEDIA")).sorted() == [
                "aac-2ch English high", "aac-2ch German de", "aac-2ch-2 English low", "aac-2ch-2 German de",
            ])
        #expect(try lines(renditions, "#EXT-X-STREAM-INF").count == 4)
        // Each video with one of the qualities.
        let variants = [
            StreamingVariant(video: "hd", audio: "high"), StreamingVariant(video: "hd", audio: "de"),
            StreamingVariant(video: "sd", audio: "low"), StreamingVariant(video: "sd", audio: "de"),
        ]
        let streams = try lines(renditions, variants: variants, "#EXT-X-STREAM-INF")
        #expect(
            streams.map { value("RESOLUTION", $0) + " " + value("AUDIO", $0) } == [
                "640x360 aac-2ch-2", "1280x720 aac-2ch",
            ])
    }

    @Test func differentContentHasNamesOfItsOwn() throws {
        let media = try lines(
            [
                hd, Fixtures.audio("a", language: "eng"),
                Fixtures.audio("b", language: "eng", title: "Isolated score"),
                Fixtures.audio("c", language: "eng", roles: [.description]),
                Fixtures.audio("d", language: nil), Fixtures.audio("e", language: "tlh"),
                Fixtures.subtitles("s1", language: "zh-hant"), Fixtures.subtitles("s2", language: "zh-Hant"),
            ], "#EXT-X-MEDIA")
        #expect(
            media.map { value("NAME", $0) } == [
                "English", "Isolated score", "English (audio description)", "Audio", "tlh",
                "Chinese (Hant)", "Chinese (Hant) 2",
            ])
        #expect(media.map { value("AUTOSELECT", $0) } == ["YES", "NO", "YES", "YES", "YES", "YES", "NO"])
        #expect(value("CHARACTERISTICS", media[2]) == "public.accessibility.describes-video")
    }

    @Test func startsWithAModerateBitRate() throws {
        let videos = [6_000_000, 3_000_000, 1_000_000, 300_000].enumerated().map {
            Fixtures.video("v\($0)", width: 640, height: 360, rate: Int64($1))
        }
        let streams = try lines(videos, "v")
        #expect(streams.map { String($0.prefix(2)) } == ["v2", "v0", "v1", "v3"])
        // All exceed 2 Mbit/s.
        #expect(try lines(Array(videos.prefix(2)), "v").map { $0.prefix(2) } == ["v1", "v0"])
    }

    @Test func variantsWithoutAudioAndWithoutVideo() throws {
        let renditions = [hd, Fixtures.audio("en", language: "eng")]
        let variants = [
            StreamingVariant(video: "hd", audio: "en"), StreamingVariant(video: "hd", audio: nil),
            StreamingVariant(video: nil, audio: "en"),
        ]
        let streams = try lines(renditions, variants: variants, "#EXT-X-STREAM-INF")
        #expect(streams.count == 3)
        #expect(streams.filter { value("AUDIO", $0).isEmpty }.map { value("CODECS", $0) } == ["avc1.64001f"])
        #expect(streams.filter { !$0.contains("RESOLUTION") }.map { value("CODECS", $0) } == ["mp4a.40.2"])
        #expect(streams.allSatisfy { value("CLOSED-CAPTIONS", $0) == "NONE" })
    }

    @Test func openGOPsDependOnOtherSegments() throws {
        var open = hd
        open.kind = .video(
            .init(width: 1280, height: 720, frameRate: Rational(60, 1), accessPoint: .open))
        #expect(try lines([hd], "#EXT-X-INDEPENDENT-SEGMENTS").count == 1)
        #expect(try lines([open, sd], "#EXT-X-INDEPENDENT-SEGMENTS").isEmpty)
        #expect(try lines([open], "#EXT-X-STREAM-INF").map { value("FRAME-RATE", $0) } == ["60.000"])
    }

    @Test func titlesCantLeaveTheirAttribute() throws {
        for title in ["\"", "a\"\n#EXT-X-ENDLIST", "\r", "a,URI=\"x\"", "\u{2028}\u{85}\u{0}\u{feff}"] {
            let media = try lines([hd, Fixtures.audio("a", language: nil, title: title)], "#EXT-X-MEDIA")
            #expect(media.count == 1 && media[0].filter { $0 == "\"" }.count == 8, "\(media)")
            #expect(
                media[0].unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
        }
    }
}
