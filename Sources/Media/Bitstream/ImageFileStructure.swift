/// The structure of a JPEG (ISO/IEC 10918-1) or PNG (ISO/IEC 15948) file: the size of its image, and whether the file
/// is complete. Only markers and chunk headers are parsed, in time proportional to the file's size.
struct ImageFileStructure: Hashable {
    /// Codec of the image, by libavcodec's name.
    let codec: String
    let width: Int
    let height: Int
    /// Byte ranges of the PNG chunks that decoding requires; empty for a JPEG file, which is decoded as a whole.
    private let sections: [Range<Int>]

    /// Chunks that decoding requires. Others, such as compressed text, can inflate to gigabytes.
    private static let decodedChunks = Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"].map { Array($0.utf8) })
    /// Maximum number of scans. Each costs a pass over the image, and a file of the maximum size can have 300,000.
    private static let maxScans = 256

    /// Returns the data to decode: the file without chunks that decoding doesn't require.
    func image(in bytes: [UInt8]) -> [UInt8] {
        sections.isEmpty ? bytes : sections.reduce(into: []) { $0 += bytes[$1] }
    }

    /// The reason why a file is rejected.
    enum Problem: Error, Hashable, CustomStringConvertible {
        /// An unsupported format, with its name if it is recognized.
        case otherFormat(String?)
        /// A file whose end is missing.
        case truncated
        /// A file with an invalid structure, described by the string.
        case damaged(String)

        var description: String {
            switch self {
            case .otherFormat(let name?): "it is \(name); expected JPEG or PNG"
            case .otherFormat(nil): "unsupported format; expected JPEG or PNG"
            case .truncated: "it is truncated: the end of the image is missing"
            case .damaged(let detail): "it is damaged: \(detail)"
            }
        }
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Parses the structure of a JPEG or PNG file.
    init(_ bytes: [UInt8]) throws(Problem) {
        if bytes.starts(with: Self.signature) {
            codec = "png"
            (width, height, sections) = try Self.parsePNG(bytes)
        } else if bytes.starts(with: [0xff, 0xd8]) {
            codec = "mjpeg"
            (width, height) = try Self.parseJPEG(bytes)
            sections = []
        } else {
            throw .otherFormat(Self.otherFormat(bytes))
        }
        guard width > 0, height > 0 else { throw .damaged("its width or height is 0") }
    }

    private static func parsePNG(
        _ bytes: [UInt8]
    ) throws(Problem) -> (width: Int, height: Int, sections: [Range<Int>]) {
        func number(_ at: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(bytes[at + $1]) } }
        var (at, size) = (signature.count, (width: 0, height: 0))
        var hasData = false
        var sections = [0..<signature.count]
        while bytes.count - at >= 12 {
            let (length, type) = (number(at), Array(bytes[at + 4..<at + 8]))
            guard length <= Int(Int32.max) else { throw .damaged("a chunk has an invalid length") }
            guard bytes.count - at - 12 >= length else { throw .truncated }
            if decodedChunks.contains(type) { sections.append(at..<at + 12 + length) }
            switch type {
            case Array("IHDR".utf8):
                guard at == signature.count, length == 13 else { throw .damaged("its header is invalid") }
                size = (number(at + 8), number(at + 12))
            case Array("IDAT".utf8): hasData = true
            case Array("IEND".utf8):
                guard hasData else { throw .damaged("it has no image data") }
                return (size.width, size.height, sections)
            default: break
            }
            guard at > signature.count || size.width > 0 else { throw .damaged("its header is missing") }
            at += 12 + length
        }
        throw .truncated
    }

    private static func parseJPEG(_ bytes: [UInt8]) throws(Problem) -> (width: Int, height: Int) {
        var (at, size, scans) = (2, (width: 0, height: 0), 0)
        // Entropy-coded data have no length: they end at the next marker. An escaped 0xFF is followed by 0.
        while at + 1 < bytes.count {
            guard bytes[at] == 0xff, bytes[at + 1] != 0, bytes[at + 1] != 0xff else {
                at += 1
                continue
            }
            let marker = bytes[at + 1]
            at += 2
            switch marker {
            case 0xd9:
                guard scans > 0, size.width > 0 else { throw .damaged("it has no image data") }
                return size
            // TEM and RSTn have no length.
            case 0x01, 0xd0...0xd7: continue
            // SOI: another image begins before the end of this one.
            case 0xd8: throw .truncated
            default: break
            }
            guard bytes.count - at >= 2 else { throw .truncated }
            let length = Int(bytes[at]) << 8 | Int(bytes[at + 1])
            guard length >= 2 else { throw .damaged("a segment has an invalid length") }
            guard bytes.count - at >= length else { throw .truncated }
            switch marker {
            case 0xda:
                scans += 1
                guard scans <= maxScans else { throw .damaged("it has more than \(maxScans) scans") }
            case 0xc9...0xcb, 0xcd...0xcf, 0xf7:
                throw .otherFormat("arithmetic-coded or JPEG-LS")
            // SOFn, but not DHT, JPG and DAC.
            case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
                guard length >= 8 else { throw .damaged("its frame header is invalid") }
                size = (
                    Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]), Int(bytes[at + 3]) << 8 | Int(bytes[at + 4])
                )
            default: break
            }
            at += length
        }
        throw .truncated
    }

    /// Returns the name of a common image format that isn't supported for covers; nil if the format isn't recognized.
    private static func otherFormat(_ bytes: [UInt8]) -> String? {
        func has(_ text: String, at offset: Int = 0) -> Bool {
            bytes.dropFirst(offset).starts(with: text.utf8)
        }
        if has("GIF8") { return "GIF" }
        if has("RIFF"), has("WEBP", at: 8) { return "WebP" }
        if has("BM") { return "BMP" }
        if has("II*\0") || has("MM\0*") { return "TIFF" }
        if has("ftyp", at: 4) {
            return has("avi", at: 8) ? "AVIF" : has("hei", at: 8) || has("mif", at: 8) ? "HEIF" : nil
        }
        return has("<svg") || has("<?xml") ? "SVG or other XML" : has("%PDF") ? "PDF" : nil
    }
}
