import LibAV
import Media
import TestSupport
import Testing

@Suite struct SilenceBlackDetectorTests {
    /// Three seconds of a tone and of white frames, then two seconds of silence and black.
    private func source(in scratch: Scratch) throws -> Asset {
        let file = scratch.file("source.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=3,apad=pad_dur=2", "-f", "lavfi", "-i",
            "color=white:s=64x64:r=25:d=3,tpad=stop_duration=2:color=black", "-c:a", "pcm_s16le", "-c:v",
            "ffv1",
            file)
        return Asset(.file(file))
    }

    private static let cases: [(ranges: [ClosedRange<Double>], expected: Double)] = [
        ([], 2), ([0...5], 2), ([1.5...5], 2), ([0.5...4.5], 1.5), ([3.4...4.4], 1), ([1...2], 0),
        ([0...1, 3.5...5], 1.5),
    ]

    @Test(arguments: cases)
    func silenceAtTheEndOfRanges_isMeasured(_ ranges: [ClosedRange<Double>], _ expected: Double) throws {
        let scratch = try Scratch()
        let asset = try source(in: scratch)
        defer { withExtendedLifetime(scratch) {} }
        let detector = SilenceBlackDetector(
            asset: asset,
            extent: ReadingExtent(
                ranges: ranges.map {
                    TimeRange(
                        start: MediaTime(seconds: $0.lowerBound), end: MediaTime(seconds: $0.upperBound))
                }))
        let tracks = try asset.loadSynchronously().tracks
        let audio = try #require(tracks.first { $0.mediaType == .audio })
        let video = try #require(tracks.first { $0.mediaType == .video })
        #expect(abs(try detector.longestSilence(of: audio).seconds - expected) < 0.03)
        #expect(abs(try detector.longestBlack(of: video).seconds - expected) < 0.03)
    }
}
