import Foundation
import LibAV
import Locking
@testable import Media
import TestSupport
import Testing

/// Packets that don't match their headers are detected by decoding the beginning or the end of a track.
@Suite struct DecodingCheckTests {
    private static let video = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4"]
    private static let h264 = ["-c:v", "libx264", "-g", "25", "-bf", "2"]

    private func check(_ path: String, _ type: MediaType = .video) throws -> (DecodingCheck, AssetTrack) {
        let asset = Asset(.file(path))
        let track = try #require(try asset.loadSynchronously().tracks.first { $0.mediaType == type })
        return (DecodingCheck(asset, track: track), track)
    }

    @Test(arguments: [
        (video + h264, "a.mp4"), (video + h264, "a.mkv"), (video + h264, "a.ts"),
        (video + ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=25"], "a.mp4"),
        // Open GOPs, whose leading frames can't be decoded without the preceding GOP.
        (
            video + [
                "-c:v", "libx265", "-x265-params", "log-level=none:keyint=25:open-gop=1:bframes=8:b-adapt=0",
            ],
            "a.mp4"
        ),
        (video + ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-g", "25"], "a.webm"),
        (video + ["-c:v", "ffv1"], "a.mkv"), (video + ["-c:v", "mpeg2video"], "a.mpg"),
    ])
    func intactVideo_bothGroups_haveNoProblem(_ encoding: [String], _ name: String) throws {
        let scratch = try Scratch()
        try ffmpeg(encoding + [scratch.file(name)])
        let (check, track) = try check(scratch.file(name))
        #expect(check.isPossible)
        #expect(try check.problem(of: .first, isStrict: true) == nil)
        #expect(try check.problem(of: .last(notAfter: track.timeRange.end), isStrict: true) == nil)
        let (copied, _) = try self.check(scratch.file(name))
        #expect(try copied.problem(of: .last(notAfter: track.timeRange.end), isStrict: false) == nil)
        #expect(try copied.problem(of: .first, isStrict: false) == nil)
    }

    /// Three frames prove that a copy's packets match their header, and a group is decoded once.
    @Test(arguments: [(true, 8), (false, 3)])
    func packetsAreReadOnce(isStrict: Bool, packets: Int) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(Self.video + ["-c:v", "libx264", "-g", "250", path])
        let asset = Asset(.file(path))
        let track = try #require(try asset.loadSynchronously().tracks.first)
        // Cancellation is polled before each packet.
        let polls = Guarded(0)
        let check = DecodingCheck(asset, track: track) {
            polls.withLock { $0 += 1 }
            return false
        }
        #expect(try check.problem(of: .first, isStrict: isStrict) == nil)
        #expect(polls.withLock { $0 } == packets)
        #expect(try check.problem(of: .last(notAfter: track.timeRange.end), isStrict: isStrict) == nil)
        #expect(polls.withLock { $0 } == packets + 1)
    }

    @Test(arguments: ["aac", "libmp3lame", "libopus", "libvorbis", "flac", "ac3", "eac3", "alac"])
    func intactAudio_beginning_hasNoProblem(_ codec: String) throws {
        let scratch = try Scratch()
        let path = scratch.file(codec == "alac" ? "a.m4a" : "a.mkv")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", "-c:a", codec, path)
        let (check, _) = try check(path, .audio)
        #expect(try check.problem(of: .first, isStrict: true) == nil)
    }

    @Test(arguments: [true, false]) func h264UnderTagOfAVCIntra_isFound(isStrict: Bool) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mov")
        // ffmpeg selects the codec tag by pixel format, size and rate.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=25:d=2", "-pix_fmt", "yuv422p10le", "-c:v", "libx264",
            "-preset", "ultrafast", "-g", "25", path)
        let (check, track) = try check(path)
        #expect(try check.problem(of: .first, isStrict: isStrict) != nil)
        #expect(try check.problem(of: .last(notAfter: track.timeRange.end), isStrict: isStrict) != nil)
    }

    @Test func wrongParameterSets_areFound() throws {
        let scratch = try Scratch()
        let (path, other) = (scratch.file("a.mp4"), scratch.file("b.mp4"))
        try ffmpeg(Self.video + Self.h264 + [path])
        // Another entropy coding and transform, with headers of the same size.
        try ffmpeg(Self.video + ["-c:v", "libx264", "-profile:v", "baseline", other])
        let data = try Data(contentsOf: URL(filePath: path))
        let their = try Data(contentsOf: URL(filePath: other))
        let (own, theirs) = (
            try #require(data.range(of: Data("avcC".utf8))), try #require(their.range(of: Data("avcC".utf8)))
        )
        var mixed = data
        let count = 30
        mixed.replaceSubrange(
            own.upperBound..<(own.upperBound + count),
            with: their[theirs.upperBound..<(theirs.upperBound + count)])
        try mixed.write(to: URL(filePath: path))
        let (check, _) = try check(path)
        #expect(try check.problem(of: .first, isStrict: true) != nil)
    }

    @Test func damageOfTheLastGOP_isFoundOnlyThere() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(Self.video + Self.h264 + [path])
        let json = try FFmpegFile(path).probe(["-select_streams", "v:0", "-show_entries", "packet=pos,flags"])
        let packets = try #require(json["packets"] as? [[String: Any]])
        let key = try #require(packets.last { ($0["flags"] as? String)?.hasPrefix("K") == true })
        let at = try #require((key["pos"] as? String).flatMap { Int($0) })
        var data = try Data(contentsOf: URL(filePath: path))
        // The slice header is kept, so the packet is still a keyframe.
        data.replaceSubrange((at + 64)..<(at + 2064), with: [UInt8](repeating: 0xff, count: 2000))
        try data.write(to: URL(filePath: path))
        let (check, track) = try check(path)
        #expect(try check.problem(of: .first, isStrict: true) == nil)
        #expect(try check.problem(of: .last(notAfter: track.timeRange.end), isStrict: true) != nil)
    }

    @Test func cancelledCheck_throws() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(Self.video + Self.h264 + [path])
        let asset = Asset(.file(path))
        let track = try #require(try asset.loadSynchronously().tracks.first)
        #expect(throws: CancellationError.self) {
            _ = try DecodingCheck(asset, track: track, isCancelled: { true }).problem(
                of: .first, isStrict: true)
        }
    }
}
