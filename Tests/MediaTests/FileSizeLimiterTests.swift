import LibAV
@testable import Media
import TestSupport
import Testing

/// The packets that a size limit admits never exceed its number of bytes, cover all tracks up to the same time, and
/// leave no gap in the presentation of reordered frames.
@Suite struct FileSizeLimiterTests {
    private struct TestPacket {
        var track: Int
        var pts: Int64
        var dts: Int64
        var size: Int
    }

    /// Returns video with reordered frames, and audio, in decoding order. Times are in milliseconds.
    private func stream(using random: inout some RandomNumberGenerator) -> [TestPacket] {
        var video: [TestPacket] = []
        var next: Int64 = 0
        while next < 100 {
            let between = Int64.random(in: 0...3, using: &random)
            let shown = [next + between] + (0..<between).map { next + $0 }
            for frame in shown {
                video.append(
                    TestPacket(
                        track: 0, pts: frame * 40 + 160, dts: Int64(video.count) * 40,
                        size: Int.random(in: 100...5000, using: &random)))
            }
            next += between + 1
        }
        let audio = (0..<200).map { TestPacket(track: 1, pts: $0 * 21, dts: $0 * 21, size: 300) }
        return (video + audio).sorted { ($0.dts, $0.track) < ($1.dts, $1.track) }
    }

    @Test(arguments: 0..<60) func passedPacketsFitAndHaveNoGaps(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let given = stream(using: &random)
        let limit = Int64.random(in: 20_000...200_000, using: &random)
        let container = try #require(ContainerType.named("mkv"))
        let model = OutputSizeModel(
            container: container,
            tracks: [
                OutputSizeModel.Track(mediaType: .video, codec: "h264", headerSize: 0),
                OutputSizeModel.Track(mediaType: .audio, codec: "aac", headerSize: 0),
            ])
        let unit = Rational(1, 1000)
        let gate = FileSizeLimiter(
            limit: limit, bytes: 1000, model: model, canShorten: false,
            tracks: [(.video, unit), (.audio, unit)])
        var written: [TestPacket] = []
        var stop: MediaTime?
        func write(_ packet: consuming Packet, _ track: Int) {
            written.append(TestPacket(track: track, pts: packet.pts, dts: packet.dts, size: packet.size))
        }
        for one in given where stop == nil {
            let packet = try Packet.of([UInt8](repeating: 0, count: one.size))
            (packet.pts, packet.dts, packet.duration) = (one.pts, one.dts, one.track == 0 ? 40 : 21)
            stop = try gate.take(packet, track: one.track) { packet, track in write(packet, track) }
        }
        if stop == nil { stop = try gate.finish { packet, track in write(packet, track) } }
        #expect(written.reduce(1000) { $0 + Int64($1.size) } <= limit)
        guard let stop else {
            #expect(written.count == given.count, "all of it fits")
            return
        }
        let end = stop.ticks(in: unit)
        let video = written.filter { $0.track == 0 }
        let all = given.filter { $0.track == 0 }
        #expect(video.map(\.pts) == all.prefix(video.count).map(\.pts), "a prefix of the source")
        #expect(video.allSatisfy { $0.pts < end })
        #expect(all.dropFirst(video.count).allSatisfy { $0.pts >= end }, "no frame before the end is missing")
        #expect(written.filter { $0.track == 1 }.allSatisfy { $0.pts + 21 <= end })
        #expect(written.contains { $0.track == 1 } || end < 42)
    }
}
