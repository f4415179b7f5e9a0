import Streaming
import TestSupport
import Testing

/// Tests which renditions of a package are read as one source.
@Suite struct PackageSelectionTests {
    private struct FakeFolder: PackageFolder {
        var files: [String: String]

        func contents(of path: String, limit: Int) throws(PackageReadingError) -> [UInt8] {
            guard let text = files[path] else { throw PackageReadingError(path, "no such file") }
            return Array(text.utf8)
        }

        func size(of path: String) -> Int64? { files[path].map { Int64($0.utf8.count) } }
    }

    private func selection(
        _ manifest: String, _ files: [String: String]
    ) throws(PackageReadingError) -> PackageSelection {
        try PackageReader.selection(of: manifest, in: FakeFolder(files: files))
    }

    private func refusal(_ manifest: String, _ files: [String: String]) -> String {
        do throws(PackageReadingError) {
            return "\(try selection(manifest, files).renditions.map(\.name))"
        } catch {
            return "\(error)"
        }
    }

    private let media = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-MAP:URI="init.mp4"
        #EXTINF:6,
        1.m4s
        #EXTINF:4,
        2.m4s
        #EXT-X-ENDLIST
        """

    @Test func highestBandwidthIsReadWithItsGroups() throws {
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="AD",LANGUAGE="pt-BR",CHARACTERISTICS="public.accessibility.describes-video",URI="ad.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Other",LANGUAGE="de",URI="de.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Forced",LANGUAGE="fr",FORCED=YES,URI="fr.m3u8"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",INSTREAM-ID="CC1"
            #EXT-X-STREAM-INF:BANDWIDTH=100,RESOLUTION=64x36,AUDIO="b"
            low/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=300,RESOLUTION=128x72,AUDIO="a",SUBTITLES="s"
            high/v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900,AUDIO="a"
            en.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=800,RESOLUTION=128x72,URI="high/k.m3u8"
            """
        let names = ["low/v", "high/v", "high/k", "en", "ad", "de", "fr"]
        var files = Dictionary(uniqueKeysWithValues: names.map { ("\($0).m3u8", media) })
        files["master.m3u8"] = master
        let found = try selection("master.m3u8", files).renditions
        #expect(found.map(\.name) == ["high/v.m3u8", "en.m3u8", "ad.m3u8", "fr.m3u8"])
        #expect(found.map(\.language) == [nil, "eng", "por", "fra"])
        #expect(found.map(\.title) == [nil, "English", "AD", "Forced"])
        #expect(found.map(\.disposition) == [["default"], ["default"], ["visual_impaired"], ["forced"]])
        #expect(found[0].files.map(\.path) == ["high/init.mp4", "high/1.m4s", "high/2.m4s"])
    }

    @Test func byteRangesOfAPlaylistAreRead() throws {
        let single = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="a.mp4",BYTERANGE="100@0"
            #EXTINF:6,
            #EXT-X-BYTERANGE:50@200
            a.mp4
            #EXTINF:4,
            #EXT-X-BYTERANGE:60
            a.mp4
            #EXT-X-ENDLIST
            """
        let files = try selection("a.m3u8", ["a.m3u8": single]).renditions[0].files
        #expect(files.map(\.start) == [0, 200, 250])
        #expect(files.map(\.end) == [100, 250, 310])
    }

    @Test func adaptationSetsHaveOneRepresentationEach() throws {
        let template = """
            <SegmentTemplate media="$RepresentationID$/$Number$.m4s" initialization="$RepresentationID$/i.mp4" duration="2"/>
            """
        let text = """
            <MPD mediaPresentationDuration="PT4S"><Period>
            <AdaptationSet contentType="video">\(template)<Representation id="sd" bandwidth="1"/><Representation id="hd" bandwidth="5"/></AdaptationSet>
            <AdaptationSet contentType="video"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>\(template)<Representation id="trick" bandwidth="9"/></AdaptationSet>
            <AdaptationSet contentType="audio" lang="en"><Role value="main"/>\(template)<Representation id="en" bandwidth="1"/><Representation id="en2" bandwidth="2"/></AdaptationSet>
            <AdaptationSet contentType="audio" lang="de"><Label>Deutsch</Label>\(template)<Representation id="de" bandwidth="1"/></AdaptationSet>
            <AdaptationSet contentType="text" lang="en"><Role value="caption"/><Representation id="s"><BaseURL>s.vtt</BaseURL></Representation></AdaptationSet>
            <AdaptationSet contentType="image">\(template)<Representation id="t" bandwidth="1"/></AdaptationSet>
            </Period></MPD>
            """
        let found = try selection("a.mpd", ["a.mpd": text]).renditions
        #expect(found.map(\.name) == ["hd", "en2", "de", "s"])
        #expect(found.map(\.language) == [nil, "eng", "deu", "eng"])
        #expect(found.map(\.title) == [nil, nil, "Deutsch", nil])
        #expect(found.map(\.disposition) == [[], ["default"], [], ["hearing_impaired"]])
        #expect(found[0].files.map(\.path) == ["hd/i.mp4", "hd/1.m4s", "hd/2.m4s"])
        #expect(found[3].files.map(\.path) == ["s.vtt"])
    }

    @Test func packagesThatAreNotOneSourceAreRefused() {
        func playlist(_ lines: String) -> [String: String] {
            ["a.m3u8": media.replacing("#EXTINF:4,", with: "\(lines)\n#EXTINF:4,")]
        }
        #expect(
            refusal("a.m3u8", playlist("#EXT-X-DISCONTINUITY"))
                == "a.m3u8:6: a discontinuity can't be read as part of a source")
        #expect(
            refusal("a.m3u8", playlist("#EXT-X-MAP:URI=\"j.mp4\""))
                == "a.m3u8:6: several initialization sections can't be read as part of a source")
        #expect(
            refusal("a.m3u8", playlist("#EXT-X-GAP"))
                == "a.m3u8:6: a segment without media (`EXT-X-GAP`) can't be read as part of a source")
        #expect(
            refusal("a.m3u8", ["a.m3u8": media.replacing("#EXT-X-ENDLIST", with: "")])
                == "a.m3u8: the playlist isn't complete (`EXT-X-ENDLIST` is missing)")
        #expect(
            refusal("a.m3u8", playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"k\""))
                == "a.m3u8: the rendition is encrypted")
        let set =
            "<AdaptationSet contentType=\"video\"><Representation id=\"v\"><BaseURL>v.mp4</BaseURL>"
            + "</Representation></AdaptationSet>"
        #expect(
            refusal("a.mpd", ["a.mpd": "<MPD><Period>\(set)</Period>\n<Period>\(set)</Period></MPD>"])
                == "a.mpd:2: an MPD with several periods can't be read as one source")
        let shifted = set.replacing(
            "<BaseURL>v.mp4</BaseURL>",
            with: "<BaseURL>v.mp4</BaseURL><SegmentBase presentationTimeOffset=\"90\"/>")
        #expect(
            refusal("a.mpd", ["a.mpd": "<MPD><Period>\(shifted)</Period></MPD>"])
                == "a.mpd:1: `presentationTimeOffset` can't be read as part of a source")
    }
}
