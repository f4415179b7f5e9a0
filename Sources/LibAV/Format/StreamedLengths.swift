/// A source that corrects the lengths of a file that was written to a pipe.
///
/// A program that writes to a pipe can't seek back to complete the header. WAV, RF64 and Wave64 then contain 0 or the
/// maximum as sizes, CAF −1, IVF a frame count of 0 or the maximum, AVI lengths and sizes of either kind. libavformat
/// interprets some of these as the actual length, so that a file appears to last hours or its last packet appears
/// truncated; other placeholders make a file unreadable. This source replaces the placeholders by the actual values.
/// All other bytes, and valid lengths, are unchanged.
final class StreamedLengths: ByteSource {
    private let source: any ByteSource
    private let patches: [Patch]

    struct Patch: Equatable {
        let offset: Int64
        let bytes: [UInt8]
    }

    /// Creates a corrected source; nil if no length is a placeholder.
    init?(_ source: any ByteSource) {
        let patches = Self.patches(of: source)
        if patches.isEmpty { return nil }
        (self.source, self.patches) = (source, patches)
    }

    var size: Int64 { source.size }
    var failure: AVError? { source.failure }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
        let count = try source.read(at: offset, into: buffer)
        let end = offset.adding(upToLimit: Int64(count))
        for patch in patches where patch.offset < end && patch.offset + Int64(patch.bytes.count) > offset {
            for (index, byte) in patch.bytes.enumerated() {
                let position = patch.offset + Int64(index)
                if position >= offset, position < end { buffer[Int(position - offset)] = byte }
            }
        }
        return count
    }

    static func patches(of source: any ByteSource) -> [Patch] {
        guard let head = source.bytes(at: 0, 12) else { return [] }
        if head.starts(with: "RIFF".utf8) || head.starts(with: "RF64".utf8) || head.starts(with: "BW64".utf8)
        {
            if head[8...].elementsEqual("WAVE".utf8) {
                return wave(source, is64: head[1] != UInt8(ascii: "I"))
            }
            if head[8...].elementsEqual("AVI ".utf8) { return avi(source) }
        }
        if head.starts(with: "caff".utf8) { return caf(source) }
        if head.starts(with: "DKIF".utf8) { return ivf(source) }
        if head.starts(with: wave64("riff")) { return wave64(source) }
        return []
    }

    // MARK: Numbers

    /// Returns whether a 32-bit size is a placeholder: 0, −1, −1 minus the header's size, or the
    /// corresponding signed values.
    private static func isPlaceholder(_ size: UInt32) -> Bool {
        size == 0 || size >= 0xFFFF_FF00 || size == 0x7FFF_F000 || (0x7FFF_FF00...0x8000_0000).contains(size)
    }

    private static func isPlaceholder(_ size: UInt64) -> Bool { size == 0 || size >= 1 << 62 }

    private static func little(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func u32(_ source: any ByteSource, _ offset: Int64) -> UInt32? {
        source.bytes(at: offset, 4).map { UInt32(truncatingIfNeeded: little($0)) }
    }

    private static func patch(_ offset: Int64, _ value: Int64, bytes: Int = 4) -> Patch? {
        guard value >= 0, bytes == 8 || value < 1 << 32 else { return nil }
        return Patch(
            offset: offset, bytes: (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) })
    }

    /// Rounds a length down to a multiple of `unit` bytes.
    private static func roundedDown(_ length: Int64, of unit: Int64) -> Int64 {
        unit > 0 ? length - length % unit : length
    }

    // MARK: Audio

    /// Returns the corrections of WAV and RF64. RF64 stores its sizes in a separate chunk (`ds64`).
    private static func wave(_ source: any ByteSource, is64: Bool) -> [Patch] {
        var (at, unit, sizes) = (Int64(12), Int64(0), Int64?.none)
        for _ in 0..<256 {
            guard let head = source.bytes(at: at, 8), let size = u32(source, at + 4) else { return [] }
            let body = at + 8
            if head.starts(with: "ds64".utf8) { sizes = body }
            if head.starts(with: "fmt ".utf8), let align = source.bytes(at: body + 12, 2) {
                unit = Int64(little(align))
            }
            guard head.starts(with: "data".utf8) else {
                at = body + Int64(size) + Int64(size & 1)
                continue
            }
            let rest = source.size - body
            guard rest > 0 else { return [] }
            if is64, size == UInt32.max, let sizes {
                guard let declared = source.bytes(at: sizes + 8, 8), isPlaceholder(little(declared)) else {
                    return []
                }
                return [
                    patch(sizes, source.size - 8, bytes: 8),
                    patch(sizes + 8, roundedDown(rest, of: unit), bytes: 8),
                ].compactMap { $0 }
            }
            // A file without samples may have other chunks after the `data` chunk.
            guard let all = u32(source, 4), isPlaceholder(size), Int64(size) > rest || size == 0,
                size != 0 || isPlaceholder(all) || Int64(all) + 8 <= body
            else { return [] }
            return [patch(4, source.size - 8), patch(at + 4, roundedDown(rest, of: unit))].compactMap { $0 }
        }
        return []
    }

    private static func wave64(_ name: String) -> [UInt8] {
        Array(name.utf8)
            + (name == "riff"
                ? [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB]
                : [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0])
    }

    private static func wave64(_ source: any ByteSource) -> [Patch] {
        var (at, unit) = (Int64(40), Int64(0))
        for _ in 0..<256 {
            guard let head = source.bytes(at: at, 24) else { return [] }
            let size = little(head[16...])
            if head.starts(with: wave64("fmt ")), let align = source.bytes(at: at + 36, 2) {
                unit = Int64(little(align))
            }
            if head.starts(with: wave64("data")) {
                let rest = source.size - at - 24
                guard isPlaceholder(size), rest > 0 else { return [] }
                return [
                    patch(16, source.size, bytes: 8),
                    patch(at + 16, 24 + roundedDown(rest, of: unit), bytes: 8),
                ].compactMap { $0 }
            }
            guard size >= 24, size < 1 << 40 else { return [] }
            at += Int64((size + 7) & ~7)
        }
        return []
    }

    /// Returns the corrections of CAF, whose numbers are big-endian.
    private static func caf(_ source: any ByteSource) -> [Patch] {
        var (at, unit) = (Int64(8), Int64(0))
        for _ in 0..<256 {
            guard let head = source.bytes(at: at, 12) else { return [] }
            let size = Int64(truncatingIfNeeded: little(head[4...].reversed()))
            if head.starts(with: "desc".utf8), let packet = source.bytes(at: at + 28, 4) {
                unit = Int64(little(packet.reversed()))
            }
            if head.starts(with: "data".utf8) {
                // The samples follow an edit count of 4 bytes.
                let rest = source.size - at - 16
                guard size == -1, rest > 0 else { return [] }
                let value = 4 + roundedDown(rest, of: unit)
                return patch(at + 4, value, bytes: 8).map {
                    [Patch(offset: $0.offset, bytes: $0.bytes.reversed())]
                } ?? []
            }
            guard size >= 0, size < 1 << 40 else { return [] }
            at += 12 + size
        }
        return []
    }

    // MARK: Video

    /// Maximum number of frames or chunks that are counted, which limits the time for untrusted files.
    private static let maxChunks = 1 << 26

    /// Returns the corrections of IVF. Its length is in units of the timestamps, which precede each frame.
    private static func ivf(_ source: any ByteSource) -> [Patch] {
        guard let length = u32(source, 24), let skipped = source.bytes(at: 6, 2), isPlaceholder(length) else {
            return []
        }
        var (at, first, last, step, frames) = (Int64(little(skipped)), Int64?.none, Int64(0), Int64(1), 0)
        while frames < maxChunks, let head = source.bytes(at: at, 12) {
            let time = Int64(truncatingIfNeeded: little(head[4...]))
            guard time >= 0, time < 1 << 32 else { return [] }
            if first != nil, time > last { step = time - last }
            first = first ?? time
            last = max(last, time)
            frames += 1
            at += 12 + Int64(little(head[..<4]))
        }
        guard let first else { return [] }
        return [patch(24, last - first + step)].compactMap { $0 }
    }

    private struct AVIStream {
        let header: Int64
        let isVideo: Bool
        let sampleSize: Int64
        var chunks: Int64 = 0
        var bytes: Int64 = 0
    }

    private static func avi(_ source: any ByteSource) -> [Patch] {
        var (at, mainHeader, streams) = (Int64(12), Int64?.none, [AVIStream]())
        for _ in 0..<4096 {
            guard let head = source.bytes(at: at, 12), let size = u32(source, at + 4) else { return [] }
            let isList = head.starts(with: "LIST".utf8)
            if isList, head[8...].elementsEqual("movi".utf8) {
                guard isPlaceholder(size), Int64(size) > source.size - at - 8 || size == 0 else { return [] }
                return avi(source, frames: at + 12, listSize: at + 4, mainHeader, streams)
            }
            if isList, head[8...].elementsEqual("hdrl".utf8) || head[8...].elementsEqual("strl".utf8) {
                at += 12
                continue
            }
            if head.starts(with: "avih".utf8) { mainHeader = at + 8 }
            if head.starts(with: "strh".utf8), streams.count < 100, let sample = u32(source, at + 52) {
                streams.append(
                    AVIStream(
                        header: at + 8, isVideo: head[8...].elementsEqual("vids".utf8),
                        sampleSize: Int64(sample)))
            }
            at += 8 + Int64(size) + Int64(size & 1)
        }
        return []
    }

    /// Returns the corrections of AVI. The chunks of each stream are counted, from the first chunk on.
    private static func avi(
        _ source: any ByteSource, frames: Int64, listSize: Int64, _ mainHeader: Int64?, _ found: [AVIStream]
    ) -> [Patch] {
        var (at, streams) = (frames, found)
        chunks: for _ in 0..<maxChunks {
            guard let head = source.bytes(at: at, 8) else { break }
            let size = Int64(little(head[4...]))
            if head.starts(with: "LIST".utf8) {
                at += 12
                continue
            }
            if head.starts(with: "idx1".utf8) || head.starts(with: "RIFF".utf8) { break chunks }
            let digits = head[..<2].map { Int($0) - 48 }
            if digits.allSatisfy((0...9).contains), streams.indices.contains(digits[0] * 10 + digits[1]) {
                let index = digits[0] * 10 + digits[1]
                streams[index].chunks += 1
                streams[index].bytes = streams[index].bytes.adding(upToLimit: size)
            }
            at += 8 + size + (size & 1)
        }
        let lengths = streams.map {
            patch($0.header + 32, $0.sampleSize > 0 ? $0.bytes / $0.sampleSize : $0.chunks)
        }
        let video = streams.first(where: \.isVideo)
        return
            ([
                patch(4, source.size - 8), patch(listSize, min(at, source.size) - frames + 4),
                mainHeader.flatMap { header in video.flatMap { patch(header + 16, $0.chunks) } },
            ] + lengths).compactMap { $0 }
    }
}
