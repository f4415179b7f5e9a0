internal import LibAV

/// Reader of boxes of mp4 and mov files that libavformat 5.1 doesn't report, such as edit lists and clean apertures.
/// All sizes and counts are limited, since the file is untrusted.
struct MovieInspector: Sendable {
    struct Track: Sendable {
        var id: UInt32 = 0
        var mediaTimescale: UInt32 = 0
        /// Edits: duration in the movie's time scale; media time in the track's time scale, -1 for an empty
        /// edit.
        var edits: [(duration: UInt64, mediaTime: Int64)] = []
        /// Offset of the edit list's entries in the file; their format depends on the version.
        var editListOffset: Int64?
        var editListVersion: UInt8 = 0
        var cleanAperture: CleanAperture?
        /// Offsets of the first sample entry's four-character code and of its HEVC configuration record in
        /// the file.
        var codecTagOffset: Int64?
        var hevcRecordOffset: Int64?
        /// Offset of the first sample entry's color box, and its size in bytes.
        var colorBox: (offset: Int64, size: Int)?
        /// Whether the first sample entry has the configuration of a second layer (`lhvC`): the second view
        /// of MV-HEVC.
        var hasSecondView = false
        /// Presented duration in the movie's time scale, as the track header declares it.
        var duration: HeaderDuration?
        /// Whether some samples have other headers than those of the first sample entry (`stsd`), the only
        /// ones that libavformat reports before it reads packets.
        var changesHeaders = false
        /// Whether samples have composition offsets (`ctts`).
        var hasCompositionOffsets = false
        /// Whether negative composition offsets exceed the shift of libavformat's decoding times, so that it
        /// reports packets with decoding times after their presentation times.
        var decodesLate = false
    }

    /// A duration in a header, and its location in the file.
    struct HeaderDuration: Sendable {
        var value: UInt64
        let offset: Int64
        /// Size of the field in bytes.
        let size: Int
    }

    var movieTimescale: UInt32 = 0
    var duration: HeaderDuration?
    var isFragmented = false
    var tracks: [Track] = []

    /// Maximum size of the movie box in bytes, larger than that of any real index. A larger box isn't read.
    private static let sizeLimit: Int64 = 256 << 20
    private static let entryLimit = 65_536

    /// Reads the boxes of a source; nil if it has no readable movie box.
    init?(_ source: any ByteSource) {
        var offset: Int64 = 0
        var boxes = 0
        while boxes < 100_000, let header = Self.header(source, at: offset) {
            boxes += 1
            if header.type == "moof" { isFragmented = true }
            if header.type == "moov" {
                let length = header.end - header.body
                guard length > 0, length <= Self.sizeLimit,
                    let bytes = source.bytes(at: header.body, Int(length))
                else { return nil }
                parseMovie(Box(bytes: bytes, range: 0..<bytes.count, fileOffset: header.body))
                if isFragmented { break }
                return
            }
            guard header.end > offset else { break }
            offset = header.end
        }
        if movieTimescale == 0 { return nil }
    }

    private static func header(_ source: any ByteSource, at offset: Int64) -> (
        type: String, body: Int64, end: Int64
    )? {
        guard let head = source.bytes(at: offset, 8) else { return nil }
        let box = Box(bytes: head, range: 0..<8, fileOffset: 0)
        guard let size = box.u32(0), let type = box.type(4) else { return nil }
        if size == 1 {
            guard let large = source.bytes(at: offset + 8, 8),
                let long = Box(bytes: large, range: 0..<8, fileOffset: 0).u64(0), long >= 16, long < 1 << 62
            else { return nil }
            return (type, offset + 16, offset.addingReportingOverflow(Int64(long)).partialValue)
        }
        if size == 0 { return (type, offset + 8, source.size) }
        return size < 8 ? nil : (type, offset + 8, offset + Int64(size))
    }

    private mutating func parseMovie(_ movie: Box) {
        for child in movie.children() {
            switch child.type {
            case "mvhd":
                movieTimescale = child.box.u32(child.box.u8(0) == 1 ? 20 : 12) ?? 0
                duration = Self.duration(in: child.box, at: child.box.u8(0) == 1 ? 24 : 16)
            case "mvex": isFragmented = true
            case "trak" where tracks.count < 1024: tracks.append(Self.parseTrack(child.box))
            default: break
            }
        }
    }

    private static func parseTrack(_ trak: Box) -> Track {
        var track = Track()
        for child in trak.children() {
            switch child.type {
            case "tkhd":
                track.id = child.box.u32(child.box.u8(0) == 1 ? 20 : 12) ?? 0
                track.duration = Self.duration(in: child.box, at: child.box.u8(0) == 1 ? 28 : 20)
            case "edts":
                for list in child.box.children() where list.type == "elst" {
                    parseEdits(list.box, into: &track)
                }
            case "mdia":
                for part in child.box.children() {
                    if part.type == "mdhd" {
                        track.mediaTimescale = part.box.u32(part.box.u8(0) == 1 ? 20 : 12) ?? 0
                    }
                    if part.type == "minf" {
                        for table in part.box.children() where table.type == "stbl" {
                            let entries = table.box.children()
                            for entry in entries where entry.type == "stsd" {
                                track.cleanAperture = parseSampleDescription(entry.box)
                                locateCodec(in: entry.box, of: &track)
                                track.changesHeaders = Self.changesHeaders(
                                    entry.box, chunks: entries.first { $0.type == "stsc" }?.box)
                            }
                            if let offsets = entries.first(where: { $0.type == "ctts" })?.box {
                                Self.parseOffsets(offsets, into: &track)
                            }
                        }
                    }
                }
            default: break
            }
        }
        return track
    }

    private static func duration(in header: Box, at position: Int) -> HeaderDuration? {
        let isLong = header.u8(0) == 1
        guard let value = isLong ? header.u64(position) : header.u32(position).map(UInt64.init) else {
            return nil
        }
        return HeaderDuration(value: value, offset: header.fileOffset(of: position), size: isLong ? 8 : 4)
    }

    private static func parseEdits(_ list: Box, into track: inout Track) {
        guard let version = list.u8(0), let count = list.u32(4) else { return }
        let size = version == 1 ? 20 : 12
        track.editListVersion = version
        track.editListOffset = list.fileOffset(of: 8)
        track.edits = []
        for i in 0..<min(Int(count), entryLimit) {
            let at = 8 + i * size
            if version == 1 {
                guard let duration = list.u64(at), let time = list.u64(at + 8) else { return }
                track.edits.append((duration, Int64(bitPattern: time)))
            } else {
                guard let duration = list.u32(at), let time = list.u32(at + 4) else { return }
                track.edits.append((UInt64(duration), Int64(Int32(bitPattern: time))))
            }
        }
    }

    /// Returns whether a chunk (`stsc`) uses a sample entry of `table` with other contents than the first
    /// one.
    private static func changesHeaders(_ table: Box, chunks: Box?) -> Bool {
        let kinds = table.children(from: 8)
        guard kinds.count > 1, let chunks, let count = chunks.u32(4) else { return false }
        let others = kinds.map { $0.type != kinds[0].type || !$0.box.isIdentical(to: kinds[0].box) }
        for index in 0..<Int(count) {
            guard let kind = chunks.u32(16 + 12 * index) else { break }
            if kind > 1, kind <= others.count, others[Int(kind) - 1] { return true }
        }
        return false
    }

    /// Compares the lowest composition offset of all entries with that of all but the last two, by which
    /// libavformat shifts decoding times (`mov_read_ctts`).
    private static func parseOffsets(_ table: Box, into track: inout Track) {
        guard let count = table.u32(4) else { return }
        track.hasCompositionOffsets = count > 0
        var (lowest, lowestOfLast): (Int32, Int32) = (0, 0)
        for index in 0..<Int(count) {
            guard let value = table.u32(12 + 8 * index) else { break }
            let offset = Int32(bitPattern: value)
            if index + 2 < Int(count) {
                lowest = min(lowest, offset)
            } else {
                lowestOfLast = min(lowestOfLast, offset)
            }
        }
        track.decodesLate = lowestOfLast < lowest
    }

    /// Returns the clean aperture of the first sample entry; if others differ, `changesHeaders` is set.
    private static func parseSampleDescription(_ table: Box) -> CleanAperture? {
        guard let first = table.children(from: 8).first else { return nil }
        // The boxes of a visual sample entry start at byte 78; other sample entries have no `clap`.
        for child in first.box.children(from: 78) where child.type == "clap" {
            let v = (0..<8).compactMap { child.box.u32($0 * 4).map { Int32(bitPattern: $0) } }
            guard v.count == 8, v[0] > 0, v[1] > 0, v[2] > 0, v[3] > 0, v[5] > 0, v[7] > 0 else { return nil }
            return CleanAperture(
                width: Rational(v[0], v[1]), height: Rational(v[2], v[3]),
                horizontalOffset: Rational(v[4], v[5]),
                verticalOffset: Rational(v[6], v[7]))
        }
        return nil
    }

    private static func locateCodec(in table: Box, of track: inout Track) {
        guard let first = table.children(from: 8).first else { return }
        // The four-character code is the second half of the entry's header.
        track.codecTagOffset = first.box.fileOffset(of: -4)
        let boxes = first.box.children(from: 78)
        track.hevcRecordOffset = boxes.first { $0.type == "hvcC" }?.box.fileOffset(of: 0)
        if let color = boxes.first(where: { $0.type == "colr" })?.box {
            track.colorBox = (color.fileOffset(of: -8), color.range.count + 8)
        }
        track.hasSecondView = boxes.contains { $0.type == "lhvC" }
    }

    /// The contents of a box, with bounds-checked access.
    private struct Box {
        let bytes: [UInt8]
        let range: Range<Int>
        let fileOffset: Int64

        func u8(_ at: Int) -> UInt8? {
            range.lowerBound + at < range.upperBound ? bytes[range.lowerBound + at] : nil
        }

        func u32(_ at: Int) -> UInt32? {
            guard at >= 0, range.lowerBound + at + 4 <= range.upperBound else { return nil }
            return (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[range.lowerBound + at + $1]) }
        }

        func u64(_ at: Int) -> UInt64? {
            guard let high = u32(at), let low = u32(at + 4) else { return nil }
            return UInt64(high) << 32 | UInt64(low)
        }

        func isIdentical(to other: Box) -> Bool { bytes[range] == other.bytes[other.range] }

        func type(_ at: Int) -> String? {
            guard range.lowerBound + at + 4 <= range.upperBound else { return nil }
            return String(
                decoding: bytes[(range.lowerBound + at)..<(range.lowerBound + at + 4)], as: UTF8.self)
        }

        func fileOffset(of at: Int) -> Int64 { fileOffset + Int64(range.lowerBound + at) }

        func children(from start: Int = 0) -> [(type: String, box: Box)] {
            var found: [(String, Box)] = []
            var at = range.lowerBound + start
            while found.count < 4096, at + 8 <= range.upperBound {
                let head = Box(bytes: bytes, range: at..<range.upperBound, fileOffset: fileOffset)
                guard let size32 = head.u32(0), let type = head.type(4) else { break }
                var size = Int(size32)
                var headSize = 8
                if size32 == 1 {
                    guard let long = head.u64(8), long < 1 << 40 else { break }
                    size = Int(long)
                    headSize = 16
                } else if size32 == 0 {
                    size = range.upperBound - at
                }
                guard size >= headSize, at + size <= range.upperBound else { break }
                found.append(
                    (type, Box(bytes: bytes, range: (at + headSize)..<(at + size), fileOffset: fileOffset)))
                at += size
            }
            return found
        }
    }
}
