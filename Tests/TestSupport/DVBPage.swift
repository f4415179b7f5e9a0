/// The segments of a page (ETSI EN 300 743): a region with 8 bits per pixel that contains a bar of 40 × 10 pixels.
/// The region is wider than the bar, because ffmpeg parses the end of a full line incorrectly.
public struct DVBPage {
    /// The segments.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty page, which is shown for at most that number of seconds.
    public init(timeout: UInt8 = 20) { self.timeout = timeout }

    private let timeout: UInt8

    private mutating func segment(_ type: UInt8, _ body: [UInt8]) {
        bytes += [0x0f, type, 0, 1, UInt8(body.count >> 8), UInt8(body.count & 0xff)] + body
    }

    /// Adds the composition: `state` is 0 for an update and 2 for a new page, `position` that of the region; nil for none.
    public mutating func composition(_ version: UInt8, state: UInt8, at position: UInt8?) {
        let region: [UInt8] = position.map { [0, 0xff, 0, $0, 0, $0] } ?? []
        segment(0x10, [timeout, version << 4 | state << 2 | 3] + region)
    }

    /// Adds the region.
    public mutating func region() {
        segment(0x11, [0, 0x0f, 0, 48, 0, 10, 0x6f, 0, 0, 3, 0, 0, 0, 0, 0xf0, 0])
    }

    /// Adds the palette.
    public mutating func colors(_ version: UInt8, _ luma: UInt8) {
        segment(0x12, [0, version << 4 | 0xf, 1, 0x3f, luma, 128, 128, 0, 2, 0x3f, 60, 90, 200, 0])
    }

    /// Adds the pixels.
    public mutating func object() {
        let line =
            [0x12] + [UInt8](repeating: 1, count: 20) + [UInt8](repeating: 2, count: 20) + [0, 0, 0xf0]
        let field = [UInt8]((0..<5).flatMap { _ in line })
        let length = [UInt8(field.count >> 8), UInt8(field.count & 0xff)]
        segment(0x13, [0, 0, 0x01] + length + length + field + field)
    }

    /// Adds the end of the page.
    public mutating func end() { segment(0x80, []) }

    /// Returns a page with a bar at a position, both across and down.
    public static func bar(at position: UInt8, timeout: UInt8) -> [UInt8] {
        var page = DVBPage(timeout: timeout)
        page.composition(0, state: 2, at: position)
        page.region()
        page.colors(0, 200)
        page.object()
        page.end()
        return page.bytes
    }
}
