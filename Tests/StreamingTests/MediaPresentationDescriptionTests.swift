import Foundation
import LibAV
import Media
import Streaming
import TestSupport
import Testing

/// Tests adaptation sets and descriptors of MPDs. These checks of the structure don't require the schema.
@Suite struct MediaPresentationDescriptionTests {
    private func text(_ renditions: [StreamingRendition], files: PackageFiles = .many) throws -> String {
        try #require(Fixtures.package(renditions, files: files, formats: [.dash]).manifests().last).text
    }

    /// Returns the ids of the representations of each set.
    private func sets(_ text: String) -> [[String]] {
        text.components(separatedBy: "<AdaptationSet ").dropFirst().map { set in
            set.components(separatedBy: "<Representation id=\"").dropFirst().map {
                String($0.prefix { $0 != "\"" })
            }
        }
    }

    private func video(
        _ id: String, _ width: Int, _ height: Int, codec: String = "avc1.64001f",
        color: ColorDescription = .standard
    ) -> StreamingRendition {
        Fixtures.video(id, width: width, height: height, rate: 1_000_000, codec: codec, color: color)
    }

    @Test func setsContainWhatPlayersSwitchBetween() throws {
        let ladder = [
            video("a", 1920, 1080), video("b", 1280, 720), video("c", 854, 480), video("d", 426, 240),
            video("e", 256, 144, codec: "avc1.42c00d"),
        ]
        #expect(sets(try text(ladder)) == [["a", "b", "c", "d", "e"]])
        let others = [
            video("f", 1440, 1080), video("g", 1920, 1080, codec: "hvc1.1.6.L120.90"),
            video("h", 1920, 1080, codec: "hvc1.2.4.L120.90", color: Fixtures.hdr10),
            Fixtures.video(
                "i", width: 1280, height: 720, rate: 1_000_000,
                durations: [180_180, 120_120, 180_180, 60_060]),
        ]
        #expect(sets(try text(ladder + others)) == [["a", "b", "c", "d", "e"], ["f"], ["g"], ["h"], ["i"]])
    }

    @Test func audioSetsHaveOneLanguageFormatAndRole() throws {
        let renditions = [
            Fixtures.subtitles("text", language: "eng"), Fixtures.audio("en", language: "eng"),
            Fixtures.audio("low", language: "eng", rate: 64_000), Fixtures.audio("de", language: "ger"),
            Fixtures.audio("mono", language: "eng", layout: "mono"),
            Fixtures.audio("talk", language: "eng", roles: [.commentary]), video("v", 640, 360),
        ]
        let text = try text(renditions)
        #expect(sets(text) == [["v"], ["en", "low"], ["de"], ["mono"], ["talk"], ["text"]])
        #expect(text.contains("lang=\"de\"") && text.contains("value=\"commentary\""))
        #expect(text.components(separatedBy: "value=\"alternate\"").count == 2)
    }

    @Test(arguments: [
        ("mono", "mp4a.40.2", "urn:mpeg:mpegB:cicp:ChannelConfiguration", "1"),
        ("5.1", "mp4a.40.2", "urn:mpeg:mpegB:cicp:ChannelConfiguration", "6"),
        ("7.1", "opus", "urn:mpeg:mpegB:cicp:ChannelConfiguration", "12"),
        ("2.1", "opus", "urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "3"),
        ("stereo", "ac-3", "tag:dolby.com,2014:dash:audio_channel_configuration:2011", "A000"),
        ("7.1", "ec-3", "tag:dolby.com,2014:dash:audio_channel_configuration:2011", "FA01"),
        ("hexagonal", "ec-3", "urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "6"),
    ]) func channelConfigurations(_ layout: String, _ codec: String, _ scheme: String, _ value: String) throws
    {
        let text = try text([Fixtures.audio("a", language: nil, codec: codec, layout: layout)])
        #expect(
            text.contains("<AudioChannelConfiguration schemeIdUri=\"\(scheme)\" value=\"\(value)\"/>"),
            "\(text)")
    }

    @Test func colorPropertiesAreEssentialForHDR() throws {
        var hlg = Fixtures.hdr10
        hlg.transfer = "arib-std-b67"
        let hdr = try text([video("v", 640, 360, color: hlg)])
        #expect(
            hdr.contains(
                "<EssentialProperty schemeIdUri=\"urn:mpeg:mpegB:cicp:TransferCharacteristics\" value=\"18\"/>"
            ))
        var pal = ColorDescription()
        pal.primaries = "bt470bg"
        let sdr = try text([video("v", 640, 360, color: pal)])
        #expect(
            sdr.contains(
                "<SupplementalProperty schemeIdUri=\"urn:mpeg:mpegB:cicp:ColourPrimaries\" value=\"5\"/>"))
        #expect(!sdr.contains("TransferCharacteristics") && !sdr.contains("EssentialProperty"))
        #expect(!(try text([video("v", 640, 360)])).contains("Property"))
    }

    /// With the buffer that the MPD declares, a transfer at each representation's bandwidth is always in time.
    @Test(arguments: 0..<20) func theMinimumBufferSuffices(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        var rendition = video("v", 640, 360)
        for index in rendition.segments.indices {
            rendition.segments[index].size = .random(in: 100_000...1_000_000, using: &random)
        }
        let text = try text([rendition])
        let bandwidth = try number("bandwidth=\"", text)
        let buffer = try number("minBufferTime=\"PT", text)
        for first in rendition.segments.indices {
            var bits = 0.0
            for last in first..<rendition.segments.count {
                bits += Double(rendition.segments[last].size) * 8
                let due = buffer + (rendition.segments[last].start - rendition.segments[first].start).seconds
                #expect(bits / bandwidth <= due + 1e-6)
            }
        }
        #expect(buffer < 13)
    }

    private func number(_ prefix: String, _ text: String) throws -> Double {
        let rest = try #require(text.components(separatedBy: prefix).dropFirst().first)
        return try #require(Double(rest.prefix { $0.isNumber || $0 == "." }))
    }

    @Test func textIsEscaped() throws {
        let text = try text([
            Fixtures.audio("a", language: "eng", title: "<a href=\"x\">&amp;\u{0}\n\u{ffff}]]>")
        ])
        #expect(text.contains("<Label>&lt;a href=&quot;x&quot;&gt;&amp;amp;\u{fffd} \u{fffd}]]&gt;</Label>"))
        let scratch = try Scratch()
        try scratch.write(text, to: "m.mpd")
        #expect(try program("xmllint", ["--noout", "--nonet", scratch.file("m.mpd")]).status == 0)
    }

    @Test func renditionsWithoutCommonTimeLinesHaveTheirOwn() throws {
        var other = video("b", 1280, 720)
        other.timescale = 60_000
        let text = try text([video("a", 640, 360), other])
        #expect(sets(text) == [["a", "b"]])
        #expect(text.components(separatedBy: "<SegmentTemplate timescale=\"30000\"").count == 2)
        #expect(text.components(separatedBy: "<SegmentTemplate timescale=\"60000\"").count == 2)
        #expect(text.contains("<S t=\"0\" d=\"360360\" r=\"2\"/>"))
    }
}
