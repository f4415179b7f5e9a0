import Dispatch
import Foundation
import TandemKit
import TestSupport
import Testing

/// Copied ranges of sessions, exports and resumed packets.
@Suite struct CopiedRangeTests {
    private static let containers: [(ContainerType, hides: Bool)] = [
        (.mp4, true), (.mov, true), (.matroska, false), (.transportStream, false),
    ]

    /// A copied range contains all its frames at their times; frames from the keyframe before the range on are hidden.
    /// Containers without edit lists are rejected.
    @Test(
        .enabled(if: TestPaths.media != nil), arguments: containers,
        [(308, 400), (304, 400), (120, 130), (500, 560), (0, 100)])
    func copiedRangeHasItsBeginning(
        _ target: (container: ContainerType, hides: Bool), _ range: (start: Int64, end: Int64)
    ) async throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        let source = URL(fileURLWithPath: media + "/bikes.mp4")
        let url = URL(fileURLWithPath: scratch.file("o." + target.container.extensions[0]))
        let asset = Asset(url: source)
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .video })
        let reader = try AssetReader(asset: asset)
        reader.timeRange = TimeRange(
            start: MediaTime(value: range.start, timescale: 100),
            end: MediaTime(value: range.end, timescale: 100))
        let session = ReencodeSession(
            reader: reader, writer: try AssetWriter(url: url, container: target.container))
        try session.addTrack(
            output: AssetReaderTrackOutput(track: track),
            input: AssetWriterInput(
                mediaType: .video, settings: .passthrough(track.format, timeBase: track.timeBase)))
        // The other ranges start between keyframes, or end where frames refer to later ones.
        let isSimple = range == (0, 100)
        switch await session.run() {
        case .failed(let error):
            #expect(!isSimple && !target.hides, "\(error)")
            let message = "\(error)"
            let isNamed = message.contains("the keyframe at") || message.contains("refer to later ones")
            #expect(isNamed, "\(error)")
            #expect(scratch.contents.isEmpty)
        case .cancelled: Issue.record("the session was cancelled")
        case .completed:
            #expect(isSimple || target.hides)
            let (first, count) = (Int(range.start) / 4, (Int(range.end - range.start) + 3) / 4)
            let file = FFmpegFile(url.path)
            // The mov demuxer drops hidden frames.
            let times = try file.frames().times
            #expect(times.count == count, "\(times.count) of \(count)")
            #expect(
                zip(times, 0..<count).allSatisfy { abs($0 - Double($1) / 25) < 0.002 }, "\(times.prefix(4))")
            let psnr = try file.lowestPSNR(
                against: FFmpegFile(source.path), first: first, count: count, own: 0)
            #expect(psnr == 100)
        }
    }

    /// An export session that copies the same range has the same result.
    @Test(.enabled(if: TestPaths.media != nil), arguments: [(308, 400), (500, 560)])
    func exportedCopiesHaveTheirBeginning(
        _ start: Int64, _ end: Int64
    ) async throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        let source = media + "/bikes.mp4"
        for name in ["mp4", "mkv"] {
            let session = ExportSession(asset: Asset(url: URL(fileURLWithPath: source)), preset: .passthrough)
            session.timeRange = TimeRange(
                start: MediaTime(value: start, timescale: 100), end: MediaTime(value: end, timescale: 100))
            let url = URL(fileURLWithPath: scratch.file("o." + name))
            if name == "mkv" {
                await #expect(throws: ExportError.self) { try await session.export(to: url) }
                continue
            }
            try await session.export(to: url)
            let count = Int(end - start) / 4
            #expect(try FFmpegFile(url.path).frames().times.count == count)
            let psnr = try FFmpegFile(url.path).lowestPSNR(
                against: FFmpegFile(source), first: Int(start) / 4, count: count, own: 0)
            #expect(psnr == 100)
        }
    }

    /// Packets read from any position on are decodable, because they start at the preceding keyframe.
    @Test(.enabled(if: TestPaths.media != nil), arguments: [1, 40, 70, 75, 76, 200])
    func resumedPacketsBeginAtThePrecedingKeyframe(_ frame: Int64)
        async throws
    {
        let media = try #require(TestPaths.media)
        let asset = Asset(url: URL(fileURLWithPath: media + "/bikes.mp4"))
        let track = try #require(try await asset.load(.tracks).first { $0.mediaType == .video })
        let start = MediaTime(value: frame, timescale: 25)
        let reader = try AssetReader(asset: asset)
        reader.timeRange = TimeRange(start: start, end: track.timeRange.end)
        let output = AssetReaderTrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        var (presented, first, isFirstKey) = (0, MediaTime?.none, false)
        while let sample = try output.copyNextSampleBuffer() {
            let isHidden = sample.isHidden
            if first == nil {
                first = sample.presentationTime
                isFirstKey = sample.isKeyframe
            }
            #expect(isHidden == (sample.presentationTime < start))
            if !isHidden { presented += 1 }
        }
        let keys: [Int64] = [0, 30, 76, 137, 187, 242]
        #expect(isFirstKey)
        #expect(first == keys.last { $0 <= frame }.map { MediaTime(value: $0, timescale: 25) })
        #expect(presented == 250 - Int(frame))
    }
}
