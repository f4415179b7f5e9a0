import Foundation
import LibAV
@testable import Media
import TestSupport
import Testing

/// Tests the parsing and probing of JPEG and PNG files that are used as covers.
@Suite struct ImageFileStructureTests {
    private func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> (24 - 8 * $0)) }
        return length + Array(type.utf8) + data + [0, 0, 0, 0]
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    private var png: [UInt8] {
        Self.signature + chunk("IHDR", [0, 0, 1, 0, 0, 0, 0, 3, 8, 2, 0, 0, 0])
            + chunk("tEXt", Array("IEND".utf8)) + chunk("IDAT", [1, 2, 3]) + chunk("IEND", [])
    }

    /// A JPEG with a thumbnail in its Exif data, and with an escaped byte and a restart marker in its scan.
    private var jpeg: [UInt8] {
        let thumbnail: [UInt8] = [0xff, 0xd8, 0xff, 0xd9]
        let exif: [UInt8] = [0xff, 0xe1, 0, UInt8(2 + thumbnail.count)] + thumbnail
        let frame: [UInt8] = [0xff, 0xc2, 0, 11, 8, 1, 2, 3, 4, 1, 1, 0x11, 0]
        let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x55, 0xff, 0x00, 0xff, 0xd3, 0xaa]
        return [0xff, 0xd8] + exif + frame + scan + [0xff, 0xd9]
    }

    private func problem(_ bytes: [UInt8]) -> ImageFileStructure.Problem? {
        do throws(ImageFileStructure.Problem) {
            _ = try ImageFileStructure(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test func sizesAreRead() throws {
        let (png, jpeg) = (try ImageFileStructure(png), try ImageFileStructure(jpeg))
        #expect((png.codec, png.width, png.height) == ("png", 256, 3))
        #expect((jpeg.codec, jpeg.width, jpeg.height) == ("mjpeg", 772, 258))
    }

    /// Data after the end of an image, such as videos that phones append to JPEGs, is ignored.
    @Test func dataAfterTheEndIsIgnored() {
        #expect(problem(jpeg + jpeg.dropLast(5)) == nil && problem(png + [0]) == nil)
    }

    /// The cost of decoding is bounded: text of a PNG can inflate to gigabytes, and each of a JPEG's scans requires a
    /// pass over the image.
    @Test func decodingCostsAreBounded() throws {
        let image = try ImageFileStructure(png).image(in: png)
        #expect(image.count == png.count - 16 && !image.contains(UInt8(ascii: "x")))
        let scan: [UInt8] = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]
        let scans = Array(repeatElement(scan, count: 300).joined())
        guard case .damaged? = problem(jpeg.dropLast(2) + scans + [0xff, 0xd9]) else {
            Issue.record("300 scans are accepted")
            return
        }
    }

    @Test func everyPrefixOfAFileIsTruncated() {
        for file in [png, jpeg] {
            for count in 8..<file.count {
                #expect(problem(Array(file.prefix(count))) == .truncated, "\(count)")
            }
        }
    }

    @Test(arguments: [
        ("GIF89a", "GIF"), ("RIFF    WEBPVP8 ", "WebP"), ("BM      ", "BMP"), ("II*\0    ", "TIFF"),
        ("    ftypavif", "AVIF"), ("    ftypheic", "HEIF"), ("<svg xmlns=", "SVG or other XML"),
        ("%PDF-1.7", "PDF"),
    ])
    func otherFormatsAreNamed(_ text: String, _ name: String) {
        #expect(problem(Array(text.utf8)) == .otherFormat(name))
    }

    @Test func unknownBytesHaveNoFormatName() {
        for text in ["", "\u{7f}", "hello, world", "ftyp", "    ftypisom"] {
            #expect(problem(Array(text.utf8)) == .otherFormat(nil))
        }
    }

    @Test func structuresWithoutAnImageAreDamaged() {
        let header = chunk("IHDR", [0, 0, 1, 0, 0, 0, 0, 3, 8, 2, 0, 0, 0])
        let empty = chunk("IHDR", [0, 0, 0, 0, 0, 0, 0, 3, 8, 2, 0, 0, 0])
        for bytes in [
            Self.signature + header + chunk("IEND", []), Self.signature + chunk("IDAT", [1]) + header,
            Self.signature + chunk("IHDR", [1]), Self.signature + empty + chunk("IDAT", [1]),
            Self.signature + header + [0xff, 0xff, 0xff, 0xff] + Array("IDAT".utf8) + [0, 0, 0, 0],
            [0xff, 0xd8, 0xff, 0xd9], [0xff, 0xd8, 0xff, 0xda, 0, 0], [0xff, 0xd8, 0xff, 0xc0, 0, 4, 8, 0],
            [0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xd9],
        ] {
            guard case .damaged? = problem(bytes) else {
                Issue.record("\(bytes): \(String(describing: problem(bytes)))")
                continue
            }
        }
    }

    /// Random changes of valid files result in a value or an error, never in a trap.
    @Test func randomChangesDontTrap() {
        var random = SeededGenerator(17)
        for file in [png, jpeg] {
            for _ in 0..<20_000 {
                var bytes = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                        [0, 0x7f, 0x80, 0xff, 0xd9, .random(in: 0...255, using: &random)].randomElement(
                            using: &random) ?? 0
                }
                if let structure = try? ImageFileStructure(bytes) {
                    #expect(structure.width > 0 && structure.height > 0)
                }
            }
        }
    }

    /// Real files are probed with their pixel format and digest; a damaged one is rejected.
    @Test(arguments: [("mjpeg", "yuvj444p"), ("png", "rgb24")])
    func filesAreProbed(_ codec: String, _ format: String) throws {
        let scratch = try Scratch()
        let path = scratch.file("art.\(codec == "png" ? "png" : "jpg")")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc=size=60x40:rate=1", "-frames:v", "1", "-pix_fmt", format, path)
        let image = try CoverImage.probe(path: path, environment: SourceEnvironment())
        #expect((image.codec, image.width, image.height) == (codec, 60, 40))
        #expect("\(image.pixelFormat)" == format && image.isValid)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(image.size == Int64(bytes.count))
        #expect(SHA256Hasher.digest(ofFile: path, in: SourceEnvironment()) == image.digest)
        #expect(try image.read(path: path, environment: SourceEnvironment()) == Array(bytes))
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(throws: FileProblem.self) { try image.read(path: path, environment: SourceEnvironment()) }
        // PNG has checksums, so damage is detected.
        if codec == "png" {
            #expect(throws: FileProblem.self) {
                try CoverImage.probe(path: path, environment: SourceEnvironment())
            }
        }
    }

    /// Limits on the file's bytes and on the image's pixels apply before decoding.
    @Test func enormousFilesAreRefused() throws {
        let scratch = try Scratch()
        let big = scratch.file("big.png")
        try Data(png + [UInt8](repeating: 0, count: Int(CoverImage.maxBytes))).write(
            to: URL(fileURLWithPath: big))
        let wide = scratch.file("wide.png")
        try Data(
            Self.signature + chunk("IHDR", [0, 0, 0x40, 0, 0, 0, 0x40, 0, 8, 2, 0, 0, 0])
                + chunk("IDAT", [1]) + chunk("IEND", [])
        ).write(to: URL(fileURLWithPath: wide))
        for (path, words) in [(big, "16000000"), (wide, "16384x16384 pixels")] {
            let problem = #expect(throws: FileProblem.self) {
                try CoverImage.probe(path: path, environment: SourceEnvironment())
            }
            #expect(problem?.description.contains(words) == true, "\(String(describing: problem))")
        }
    }
}
