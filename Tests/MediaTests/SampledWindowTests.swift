import LibAV
@testable import Media
import TestSupport
import Testing

/// Windows of a source that are encoded as a sample of it: the keyframes at which they start, and their frames that aren't
/// compared.
@Suite struct SampledWindowTests {
    private func time(_ seconds: Double) -> MediaTime {
        MediaTime(value: Int64((seconds * 1000).rounded()), timescale: 1000)
    }

    private func contents(_ path: String) throws -> (contents: AssetContents, video: AssetTrack) {
        let contents = try Asset(.file(path), timing: .fast).loadSynchronously()
        return (contents, try #require(contents.tracks.first { $0.mediaType == .video }))
    }

    /// Keyframes are 2 s apart. A transport stream starts at 1.4 s or later in the file, and at 0 for the user; it has no index, and
    /// after a seek to its last GOP no keyframe follows, so that it is decoded from its start.
    @Test(arguments: [("a.mp4", 8.0), ("a.mkv", 8), ("a.ts", 0)])
    func keyFrameBeforeATime(_ name: String, _ last: Double) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=9", "-c:v", "libx264", "-preset", "veryfast",
            "-g", "50",
            "-sc_threshold", "0", "-bf", "2", scratch.file(name))
        let (contents, video) = try contents(scratch.file(name))
        let found = try contents.keyFrameTimes(
            before: [0, 0.48, 2, 3.96, 6.52, 8.9].map(time), of: video, path: scratch.file(name),
            environment: SourceEnvironment())
        #expect(found.map { $0?.seconds } == [0, 0, 2, 2, 6, last])
    }

    /// The first ten frames differ. Frames in an ignored range are read, and don't affect the result.
    @Test func ignoredFrames_areNotCompared() throws {
        let scratch = try Scratch()
        let source = "testsrc2=s=160x120:r=25:d=2,format=yuv420p"
        try ffmpeg("-f", "lavfi", "-i", source, "-c:v", "ffv1", scratch.file("a.mkv"))
        try ffmpeg(
            "-f", "lavfi", "-i", source + ",drawbox=t=fill:enable='lt(n,10)'", "-c:v", "ffv1",
            scratch.file("b.mkv"))
        func similarity(ignoring ignored: [TimeRange]) throws -> SimilarityMeter.Outcome {
            let (original, copy) = (try contents(scratch.file("a.mkv")), try contents(scratch.file("b.mkv")))
            return try SimilarityMeter(
                source: Asset(.file(scratch.file("a.mkv"))), sourceTrack: original.video,
                settings: VideoOutputSettings(), burnedSubtitles: nil, extent: ReadingExtent(),
                output: Asset(.file(scratch.file("b.mkv"))), track: copy.video, isCancelled: { false }
            ).measure(.ssim, ignoring: ignored)
        }
        guard case .value(let whole) = try similarity(ignoring: []) else {
            throw ProgramError(message: "no value")
        }
        #expect(whole < 0.95)
        let start = TimeRange(start: .zero, end: time(0.4))
        guard case .value(let rest) = try similarity(ignoring: [start]) else {
            throw ProgramError(message: "no value")
        }
        #expect(rest == 1)
        guard
            case .counts(50, 50) = try similarity(ignoring: [
                start, TimeRange(start: time(0.4), end: time(2)),
            ])
        else { throw ProgramError(message: "a value of no frame") }
    }
}
