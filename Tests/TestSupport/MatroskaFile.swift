/// A generator of Matroska files with mono audio at 8 kHz and any number of tags and chapters, for which libavformat's
/// muxer takes quadratic time.
public struct MatroskaFile {
    /// A chapter: times in nanoseconds, and the title.
    public typealias Chapter = (start: Int, end: Int, title: String?)

    /// Duration in seconds; 1 by default.
    public var seconds = 1
    /// Names of the tags, each of which has the value `v`.
    public var tags: [String] = []
    /// Chapters, in file order.
    public var chapters: [Chapter] = []

    /// Creates a generator for one second of audio, without tags and chapters.
    public init() {}

    private static func number(_ value: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(value).bigEndian) { Array($0) }
    }

    private static func element(_ id: [UInt8], _ body: [UInt8]) -> [UInt8] {
        id + number(body.count | 1 << 56) + body
    }

    private var chapterAtoms: [UInt8] {
        var bytes: [UInt8] = []
        for (index, chapter) in chapters.enumerated() {
            var atom = Self.element([0x73, 0xC4], Self.number(index + 1))
            atom += Self.element([0x91], Self.number(chapter.start))
            atom += Self.element([0x92], Self.number(chapter.end))
            if let title = chapter.title {
                let language = Self.element([0x43, 0x7C], Array("und".utf8))
                atom += Self.element([0x80], Self.element([0x85], Array(title.utf8)) + language)
            }
            bytes += Self.element([0xB6], atom)
        }
        return bytes
    }

    /// Contents of the file.
    public var bytes: [UInt8] {
        let audio =
            Self.element([0xB5], Self.number(Int(8000.0.bitPattern)))
            + Self.element([0x9F], [1]) + Self.element([0x62, 0x64], [16])
        var track = Self.element([0xD7], [1]) + Self.element([0x73, 0xC5], [1]) + Self.element([0x83], [2])
        track += Self.element([0x86], Array("A_PCM/INT/LIT".utf8)) + Self.element([0xE1], audio)
        let length = Self.number(Int((Double(seconds) * 1000).bitPattern))
        var segment = Self.element(
            [0x15, 0x49, 0xA9, 0x66],
            Self.element([0x2A, 0xD7, 0xB1], [0x0F, 0x42, 0x40]) + Self.element([0x44, 0x89], length))
        segment += Self.element([0x16, 0x54, 0xAE, 0x6B], Self.element([0xAE], track))
        if !chapters.isEmpty {
            segment += Self.element([0x10, 0x43, 0xA7, 0x70], Self.element([0x45, 0xB9], chapterAtoms))
        }
        if !tags.isEmpty {
            var tag = Self.element([0x63, 0xC0], [])
            for name in tags {
                tag += Self.element(
                    [0x67, 0xC8],
                    Self.element([0x45, 0xA3], Array(name.utf8)) + Self.element([0x44, 0x87], [0x76]))
            }
            segment += Self.element([0x12, 0x54, 0xC3, 0x67], Self.element([0x73, 0x73], tag))
        }
        for second in 0..<seconds {
            let block = [0x81, 0, 0, 0x80] + [UInt8](repeating: 0, count: 16_000)
            segment += Self.element(
                [0x1F, 0x43, 0xB6, 0x75],
                Self.element([0xE7], Self.number(second * 1000)) + Self.element([0xA3], block))
        }
        let head = Self.element(
            [0x1A, 0x45, 0xDF, 0xA3], Self.element([0x42, 0x82], Array("matroska".utf8)))
        return head + Self.element([0x18, 0x53, 0x80, 0x67], segment)
    }
}
