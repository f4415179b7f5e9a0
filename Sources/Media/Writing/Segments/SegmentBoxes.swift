internal import LibAV

/// The boxes of a segment that libavformat wrote, which are read and corrected in place.
enum SegmentBoxes {
    /// A box: its type, and the range of its contents.
    private struct Box {
        let type: UInt32
        let body: Range<Int>
    }

    /// Location of a track's first sample in a segment.
    struct FirstSample {
        var offset: Int
        var length: Int
    }

    private static func type(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    private static func u32(_ bytes: UnsafeMutableRawBufferPointer, _ at: Int) -> UInt32 {
        guard at >= 0, at + 4 <= bytes.count else { return 0 }
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
    }

    private static func boxes(_ bytes: UnsafeMutableRawBufferPointer, in range: Range<Int>) -> [Box] {
        var (at, found) = (range.lowerBound, [Box]())
        while at + 8 <= range.upperBound {
            var (size, head) = (Int(u32(bytes, at)), 8)
            if size == 1 {
                let long = UInt64(u32(bytes, at + 8)) << 32 | UInt64(u32(bytes, at + 12))
                (size, head) = (Int(clamping: long), 16)
            }
            guard size >= head, size <= range.upperBound - at else { break }
            found.append(Box(type: u32(bytes, at + 4), body: (at + head)..<(at + size)))
            at += size
        }
        return found
    }

    /// Returns the size of the headers before the first movie fragment.
    static func headerSize(of bytes: UnsafeMutableRawBufferPointer) -> Int {
        var end = 0
        for box in boxes(bytes, in: 0..<bytes.count) {
            if box.type == type("moof") { break }
            end = box.body.upperBound
        }
        return end
    }

    /// Returns a `styp` box with brands of four characters, the major brand first.
    static func segmentType(_ brands: [String]) -> [UInt8] {
        let size = UInt8(16 + 4 * brands.count)
        return [0, 0, 0, size] + Array("styp".utf8) + Array(brands[0].utf8) + [0, 0, 0, 0]
            + brands.flatMap { Array($0.utf8) }
    }

    /// Replaces the edit lists of headers that begin with an empty edit by those without it, in place, and returns the
    /// durations of these edits in ticks of the track, by track id. CMAF has no empty edits, and browsers ignore such lists
    /// (ISO/IEC 23000-19, 7.5.13): decoding times must contain the gap instead.
    static func removeEmptyEdits(_ bytes: UnsafeMutableRawBufferPointer) -> [Int: Int64] {
        var gaps: [Int: Int64] = [:]
        for movie in boxes(bytes, in: 0..<bytes.count) where movie.type == type("moov") {
            let children = boxes(bytes, in: movie.body)
            guard let header = children.first(where: { $0.type == type("mvhd") }) else { continue }
            let movieScale = timescale(bytes, header)
            for track in children where track.type == type("trak") {
                let parts = boxes(bytes, in: track.body)
                guard let trackHeader = parts.first(where: { $0.type == type("tkhd") }),
                    let media = parts.first(where: { $0.type == type("mdia") }),
                    let mediaHeader = boxes(bytes, in: media.body).first(where: { $0.type == type("mdhd") }),
                    let edits = parts.first(where: { $0.type == type("edts") }),
                    let list = boxes(bytes, in: edits.body).first(where: { $0.type == type("elst") }),
                    let empty = removeEmptyEdit(bytes, list)
                else { continue }
                // The id follows the creation and modification times.
                let at = trackHeader.body.lowerBound
                let id = Int(u32(bytes, at + (u32(bytes, at) >> 24 == 1 ? 20 : 12)))
                let gap = MediaTime(value: empty, timescale: movieScale)
                gaps[id] = gap.ticks(in: Rational(1, timescale(bytes, mediaHeader)))
            }
        }
        return gaps
    }

    /// Returns the timescale of a movie or media header.
    private static func timescale(_ bytes: UnsafeMutableRawBufferPointer, _ header: Box) -> Int32 {
        let at = header.body.lowerBound
        return max(1, Int32(clamping: u32(bytes, at + (u32(bytes, at) >> 24 == 1 ? 20 : 12))))
    }

    /// Removes the empty edit from a list of two edits, and fills the space with a `free` box. Returns the edit's duration
    /// in ticks of the movie; nil for other lists.
    private static func removeEmptyEdit(_ bytes: UnsafeMutableRawBufferPointer, _ list: Box) -> Int64? {
        let at = list.body.lowerBound
        let isLong = u32(bytes, at) >> 24 == 1
        let size = isLong ? 20 : 12
        let first = at + 8
        guard u32(bytes, at + 4) == 2, list.body.count == 8 + 2 * size else { return nil }
        let time = first + (isLong ? 8 : 4)
        // A media time of -1.
        guard u32(bytes, time) == .max, !isLong || u32(bytes, time + 4) == .max else { return nil }
        let duration =
            isLong
            ? Int64(clamping: UInt64(u32(bytes, first)) << 32 | UInt64(u32(bytes, first + 4)))
            : Int64(u32(bytes, first))
        for index in 0..<size { bytes[first + index] = bytes[first + size + index] }
        func put(_ value: UInt32, _ at: Int) {
            bytes.storeBytes(of: value.bigEndian, toByteOffset: at, as: UInt32.self)
        }
        put(1, at + 4)
        put(UInt32(8 + 8 + size), at - 8)
        put(UInt32(size), first + size)
        put(type("free"), first + size + 4)
        for index in 8..<size { bytes[first + size + index] = 0 }
        return duration
    }

    /// Moves the decoding time of each track (`tfdt`) by a number of ticks, and returns the location of each track's
    /// first sample by its track id.
    static func finish(
        _ bytes: UnsafeMutableRawBufferPointer, movingTimesBy offset: (_ trackID: Int) -> Int64
    ) -> [Int: FirstSample] {
        var found: [Int: FirstSample] = [:]
        for fragment in boxes(bytes, in: 0..<bytes.count) where fragment.type == type("moof") {
            // The base of data offsets is the first byte of the fragment (`default-base-is-moof`).
            let base = fragment.body.lowerBound - 8
            for track in boxes(bytes, in: fragment.body) where track.type == type("traf") {
                var (id, defaultSize) = (0, 0)
                for box in boxes(bytes, in: track.body) {
                    let at = box.body.lowerBound
                    switch box.type {
                    case type("tfhd"):
                        id = Int(u32(bytes, at + 4))
                        defaultSize = defaultSampleSize(bytes, at)
                    case type("tfdt"): move(bytes, at, by: offset(id))
                    case type("trun") where found[id] == nil:
                        found[id] = firstSample(bytes, at, base: base, defaultSize: defaultSize)
                    default: break
                    }
                }
            }
        }
        return found
    }

    private static func defaultSampleSize(_ bytes: UnsafeMutableRawBufferPointer, _ at: Int) -> Int {
        let flags = u32(bytes, at) & 0xff_ffff
        guard flags & 0x10 != 0 else { return 0 }
        let fields: [(flag: UInt32, size: Int)] = [(0x1, 8), (0x2, 4), (0x8, 4)]
        return Int(u32(bytes, at + 8 + fields.reduce(0) { $0 + (flags & $1.flag != 0 ? $1.size : 0) }))
    }

    private static func move(_ bytes: UnsafeMutableRawBufferPointer, _ at: Int, by offset: Int64) {
        guard offset != 0, at + 12 <= bytes.count else { return }
        // libavformat writes version 1, with 64 bits.
        guard u32(bytes, at) >> 24 == 1 else { return }
        let time = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: at + 4, as: Int64.self))
        bytes.storeBytes(of: (time &+ offset).bigEndian, toByteOffset: at + 4, as: Int64.self)
    }

    private static func firstSample(
        _ bytes: UnsafeMutableRawBufferPointer, _ at: Int, base: Int, defaultSize: Int
    ) -> FirstSample {
        let flags = u32(bytes, at) & 0xff_ffff
        var next = at + 8
        var offset = 0
        if flags & 0x1 != 0 {
            offset = Int(Int32(bitPattern: u32(bytes, next)))
            next += 4
        }
        if flags & 0x4 != 0 { next += 4 }
        if flags & 0x100 != 0 { next += 4 }
        return FirstSample(
            offset: base + offset, length: flags & 0x200 != 0 ? Int(u32(bytes, next)) : defaultSize)
    }
}
