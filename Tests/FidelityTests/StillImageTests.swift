import Foundation
import LibAV
@testable import Media
import TestSupport
import Testing

/// Still images at and just before each frame's time, requested in any order, equal the frames of a complete decode.
/// All real files are tested.
@Suite(.enabled(if: TestPaths.media != nil))
struct StillImageTests {
    private struct Shown: Hashable {
        var time: MediaTime
        var hash: Int
    }

    private static var files: [String] {
        guard let media = TestPaths.media else { return [] }
        return ((try? FileManager.default.contentsOfDirectory(atPath: media)) ?? []).sorted().filter {
            !$0.hasSuffix(".png") && !$0.hasSuffix(".tsv")
        }
    }

    private static func hash(_ frame: borrowing Frame) -> Int {
        var hasher = Hasher()
        hasher.combine(frame.width)
        hasher.combine(frame.height)
        for plane in 0..<4 {
            _ = frame.withPlane(plane) { bytes, stride in
                // Bytes between the end of a row and the stride are undefined.
                let width = min(stride, plane == 0 || plane == 3 ? frame.width : frame.width / 2)
                guard stride > 0, width > 0 else { return }
                for row in 0..<(bytes.count / stride) {
                    hasher.combine(
                        bytes: UnsafeRawBufferPointer(
                            rebasing: bytes[(row * stride)..<(row * stride + width)]))
                }
            }
        }
        return hasher.finalize()
    }

    /// Returns all frames of a track, in order.
    private static func all(of track: AssetTrack, in asset: Asset) throws -> [Shown] {
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(VideoOutputSettings()), extent: ReadingExtent())
        try samples.start()
        var shown: [Shown] = []
        while let sample = try samples.next() {
            let time = MediaTime(ticks: sample.pts, timeBase: sample.timeBase)
            guard let frame = sample.takeFrame() else { continue }
            shown.append(Shown(time: time, hash: hash(frame)))
        }
        return shown
    }

    private static func stills(
        at times: [MediaTime], of track: AssetTrack, in asset: Asset, tolerance: ImageTolerance = .exact
    ) throws -> [Shown] {
        let generator = AssetImageGenerator(
            asset: asset, track: track, tolerance: tolerance)
        var found: [Shown] = []
        try generator.images(at: times) { still in
            found.append(Shown(time: still.actualTime, hash: try hash(still.image.makeFrame())))
        }
        return found
    }

    @Test(arguments: files)
    func stillImagesAreThePresentedFrames(_ name: String) throws {
        let asset = Asset(.file(try #require(TestPaths.media) + "/" + name), timing: .fast)
        guard let contents = try? asset.loadSynchronously(),
            let track = contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture }),
            // The decoding of damaged frames depends on where it starts; other tests cover it.
            let all = try? Self.all(of: track, in: asset), !all.isEmpty
        else { return }
        let tick = MediaTime(ticks: 1, timeBase: track.timeBase)
        var random = SeededGenerator(UInt64(all.count))
        // The frames' times, times just before them, random times, and one after the end.
        var times: [MediaTime] = [.zero]
        let picked =
            all.count > 60
            ? (0..<60).map { _ in Int.random(in: 0..<all.count, using: &random) } : Array(all.indices)
        for index in picked {
            times.append(all[index].time)
            if all[index].time > tick { times.append(all[index].time - tick) }
        }
        let end = try #require(all.last).time
        for _ in 0..<20 {
            times.append(end.multiplied(by: Int64.random(in: 0...1000, using: &random), dividedBy: 1000))
        }
        times.append(end + MediaTime(value: 100, timescale: 1))
        times.sort()
        func expected(_ time: MediaTime) -> Shown { all.last { $0.time <= time } ?? all[0] }
        let found = try Self.stills(at: times, of: track, in: asset)
        #expect(found.count == times.count)
        for (time, still) in zip(times, found) {
            #expect(still == expected(time), "\(name) at \(time) s")
        }
        // Several images in random order, and each one separately.
        let few = (0..<6).map { _ in times.randomElement(using: &random) ?? .zero }
        for (time, still) in zip(few, try Self.stills(at: few, of: track, in: asset)) {
            #expect(still == expected(time), "\(name) at \(time) s, out of order")
        }
        for time in few.prefix(3) {
            #expect(
                try Self.stills(at: [time], of: track, in: asset) == [expected(time)],
                "\(name) at \(time) s, alone")
        }
        // With a tolerance, the image is a frame within it, or the frame shown at the time.
        let half = MediaTime(value: 1, timescale: 2)
        let loose = ImageTolerance(before: half, after: half)
        for (time, still) in zip(times, try Self.stills(at: times, of: track, in: asset, tolerance: loose)) {
            #expect(all.contains(still), "\(name) at \(time) s, with tolerance")
            let exact = expected(time)
            let isNear = still.time >= time - half && still.time <= time + half
            #expect(isNear || still == exact, "\(name) at \(time) s: \(still.time) s")
        }
    }

    /// Where the container states the keyframes, the data of large packets isn't read. The times are the same.
    @Test(arguments: files)
    func keyframesAreFoundWithoutTheirData(_ name: String) throws {
        let path = try #require(TestPaths.media) + "/" + name
        guard let contents = try? Asset(.file(path), timing: .fast).loadSynchronously(),
            let track = contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture }),
            let packets = try? PacketSource(
                track: track, of: DemuxerModel.named(contents.container), path: path,
                environment: SourceEnvironment())
        else { return }
        packets.damage.setPolicy(.skip)
        var times: Set<MediaTime> = []
        while let packet = try packets.next() {
            let ticks = packet.pts != noTimestamp ? packet.pts : packet.dts
            guard packet.isKey, ticks != noTimestamp else { continue }
            let time = MediaTime(ticks: ticks, timeBase: packets.timeBase) - contents.timeZero
            if time >= .zero { times.insert(time) }
        }
        let found = try contents.keyFrameTimes(
            of: track, path: path, environment: SourceEnvironment(), limit: .max)
        #expect(found == times.sorted(), "\(name)")
    }

    @Test(arguments: files)
    func keyframeImagesMatchTheIndex(_ name: String) throws {
        let path = try #require(TestPaths.media) + "/" + name
        let asset = Asset(.file(path), timing: .fast)
        guard let contents = try? asset.loadSynchronously(),
            let track = contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture }),
            let all = try? Self.all(of: track, in: asset), !all.isEmpty,
            let keys = try? contents.keyFrameTimes(
                of: track, path: path, environment: SourceEnvironment(), limit: 1000)
        else { return }
        let times = Array(keys.prefix(40))
        let found = try Self.stills(at: times, of: track, in: asset, tolerance: .keyFrame)
        for (time, still) in zip(times, found) {
            #expect(all.contains(still), "\(name): no frame of a whole decode is at \(time) s")
            #expect(still.time == time, "\(name): key frame \(time) s is \(still.time) s")
        }
    }
}
