/// A PGS stream (`.sup`) of rectangles in one color, which no encoder of ffmpeg can create.
public struct PresentationGraphics {
    /// The bytes of the stream.
    public private(set) var bytes: [UInt8] = []
    private let width: Int
    private let height: Int
    private var count: UInt8 = 0

    /// Creates a stream for a canvas.
    public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

    private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }

    private mutating func segment(_ type: UInt8, _ body: [UInt8], at seconds: Double) {
        let time = Int((seconds * 90_000).rounded())
        bytes += [0x50, 0x47] + Self.word(time >> 16) + Self.word(time & 0xffff) + [0, 0, 0, 0, type]
        bytes += Self.word(body.count) + body
    }

    private mutating func composition(_ objects: [UInt8], at seconds: Double) {
        segment(
            0x16,
            Self.word(width) + Self.word(height) + [0x10, 0, count, 0x80, 0, 0]
                + [objects.isEmpty ? 0 : 1] + objects, at: seconds)
        count &+= 1
    }

    /// Shows an opaque gray rectangle from a time on. `luma` is from 16 to 235. The pixels of the last `missingLines` lines
    /// are missing.
    public mutating func show(
        x: Int, y: Int, width: Int, height: Int, luma: UInt8, at seconds: Double, missingLines: Int = 0
    ) {
        composition([0, 0, 0, 0] + Self.word(x) + Self.word(y), at: seconds)
        segment(
            0x17, [1, 0] + [x, y, width, height].flatMap(Self.word), at: seconds)
        segment(0x14, [0, 0, 1, luma, 128, 128, 255], at: seconds)
        // A run of up to 16,383 pixels of color 1, and the end of the line.
        let line = [0, 0xc0 | UInt8(width >> 8), UInt8(width & 0xff), 1, 0, 0]
        let data = [[UInt8]](repeating: line, count: height - missingLines).flatMap { $0 }
        let length = data.count + 4
        segment(
            0x15,
            [0, 0, 0, 0xc0, UInt8(length >> 16)] + Self.word(length & 0xffff) + Self.word(width)
                + Self.word(height) + data, at: seconds)
        segment(0x80, [], at: seconds)
    }

    /// Shows nothing from a time on.
    public mutating func clear(at seconds: Double) {
        composition([], at: seconds)
        segment(0x80, [], at: seconds)
    }
}
