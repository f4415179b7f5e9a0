/// State of a PGS (Blu-ray) subtitle stream, from which a self-contained display set can be created.
///
/// An update changes a palette or the composition, and uses windows, palettes and objects of earlier sets.
struct PGSDisplay: DisplaySets {
    private var composition: [UInt8] = []
    private var windows: [UInt8] = []
    /// Entries by number, for each palette by number.
    private var palettes: [UInt8: [UInt8: ArraySlice<UInt8>]] = [:]
    /// The segments of each object, in order.
    private var objects: [UInt16: [[UInt8]]] = [:]
    private var size = 0
    private var isReadable = true
    private(set) var hasBegun = false

    private enum Segment {
        static let palette: UInt8 = 0x14
        static let object: UInt8 = 0x15
        static let composition: UInt8 = 0x16
        static let windows: UInt8 = 0x17
        static let end: UInt8 = 0x80
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        for (type, range) in Self.segments(in: bytes) where isReadable {
            guard range.upperBound <= bytes.count else {
                isReadable = false
                return
            }
            take(type, Array(bytes[range]))
        }
    }

    /// Returns the types of the segments of a packet with the ranges of their payloads, of which the last may exceed it.
    private static func segments(in bytes: UnsafeRawBufferPointer) -> [(type: UInt8, range: Range<Int>)] {
        var (segments, at) = ([(type: UInt8, range: Range<Int>)](), 0)
        while at + 3 <= bytes.count {
            let end = at + 3 + (Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]))
            segments.append((bytes[at], at + 3..<end))
            at = end
        }
        return segments
    }

    /// Returns whether a packet ends a display set.
    static func endsSet(_ bytes: UnsafeRawBufferPointer) -> Bool {
        segments(in: bytes).last?.type == Segment.end
    }

    private mutating func take(_ type: UInt8, _ payload: [UInt8]) {
        size += payload.count
        switch type {
        case Segment.composition where payload.count >= 11:
            if payload[7] != 0 {
                hasBegun = true
                (windows, palettes, objects, size) = ([], [:], [:], payload.count)
            }
            composition = payload
        case Segment.windows: windows = payload
        case Segment.palette where payload.count >= 2:
            for at in stride(from: 2, to: payload.count - 4, by: 5) {
                palettes[payload[0], default: [:]][payload[at]] = payload[at + 1..<at + 5]
            }
        case Segment.object where payload.count >= 4:
            let number = UInt16(payload[0]) << 8 | UInt16(payload[1])
            if payload[3] & 0x80 != 0 { objects[number] = [] }
            objects[number, default: []].append(payload)
        case Segment.end: break
        default: isReadable = false
        }
        if size > DisplaySetLimit.bytes { isReadable = false }
    }

    var isUpdate: Bool { isReadable && hasBegun && composition.count >= 11 && composition[7] == 0 }

    var wholeSet: [UInt8] {
        var result: [UInt8] = []
        func add(_ type: UInt8, _ payload: [UInt8]) {
            result += [type, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)] + payload
        }
        var start = composition
        // Composition state 0x80 (epoch start), palette update flag 0.
        (start[7], start[8]) = (0x80, 0)
        add(Segment.composition, start)
        if !windows.isEmpty { add(Segment.windows, windows) }
        for (number, entries) in palettes.sorted(by: { $0.key < $1.key }) {
            add(
                Segment.palette,
                [number, 0] + entries.sorted { $0.key < $1.key }.flatMap { [$0.key] + $0.value })
        }
        for (_, segments) in objects.sorted(by: { $0.key < $1.key }) {
            for segment in segments { add(Segment.object, segment) }
        }
        add(Segment.end, [])
        return result
    }
}
