import Foundation
import TandemKit
import TestSupport
import Testing

/// Results of single images of a series, and the part of the frames that images show.
@Suite struct ImageResultTests {
    /// Four seconds with a keyframe each second, whose packets of the third second are damaged.
    private static func damaged(in scratch: Scratch) throws -> URL {
        let url = URL(fileURLWithPath: scratch.file("in.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=4", "-c:v", "libx264", "-g", "25",
            "-sc_threshold", "0", "-pix_fmt", "yuv420p", url.path)
        let packets = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time,pos,size", "-of",
                "csv=p=0", url.path,
            ])
        var bytes = [UInt8](try Data(contentsOf: url))
        for line in String(decoding: packets.output, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count >= 3, let time = Double(fields[0]), let size = Int(fields[1]),
                let position = Int(fields[2]), (2..<3).contains(time), size > 40
            else { continue }
            for offset in stride(from: position + 30, to: position + size, by: 3) { bytes[offset] ^= 0x5a }
        }
        try Data(bytes).write(to: url)
        return url
    }

    /// A failure names its time and its error, and the other images of the series are generated.
    @Test func oneFailureDoesNotEndTheSeries() async throws {
        let scratch = try Scratch()
        let generator = AssetImageGenerator(asset: Asset(url: try Self.damaged(in: scratch)))
        let times = [0.5, 1.5, 2.5, 3.5, 0.2].map { MediaTime(seconds: $0) }
        var outcomes: [String] = []
        for await result in generator.results(for: times) {
            #expect(result.requestedTime == times[outcomes.count])
            switch result {
            case .success(let still):
                #expect(abs(still.actualTime.seconds - result.requestedTime.seconds) < 0.041)
                #expect(try result.get().image.width == 320)
                outcomes.append("image")
            case .failure(_, let error):
                #expect(ErrorKind(error) == .damagedData, "\(error)")
                #expect(throws: (any Error).self) { _ = try result.get() }
                outcomes.append("failure")
            }
        }
        #expect(outcomes == ["image", "image", "failure", "image", "image"])
        // The throwing sequence ends at the failure.
        var images = 0
        await #expect(throws: MediaError.self) {
            for try await _ in generator.images(for: times) { images += 1 }
        }
        #expect(images == 2)
    }

    @Test func everyTimeOfAMissingFileFails() async throws {
        let generator = AssetImageGenerator(asset: Asset(url: URL(fileURLWithPath: "/nonexistent/x.mp4")))
        var kinds: [ErrorKind] = []
        for await result in generator.results(for: [.zero, MediaTime(seconds: 1)]) {
            if case .failure(_, let error) = result { kinds.append(ErrorKind(error)) }
        }
        #expect(kinds == [.notFound, .notFound])
        var count = 0
        for await _ in generator.results(for: []) { count += 1 }
        #expect(count == 0)
    }

    /// After a cancel, the sequence ends with one failure.
    @Test func cancelledResultsEnd() async throws {
        let scratch = try Scratch()
        let generator = AssetImageGenerator(asset: Asset(url: try await ArticleTests.movie(in: scratch)))
        var results: [StillImageResult] = []
        for await result in generator.results(for: (0..<9).map { MediaTime(value: $0, timescale: 25) }) {
            results.append(result)
            if results.count == 3 { generator.cancel() }
        }
        #expect(results.count == 4)
        #expect(throws: CancellationError.self) { _ = try results.last?.get() }
    }

    // MARK: Aperture

    /// A movie of 320x240 with a clean aperture of 256x192, 16 to the left of the center, and pixels of 2:1. Its left half is
    /// red, its right half blue.
    private static func clean(in scratch: Scratch) throws -> URL {
        let url = URL(fileURLWithPath: scratch.file("clean.mov"))
        try ffmpeg(
            "-f", "lavfi", "-i", "color=red:s=160x240:r=25:d=0.2", "-f", "lavfi", "-i",
            "color=blue:s=160x240:r=25:d=0.2", "-filter_complex", "hstack,setsar=2", "-c:v", "libx264",
            "-pix_fmt", "yuv420p", url.path)
        var bytes = [UInt8](try Data(contentsOf: url))
        var clap: [UInt8] = []
        func put(_ value: Int32) { withUnsafeBytes(of: value.bigEndian) { clap += $0 } }
        put(40)
        clap += Array("clap".utf8)
        for value in [256, 1, 192, 1, -16, 1, 0, 1] as [Int32] { put(value) }
        // The index follows the media, so that no offset changes.
        func position(_ name: String) throws -> Int {
            let pattern = Array(name.utf8)
            return try #require(
                bytes.indices.last { $0 + 4 <= bytes.count && Array(bytes[$0..<$0 + 4]) == pattern })
        }
        let entry = try position("avc1")
        func size(at offset: Int) -> Int { bytes[offset - 4..<offset].reduce(0) { $0 << 8 | Int($1) } }
        let end = entry - 4 + size(at: entry)
        for name in ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"] {
            let offset = try position(name)
            let new = Int32(size(at: offset) + clap.count)
            withUnsafeBytes(of: new.bigEndian) { bytes.replaceSubrange(offset - 4..<offset, with: $0) }
        }
        bytes.insert(contentsOf: clap, at: end)
        try Data(bytes).write(to: url)
        return url
    }

    @Test(arguments: AssetImageGenerator.ApertureMode.allCases)
    func apertureModesSelectTheirPart(_ mode: AssetImageGenerator.ApertureMode) async throws {
        let scratch = try Scratch()
        let asset = Asset(url: try Self.clean(in: scratch))
        let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
        #expect(track.format.cleanAperture != nil)
        let generator = AssetImageGenerator(asset: asset, apertureMode: mode)
        let image = try await generator.image(at: .zero).image
        let expected: (width: Int, height: Int, edge: Int) =
            switch mode {
            // The part begins at 16, so that the edge at 160 is at 144.
            case .cleanAperture: (512, 192, 288)
            case .productionAperture: (640, 240, 320)
            case .encodedPixels: (320, 240, 160)
            }
        #expect(image.width == expected.width && image.height == expected.height)
        try image.withRows(ofPlane: 0, as: UInt8.self) { _, row in
            #expect(row[(expected.edge - 8) * 3] > 200 && row[(expected.edge - 8) * 3 + 2] < 60)
            #expect(row[(expected.edge + 8) * 3] < 60 && row[(expected.edge + 8) * 3 + 2] > 200)
        }
        let small = AssetImageGenerator(
            asset: asset, maximumSize: PixelSize(width: 100, height: 100), apertureMode: mode)
        let box = try await small.image(at: .zero).image
        #expect(box.width <= 100 && box.height <= 100)
        #expect(
            abs(
                Double(box.width) / Double(box.height) - Double(expected.width) / Double(expected.height))
                < 0.1)
    }
}
