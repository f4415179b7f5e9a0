import Streaming
import Testing

/// Tests the paths of a package's files.
@Suite struct PackageLayoutTests {
    @Test func filesOfARenditionAreInItsFolder() {
        let many = PackageLayout(files: .many)
        #expect(many.initialization(of: "hd") == "hd/init.mp4")
        #expect(many.segment(0, of: "hd") == "hd/00001.m4s")
        #expect(many.segment(123_456, of: "hd") == "hd/123457.m4s")
        #expect(many.subtitleSegment(9, of: "en") == "en/00010.vtt")
        #expect(many.subtitles(of: "en") == "en/subtitles.vtt")
        #expect(many.playlist(of: "hd") == "hd/playlist.m3u8")
        #expect(many.keyframePlaylist(of: "hd") == "hd/keyframes.m3u8")
        #expect(many.multivariantPlaylist == "master.m3u8")
        #expect(many.presentationDescription == "manifest.mpd")
        let single = PackageLayout(files: .single)
        #expect(single.initialization(of: "hd") == "hd/media.mp4")
        #expect(single.segment(7, of: "hd") == "hd/media.mp4")
    }

    @Test func transportStreamsHaveTheirExtension() {
        #expect(PackageLayout(files: .many, container: .ts).segment(0, of: "hd") == "hd/00001.ts")
        #expect(PackageLayout(files: .single, container: .ts).segment(7, of: "hd") == "hd/media.ts")
    }
}
