internal import LibAV

/// Lengths of an Ogg file's audio tracks, from the granule positions of their first and last pages (RFC 3533; RFC
/// 7845, 4).
///
/// Positions need not begin at 0: a recording that was cut from a stream keeps the stream's positions. libavformat
/// 5.1 uses the last position as the length, for Opus including the pre-skip, and for FLAC regardless of the first
/// position.
struct OggInspector {
    private enum Codec {
        /// The number of samples to skip at the start (pre-skip).
        case opus(skip: Int64)
        case flac
    }

    private struct Track {
        let serial: UInt32
        let codec: Codec?
        /// Number of samples in the packets completed so far.
        var samples: Int64 = 0
        /// The beginning of a packet that continues on the next page.
        var rest: [UInt8] = []
        /// The granule position of the first sample.
        var origin: Int64?
    }

    private struct Page {
        let flags: UInt8
        /// Granule position; nil if no packet ends on the page.
        let position: Int64?
        let serial: UInt32
        /// Offset of the page's data in the file, and the sizes of its segments.
        let body: Int64
        let segments: [UInt8]
        var end: Int64 { body + segments.reduce(0) { $0 + Int64($1) } }

        init?(_ source: any ByteSource, at offset: Int64) {
            guard let head = source.bytes(at: offset, 27), head.starts(with: "OggS".utf8), head[4] == 0,
                let segments = source.bytes(at: offset + 27, Int(head[26]))
            else { return nil }
            let position = (6..<14).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(head[$1]) }
            flags = head[5]
            self.position = position == .max ? nil : Int64(bitPattern: position)
            serial = (14..<18).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(head[$1]) }
            body = offset + 27 + Int64(segments.count)
            self.segments = segments
        }
    }

    /// Lengths in samples (Opus at 48 kHz) by the track's index in the file; only for tracks with both ends found.
    let lengths: [Int: Int64]

    /// Maximum number of pages read to find the end of the first audio page, and number of bytes searched for the
    /// last page.
    private static let (maxPages, tail): (Int, Int) = (4096, 1 << 18)
    /// Number of bytes of a packet that are sufficient to determine its duration.
    private static let headSize = 32

    init(_ source: any ByteSource) {
        var tracks: [Track] = []
        var at: Int64 = 0
        for _ in 0..<Self.maxPages {
            guard let page = Page(source, at: at) else { break }
            if page.flags & 2 != 0, tracks.count < 64 {
                let head = source.bytes(at: page.body, Int(min(19, page.end - page.body))) ?? []
                tracks.append(Track(serial: page.serial, codec: Self.codec(head)))
            }
            if let index = tracks.firstIndex(where: { $0.serial == page.serial }) {
                Self.count(page, of: source, in: &tracks[index])
            }
            if tracks.allSatisfy({ $0.codec == nil || $0.origin != nil }), page.flags & 2 == 0 { break }
            at = page.end
        }
        let last = Self.lastPositions(of: source)
        var lengths: [Int: Int64] = [:]
        for (index, track) in tracks.enumerated() {
            guard let codec = track.codec, let origin = track.origin, let end = last[track.serial] else {
                continue
            }
            let skip = if case .opus(let skip) = codec { skip } else { Int64(0) }
            let (length, isTooLarge) = end.subtractingReportingOverflow(origin)
            if !isTooLarge, length > skip { lengths[index] = length - skip }
        }
        self.lengths = lengths
    }

    private static func codec(_ head: [UInt8]) -> Codec? {
        if head.starts(with: "OpusHead".utf8), head.count >= 12 {
            return .opus(skip: Int64(head[10]) | Int64(head[11]) << 8)
        }
        return head.starts(with: [0x7f] + Array("FLAC".utf8)) ? .flac : nil
    }

    /// Counts the samples of packets that end on a page, and derives the origin from the page's position.
    private static func count(_ page: Page, of source: any ByteSource, in track: inout Track) {
        guard let codec = track.codec, track.origin == nil else { return }
        var (at, size) = (page.body, Int64(0))
        // A packet whose beginning is missing isn't counted.
        var isWhole = page.flags & 1 == 0 || !track.rest.isEmpty
        if page.flags & 1 == 0 { track.rest = [] }
        for segment in page.segments {
            size += Int64(segment)
            guard segment < 255 else { continue }
            let head =
                track.rest.isEmpty ? source.bytes(at: at, Int(min(size, Int64(headSize)))) ?? [] : track.rest
            if isWhole, let samples = samples(of: head, codec) { track.samples += samples }
            (track.rest, isWhole) = ([], true)
            (at, size) = (at + size, 0)
        }
        if size > 0, track.rest.isEmpty, isWhole {
            track.rest = source.bytes(at: at, Int(min(size, Int64(headSize)))) ?? []
        }
        guard track.samples > 0, let position = page.position else { return }
        // If the file has only one audio page, its position may be reduced to trim the end, so the difference may be
        // negative.
        track.origin = max(0, position.subtractingReportingOverflow(track.samples).partialValue)
    }

    private static func samples(of head: [UInt8], _ codec: Codec) -> Int64? {
        switch codec {
        case .flac: return head.withUnsafeBytes { FLACFrameHeader($0).map { Int64($0.samples) } }
        case .opus:
            if head.starts(with: "OpusHead".utf8) || head.starts(with: "OpusTags".utf8) { return nil }
            return head.withUnsafeBytes { OpusPacket.samples(of: $0) }
        }
    }

    /// Returns the position of each track's last page near the end of the file.
    private static func lastPositions(of source: any ByteSource) -> [UInt32: Int64] {
        let count = Int(min(Int64(tail), source.size))
        let start = source.size - Int64(count)
        guard let bytes = source.bytes(at: start, count) else { return [:] }
        var (found, at) = ([UInt32: Int64](), 0)
        let mark = Array("OggS".utf8)
        while at + 27 <= count {
            guard bytes[at] == mark[0], bytes[at..<(at + 4)].elementsEqual(mark),
                let page = Page(source, at: start + Int64(at)), page.end <= source.size
            else {
                at += 1
                continue
            }
            if let position = page.position { found[page.serial] = position }
            at = Int(page.end - start)
        }
        return found
    }
}
