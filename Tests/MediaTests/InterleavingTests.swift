import Foundation
import LibAV
import Media
import TestSupport
import Testing
import Publishing

/// Copies of files whose tracks are interleaved far apart cause neither a deadlock nor unbounded memory use.
@Suite struct InterleavingTests {
    /// Copies all tracks of a file to another one, and returns the reports of the tracks.
    private func copy(_ path: String, to output: String, container: String, ranged: TimeRange? = nil)
        async throws -> [TrackReport]
    {
        let asset = Asset(.file(path))
        let contents = try asset.loadSynchronously()
        let target = try TemporaryFile(destination: output)
        let writer = AssetWriter(output: target, container: try #require(ContainerType.named(container)))
        let session = ReencodeSession(reader: try AssetReader(asset: asset), writer: writer)
        for track in contents.tracks {
            let input = AssetWriterInput(
                mediaType: track.mediaType, settings: .passthrough(track.format, timeBase: track.timeBase))
            try session.addTrack(output: AssetReaderTrackOutput(track: track), input: input)
        }
        switch await session.run() {
        case .completed: try target.publish(replacing: true)
        case .failed(let error): throw error
        case .cancelled: throw ProgramError(message: "cancelled")
        }
        return session.reports
    }

    /// An AVI file in which all audio packets follow the video packets is copied.
    @Test func audioAfterAllVideoIsCopied() async throws {
        let scratch = try Scratch()
        let (video, audio, apart) = (scratch.file("v.mkv"), scratch.file("a.mkv"), scratch.file("apart.avi"))
        // 40 s of uncompressed audio and frames: far more than may wait for one track.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=40", "-c:v", "mjpeg", "-q:v", "1",
            video)
        try ffmpeg("-f", "lavfi", "-i", "anoisesrc=d=40:r=192000", "-ac", "2", "-c:a", "pcm_s32le", audio)
        try await MovieShuffler.writeSequentially(video: video, audio: audio, output: apart)
        let far = try await copy(apart, to: scratch.file("far-out.mkv"), container: "mkv")
        #expect(far[0].appendedSamples == 1000)
        // All audio samples are copied, regardless of their packets.
        #expect(try FFmpegFile(scratch.file("far-out.mkv")).audio(rate: 8000).count == 320_000)
    }

    @Test func aMuchShorterTrackIsCopied() async throws {
        let scratch = try Scratch()
        let source = scratch.file("short.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=60", "-f", "lavfi", "-i",
            "sine=duration=0.5", "-c:v", "libx264",
            "-preset", "ultrafast", source)
        let reports = try await copy(source, to: scratch.file("out.mp4"), container: "mp4")
        #expect(reports[0].appendedSamples == 1500)
        #expect(try FFmpegFile(scratch.file("out.mp4")).frames().times.count == 1500)
    }

    @Test func subtitleEventsAnHourApartAreCopied() async throws {
        let scratch = try Scratch()
        try scratch.write(
            "1\n00:00:01,000 --> 00:00:02,000\nfirst\n\n2\n00:59:58,000 --> 00:59:59,000\nlast\n", to: "s.srt"
        )
        let source = scratch.file("hour.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "color=size=32x32:rate=1:duration=3600", "-f", "lavfi", "-i",
            "anullsrc=r=8000:cl=mono", "-i",
            scratch.file("s.srt"), "-t", "3600", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac",
            "-b:a", "8k", "-c:s", "srt",
            source)
        let reports = try await copy(source, to: scratch.file("out.mkv"), container: "mkv")
        #expect(reports[0].appendedSamples == 3600)
        #expect(reports[2].appendedSamples == 2)
    }
}

/// Writes tracks one after the other, which the ffmpeg program can't do, with the module's muxer.
enum MovieShuffler {
    static func writeSequentially(video: String, audio: String, output: String) async throws {
        let descriptor = open(output, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        let muxer = try Muxer.open(format: "avi", descriptor: descriptor)
        for path in [video, audio] {
            let demuxer = try Demuxer.open(path: path)
            let stream = try demuxer.stream(0)
            _ = try muxer.addStream(
                stream.parameters,
                timeBase: stream.parameters.mediaType == .video ? Rational(1, 25) : Rational(1, 192_000),
                frameRate: stream.averageFrameRate)
        }
        try muxer.writeHeader(options: [])
        for (index, path) in [video, audio].enumerated() {
            let demuxer = try Demuxer.open(path: path)
            let stream = try demuxer.stream(0)
            let packet = try Packet()
            while try demuxer.read(into: packet) {
                let to = muxer.timeBase(of: index)
                packet.pts = stream.timeBase.rescale(packet.pts, to: to)
                packet.dts = packet.pts
                packet.duration = stream.timeBase.rescale(packet.duration, to: to)
                packet.streamIndex = index
                try muxer.write(packet)
            }
        }
        try muxer.finish()
    }
}
