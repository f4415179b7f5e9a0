/// State of a DVB subtitle page (ETSI EN 300 743), from which a self-contained display set can be created.
///
/// Regions keep their contents until an acquisition point, so the set repeats all segments since the last one in order.
struct DVBDisplay: DisplaySets {
    private var definition: [UInt8] = []
    /// The last page composition segment.
    private var composition: [UInt8] = []
    /// All region, CLUT and object segments since the last acquisition point or mode change.
    private var drawn: [UInt8] = []
    private(set) var hasBegun = false
    private var isReadable = true

    private enum Segment {
        static let sync: UInt8 = 0x0f
        static let composition: UInt8 = 0x10
        static let display: UInt8 = 0x14
        static let end: UInt8 = 0x80
        static let stuffing: UInt8 = 0xff
        static let headerLength = 6
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        var at = 0
        while isReadable, at + Segment.headerLength <= bytes.count, bytes[at] == Segment.sync {
            let length = Int(bytes[at + 4]) << 8 | Int(bytes[at + 5])
            let next = at + Segment.headerLength + length
            guard next <= bytes.count else {
                isReadable = false
                return
            }
            take(Array(bytes[at..<next]))
            at = next
        }
    }

    private mutating func take(_ segment: [UInt8]) {
        switch segment[1] {
        case Segment.composition where segment.count >= Segment.headerLength + 2:
            if Self.state(of: segment) != 0 {
                drawn = []
                hasBegun = true
            }
            composition = segment
        case Segment.display: definition = segment
        case Segment.end, Segment.stuffing: break
        default: drawn += segment
        }
        if drawn.count > DisplaySetLimit.bytes { isReadable = false }
    }

    /// Returns the page state: 0 for an update, 1 for an acquisition point, 2 for a mode change.
    private static func state(of composition: [UInt8]) -> UInt8 {
        composition[Segment.headerLength + 1] >> 2 & 3
    }

    var isUpdate: Bool { isReadable && hasBegun && !composition.isEmpty && Self.state(of: composition) == 0 }

    var wholeSet: [UInt8] {
        var page = composition
        page[Segment.headerLength + 1] = page[Segment.headerLength + 1] & 0xf3 | 2 << 2
        let end = [Segment.sync, Segment.end, page[2], page[3], 0, 0]
        return definition + page + drawn + end
    }
}
