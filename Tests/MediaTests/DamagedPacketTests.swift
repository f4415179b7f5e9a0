import Foundation
import LibAV
@testable import Media
import TestSupport
import Testing

/// If a packet at any position is damaged, only its frame is skipped, and its time is reported, with any number of
/// decoder threads.
@Suite struct DamagedPacketTests {
    @Test(arguments: [1, 2, 3, 8], [0, 1, 25, 47, 48, 49]) func onlyTheDamagedFrameIsSkipped(
        threads: Int, damaged: Int
    ) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=2", "-c:v", "libx264", "-x264-params", "keyint=1",
            path)
        let json = try FFmpegFile(path).probe(["-select_streams", "v:0", "-show_entries", "packet=pos"])
        let packets = try #require(json["packets"] as? [[String: Any]])
        #expect(packets.count == 50)
        let at = try #require((packets[damaged]["pos"] as? String).flatMap { Int($0) })
        var data = try Data(contentsOf: URL(filePath: path))
        data.replaceSubrange(at..<(at + 4), with: [0xff, 0xff, 0xff, 0xff])
        try data.write(to: URL(filePath: path))

        let asset = Asset(.file(path))
        let reader = try AssetReader(asset: asset)
        reader.decoderThreads = threads
        reader.extent.damagePolicy = .skip
        let track = try #require(try asset.loadSynchronously().tracks.first)
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(output)
        try reader.startReading()
        var times: [MediaTime] = []
        while let sample = try output.copyNextSampleBuffer() {
            times.append(MediaTime(ticks: sample.pts, timeBase: sample.timeBase))
        }
        let all = (0..<50).map { MediaTime(value: Int64($0), timescale: 25) }
        // If the first frame is damaged, the output starts with the second one.
        #expect(times == all.filter { $0 != all[damaged] }, "\(times)")
        #expect(output.damage.count.skipped == 1)
        #expect(output.damage.count.first == all[damaged])
    }
}
