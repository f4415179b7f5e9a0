import Foundation
import LibAV
import Media
import TestSupport
import Testing

/// Still images from several concurrent decoders equal those from a single one, in order.
@Suite struct ParallelStillImageTests {
    private func movie(in scratch: Scratch, _ options: String...) throws -> Asset {
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=20", "-c:v", "libx264", "-pix_fmt", "yuv420p",
                "-g", "30", "-bf", "3",
            ]
                + options + [scratch.file("in.mp4")])
        return Asset(url: URL(fileURLWithPath: scratch.file("in.mp4")))
    }

    private func bytes(_ image: PixelBuffer) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for plane in 0..<image.planeCount { try image.withPlane(plane) { part, _ in bytes += Array(part) } }
        return bytes
    }

    private static func times(_ step: Double, _ count: Int) -> [MediaTime] {
        (0..<count).map { MediaTime(seconds: Double($0) * step + 0.013) }
    }

    @Test(arguments: [(1.3, 15), (0.6, 33), (5.1, 5), (0.9, 30)]) func concurrentStillsMatchSingleOnes(
        _ step: Double, _ count: Int
    ) async throws {
        let scratch = try Scratch()
        let asset = try movie(in: scratch)
        let times = Self.times(step, count)
        var found: [(time: MediaTime, isRepeated: Bool, bytes: [UInt8])] = []
        try AssetImageGenerator(asset: asset).images(at: times) { still in
            #expect(still.requestedTime == times[found.count])
            found.append((still.actualTime, still.isRepeated, try bytes(still.image)))
        }
        #expect(found.count == count)
        for (index, time) in times.enumerated() {
            let alone = try await AssetImageGenerator(asset: asset).image(at: time)
            #expect(alone.actualTime == found[index].time, "\(index)")
            #expect(try bytes(alone.image) == found[index].bytes, "\(index)")
            #expect(found[index].isRepeated == (index > 0 && found[index - 1].time == found[index].time))
        }
    }

    /// Images before damage are delivered, then an error is thrown. Cancelled and failed generations end promptly.
    @Test func damageAndCancellationEndTheGeneration() async throws {
        let scratch = try Scratch()
        let asset = try movie(in: scratch)
        let times = Self.times(1.3, 15)
        struct Enough: Error {}
        for limit in [0, 1, 5, 14] {
            var count = 0
            #expect(throws: Enough.self) {
                try AssetImageGenerator(asset: asset).images(at: times) { _ in
                    if count == limit { throw Enough() }
                    count += 1
                }
            }
            let generator = AssetImageGenerator(asset: asset)
            count = 0
            #expect(throws: CancellationError.self) {
                try generator.images(at: times) { _ in
                    if count == limit { generator.cancel() }
                    count += 1
                }
                // All images may be complete when the last one cancels.
                if limit == 14 { throw CancellationError() }
            }
            #expect(count <= 15)
        }
        var data = try Data(contentsOf: URL(fileURLWithPath: scratch.file("in.mp4")))
        for index in stride(from: data.count * 5 / 8, to: data.count * 6 / 8, by: 7) { data[index] ^= 0x5a }
        let broken = URL(fileURLWithPath: scratch.file("broken.mp4"))
        try data.write(to: broken)
        var count = 0
        #expect(throws: MediaError.self) {
            try AssetImageGenerator(asset: Asset(url: broken)).images(at: times) { _ in count += 1 }
        }
        #expect((4...11).contains(count), "\(count)")
    }
}
