import Foundation
import LibAV
import TestSupport
import Testing

@testable import Media

/// Properties that are parsed from H.264 headers equal the properties found by decoding.
@Suite struct VideoHeadersTests {
    private static func read(_ codec: String, headers: [UInt8], opening: PacketOpening) -> VideoHeaders? {
        var movie: MovieInspector?
        return AssetLoader.videoHeaders(codec: codec, headers: headers, opening: opening, movie: &movie)
    }

    /// Returns the properties of a file's tracks, and the parsed headers.
    private static func inspect(
        _ path: String, read: (String, [UInt8], PacketOpening) -> VideoHeaders? = { _, _, _ in nil }
    ) throws -> (tracks: [[String]], headers: [VideoHeaders]) {
        var found: [VideoHeaders] = []
        let demuxer = try Demuxer.open(
            path: path, environment: SourceEnvironment(),
            read: { codec, headers, opening in
                let headers = read(codec, headers, opening)
                found += headers.map { [$0] } ?? []
                return headers
            })
        var tracks: [[String]] = []
        for index in 0..<demuxer.streamCount {
            let stream = try demuxer.stream(index)
            let parameters = stream.parameters
            tracks.append([
                parameters.codecName, "\(parameters.profileName ?? "")", "\(parameters.level ?? 0)",
                "\(parameters.width)x\(parameters.height)", "\(parameters.pixelFormat)",
                "\(parameters.sampleAspectRatio)", "\(parameters.color)",
                "\(parameters.isInterlaced as Bool?)",
                "\(parameters.reorderDelay)", "\(parameters.bitRate)", "\(stream.startTime as Int64?)",
                "\(stream.duration as Int64?)", "\(stream.averageFrameRate as Rational?)",
                "\(stream.baseFrameRate as Rational?)",
            ])
        }
        return (tracks, found)
    }

    @Test(arguments: [
        [], ["-movflags", "frag_keyframe+empty_moov"], ["-bf", "4", "-b-pyramid", "2"],
        ["-vf", "crop=63:47"], ["-pix_fmt", "yuv422p"], ["-pix_fmt", "yuv420p10le"],
        ["-pix_fmt", "yuv422p10le"], ["-pix_fmt", "yuvj420p"], ["-pix_fmt", "yuvj422p"],
        ["-vf", "setsar=4/3"], ["-vf", "setsar=17/13"], ["-bf", "0"], ["-flags", "+ilme+ildct"],
        ["-vf", "crop=64:44", "-flags", "+ilme+ildct"], ["-profile:v", "baseline"],
        ["-x264-params", "nal-hrd=vbr:vbv-maxrate=500:vbv-bufsize=500"],
        ["-x264-params", "overscan=show:videoformat=ntsc:chromaloc=2"],
        [
            "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
            "-color_range",
            "tv",
        ],
        ["-color_primaries", "smpte170m", "-color_range", "pc"],
    ])
    func headersMatchDecodedFrames(_ options: [String]) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p"] + options
                + ["-c:v", "libx264", path])
        let decoded = try Self.inspect(path)
        let parsed = try Self.inspect(path, read: Self.read)
        #expect(parsed.headers.count == 1)
        #expect(parsed.tracks == decoded.tracks)
    }

    /// For chroma formats other than 4:2:0 and 4:2:2, the decoder is used.
    @Test(arguments: [["-pix_fmt", "yuv444p"], ["-pix_fmt", "gray"]])
    func otherChromaFormatsAreDecoded(_ options: [String]) throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1"] + options
                + ["-c:v", "libx264", path])
        let parsed = try Self.inspect(path, read: Self.read)
        #expect(parsed.headers.isEmpty)
        #expect(parsed.tracks == (try Self.inspect(path)).tracks)
    }

    /// The size in the headers overrides a wrong one in the container.
    @Test func sizeInHeadersOverridesTheContainers() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p", path)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        // The sample entry is the last match; a brand before it has the same name.
        let entry = try #require(bytes.indices.last { bytes[$0...].starts(with: "avc1".utf8) })
        // Width and height of the visual sample entry.
        #expect(bytes[entry + 29] == 64 && bytes[entry + 31] == 48)
        bytes[entry + 29] = 32
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("b.mp4")))
        let parsed = try Self.inspect(scratch.file("b.mp4"), read: Self.read)
        #expect(parsed.headers.count == 1)
        #expect(parsed.tracks[0].contains("64x48") && parsed.tracks[0].contains("yuv420p"))
    }

    /// The decoder is used if the first packet differs from the headers: by different parameter sets, an SEI message
    /// about color, or unreadable bytes.
    @Test(arguments: [
        ["filter_units=remove_types=6", "h264_metadata=transfer_characteristics=16"], ["sei"], ["noise"],
    ])
    func differingFirstPacketsAreDecoded(_ kind: [String]) throws {
        let scratch = try Scratch()
        let (path, other) = (scratch.file("a.mp4"), scratch.file("b.mp4"))
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p", path)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: "mdat".utf8) }) + 4
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        // x264 writes its name to an SEI message of about 700 bytes before the first frame, which is replaced.
        try #require(bytes[start + 4] == 6 && length > 200)
        func put(_ units: [UInt8]...) {
            var all: [UInt8] = []
            for unit in units { all += [0, 0, 0, UInt8(unit.count)] + unit }
            let rest = length - all.count
            all += [0, 0, UInt8(rest >> 8), UInt8(rest & 0xff), 12]
            all += [UInt8](repeating: 0xff, count: rest - 2) + [0x80]
            bytes.replaceSubrange(start..<start + 4 + length, with: all)
        }
        switch kind[0] {
        case "sei": put([6, 147, 1, 16, 0x80])
        case "noise": for index in start..<start + length + 40 { bytes[index] ^= UInt8(index & 0x7f) | 0x81 }
        default:
            // Parameter sets with the same ids, but another color description.
            try ffmpeg("-i", path, "-c", "copy", "-bsf:v", kind.joined(separator: ","), other)
            let changed = [UInt8](try Data(contentsOf: URL(fileURLWithPath: other)))
            var offset = try #require(changed.indices.last { changed[$0...].starts(with: "avcC".utf8) }) + 10
            func set() -> [UInt8] {
                let end = offset + 2 + Int(changed[offset]) << 8 + Int(changed[offset + 1])
                defer { offset = end + 1 }
                return Array(changed[offset + 2..<end])
            }
            put(set(), set())
        }
        try Data(bytes).write(to: URL(fileURLWithPath: other))
        let parsed = try Self.inspect(other, read: Self.read)
        #expect(parsed.headers.isEmpty)
        #expect(parsed.tracks == (try Self.inspect(other)).tracks)
        #expect(parsed.tracks[0][6].contains("smpte2084") == (kind != ["noise"]))
    }

    /// In joined files, the first headers of the file may not apply to the first frame.
    @Test func headersOfAnotherSampleEntryAreNotUsed() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-pix_fmt", "yuv420p", path)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        func put(_ value: Int, _ at: Int) {
            for index in 0..<4 { bytes[at + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
        }
        // Adds a second sample entry with another compressor name, and its chunks.
        func offset(_ type: String) throws -> Int {
            try #require(bytes.indices.last { bytes[$0...].starts(with: type.utf8) }) - 4
        }
        let table = try offset("stsd")
        let size = number(table + 16)
        let entry = table + 16..<table + 16 + size
        var second = Array(bytes[entry])
        second[60] ^= 1
        bytes.insert(contentsOf: second, at: entry.upperBound)
        for type in ["stsd", "stbl", "minf", "mdia", "trak", "moov"] {
            let at = try offset(type)
            put(number(at) + size, at)
        }
        put(2, table + 12)
        for (file, kind) in [("one", 1), ("two", 2)] {
            let chunks = try offset("stsc")
            for index in 0..<number(chunks + 12) { put(kind, chunks + 24 + 12 * index) }
            try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(file)))
            let contents = try Asset(.file(scratch.file(file))).loadSynchronously()
            #expect(contents.tracks[0].changesHeaders == (kind == 2))
            let parsed = try Self.inspect(scratch.file(file), read: Self.read)
            #expect(parsed.headers.isEmpty == (kind == 2))
        }
    }

    @Test(.enabled(if: TestPaths.media != nil))
    func headersOfRealFilesMatchDecodedFrames() throws {
        let media = try #require(TestPaths.media)
        var count = 0
        for name in TestPaths.mediaFiles where name.hasSuffix(".mp4") || name.hasSuffix(".mov") {
            guard let decoded = try? Self.inspect(media + "/" + name) else { continue }
            let parsed = try Self.inspect(media + "/" + name, read: Self.read)
            #expect(parsed.tracks == decoded.tracks, "\(name)")
            count += parsed.headers.count
        }
        #expect(count > 10)
    }
}
