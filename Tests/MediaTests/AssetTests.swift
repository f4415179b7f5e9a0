import Foundation
import LibAV
import Media
import TestSupport
import Testing

@Suite struct AssetTests {
    @Test func propertiesLoadTogetherAndReportTheirStatus() async throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i",
            "sine=duration=1", "-metadata", "title=Name", path)
        let asset = Asset(url: URL(fileURLWithPath: path))
        guard case .unknown = asset.status(of: .duration) else { throw ProgramError(message: "not unknown") }
        #expect(try await asset.load(.duration) >= MediaTime(value: 1, timescale: 1))
        guard case .loaded = asset.status(of: .tracks) else { throw ProgramError(message: "not loaded") }
        let tracks = try await asset.load(.tracks)
        #expect(tracks.map(\.mediaType) == [.video, .audio])
        #expect(tracks[0].characteristics == [.visual] && tracks[1].characteristics == [.audible])
        #expect(tracks[0].sampleCount == 25)
        #expect(try await asset.load(.metadata).contains(MetadataEntry(key: "title", value: "Name")))
    }

    @Test func failedAndCancelledLoadsKeepTheirStatus() async throws {
        let scratch = try Scratch()
        let missing = Asset(.file(scratch.file("missing.mp4")))
        await #expect(throws: InputError.self) { try await missing.load(.duration) }
        guard case .failed = missing.status(of: .duration) else { throw ProgramError(message: "not failed") }
        let cancelled = Asset(.file(scratch.file("missing.mp4")))
        cancelled.cancelLoading()
        await #expect(throws: CancellationError.self) { try await cancelled.load(.duration) }
        guard case .cancelled = cancelled.status(of: .duration) else {
            throw ProgramError(message: "not cancelled")
        }
    }

    /// Missing, empty, special and unrecognized files are rejected with a reason.
    @Test func filesThatAreNotMediaAreRejected() throws {
        let scratch = try Scratch()
        func reason(_ path: String) -> InputError.Reason? {
            do {
                _ = try Asset(.file(path)).loadSynchronously()
                return nil
            } catch {
                return (error as? InputError)?.reason
            }
        }
        #expect(reason(scratch.file("nothing")) == .file(.missing))
        #expect(reason(scratch.path) == .file(.directory))
        #expect(reason(try scratch.write("", to: "empty.mp4")) == .file(.empty))
        #expect(reason("/dev/null") == .file(.notRegular))
        try program("mkfifo", [scratch.file("pipe.mp4")])
        #expect(reason(scratch.file("pipe.mp4")) == .file(.notRegular))
        #expect(reason(try scratch.write("just some text\n", to: "text.mp4")) == .unrecognized)
    }

    /// Playlists and scripts named .mp4, which refer to other files, are rejected with this reason.
    @Test func playlistsAndScriptsAreRejected() throws {
        let scratch = try Scratch()
        try scratch.write("ffconcat version 1.0\nfile secret.mp4\n", to: "concat.mp4")
        try scratch.write(
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
            to: "hls.mp4")
        for name in ["concat.mp4", "hls.mp4"] {
            do {
                _ = try Asset(.file(scratch.file(name))).loadSynchronously()
                Issue.record("\(name) was opened")
            } catch let error as InputError {
                // FFmpeg 7 recognizes playlists only by their extension or MIME type.
                if error.reason == .unrecognized, name == "hls.mp4" { continue }
                guard case .referencesFiles = error.reason else {
                    Issue.record("\(name): \(error)")
                    continue
                }
                #expect(error.explanation.contains("they refer to other files"))
            }
        }
    }

    @Test(.enabled(if: TestPaths.media != nil))
    func realFilesHaveTheirKnownProperties() throws {
        let media = try #require(TestPaths.media)
        let rotated = try Asset(.file(media + "/sample_rotate_and_reflect.mp4")).loadSynchronously()
        let transform = try #require(rotated.tracks(of: .video).first?.preferredTransform)
        #expect(transform.isReflected && transform.isQuarterTurn)
        let cover = try Asset(.file(media + "/h264-mjpeg.mp4")).loadSynchronously()
        #expect(cover.tracks(of: .video).count == 1 && cover.tracks.contains(where: \.isAttachedPicture))
        let clean = try Asset(.file(media + "/prores4444_with_transparency.mov")).loadSynchronously()
        #expect(clean.tracks(of: .video).first?.format.cleanAperture != nil)
        let wide = try Asset(.file(media + "/SAR-2by3.mp4")).loadSynchronously()
        #expect(wide.tracks(of: .video).first?.format.pixelAspectRatio == Rational(2, 3))
        let edits = try Asset(.file(media + "/440hz-10ms.m4a")).loadSynchronously()
        #expect(edits.tracks.first?.editEnd == MediaTime(value: 441, timescale: 44_100))
        let movie = try Asset(.file(media + "/sample_fragmented.mp4"), timing: .precise).loadSynchronously()
        #expect(movie.isDurationExact && movie.duration < MediaTime(value: 2, timescale: 1))
        let stream = try Asset(.file(media + "/000000000.ts")).loadSynchronously()
        #expect(stream.timeZero > MediaTime(value: 1, timescale: 1))
    }

    /// Cached assets belong to one version of a file, and the oldest entry is evicted first.
    @Test func cachedAssetsAreNeverStale() throws {
        let environment = MediaEnvironment(cache: AssetCache(limit: 2))
        let scratch = try Scratch()
        func seconds(_ name: String) throws -> Double {
            try Asset(.file(scratch.file(name)), environment: environment).loadSynchronously().duration
                .seconds
        }
        for name in ["a.wav", "b.wav", "c.wav"] {
            try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file(name))
            #expect(try seconds(name) == 1)
        }
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", scratch.file("b.wav"))
        #expect(try seconds("a.wav") == 1)
        #expect(try seconds("b.wav") == 2)
        try FileManager.default.moveItem(atPath: scratch.file("b.wav"), toPath: scratch.file("c.wav.new"))
        rename(scratch.file("c.wav.new"), scratch.file("c.wav"))
        #expect(try seconds("c.wav") == 2)
        #expect(throws: InputError.self) { try seconds("b.wav") }
    }
}
