/// A WebVTT file reduced to the subset that libavformat 5.1 can read. libavformat treats the first block that is
/// neither a cue nor a comment (a style, a region), and a cue with an invalid time, as the end of the file. This
/// source drops and reports such blocks; an invalid time is an error.
final class WebVTTText: MemorySource {
    /// Kinds of dropped blocks, as words for messages.
    private(set) var droppedBlocks: Set<String> = []
    private(set) var bytes: [UInt8] = []

    /// Maximum file size in bytes, far more than the cues of a film need. libavformat keeps all cues in memory.
    static let maxBytes: Int64 = 64 << 20

    /// Creates a source; nil if the file isn't WebVTT in UTF-8 or is larger than `maxBytes`.
    init?(_ source: any ByteSource, path: String) throws(InputError) {
        guard source.size <= Self.maxBytes, let head = source.bytes(at: 0, min(9, Int(source.size))),
            Self.withoutMark(head[...]).starts(with: "WEBVTT".utf8),
            let all = source.bytes(at: 0, Int(source.size))
        else { return nil }
        bytes.reserveCapacity(all.count)
        try Self.forEachBlock(of: all) { block, isFirst throws(InputError) in
            try take(block, isFirst: isFirst, path: path)
        }
    }

    /// Calls `body` for each block of a file, with its lines, and whether it is the first one, which is the header. A cue may
    /// follow another cue, or the header, without an empty line in between.
    static func forEachBlock<Failure: Error>(
        of file: [UInt8], _ body: (_ block: [Line], _ isFirst: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        var block: [Line] = []
        var (isFirst, hasTiming, number) = (true, false, 0)
        func finish() throws(Failure) {
            if !block.isEmpty {
                try body(block, isFirst)
                isFirst = false
            }
            (block, hasTiming) = ([], false)
        }
        for line in lines(withoutMark(file[...])) {
            number += 1
            if line.isEmpty {
                try finish()
                continue
            }
            let isTiming = isTiming(line)
            if isTiming, isFirst && !block.isEmpty || block.count > 1 || hasTiming { try finish() }
            hasTiming = hasTiming || isTiming
            block.append(Line(number: number, bytes: line))
        }
        try finish()
    }

    /// A line with its number, from 1.
    struct Line {
        let number: Int
        let bytes: ArraySlice<UInt8>
    }

    private func take(_ block: [Line], isFirst: Bool, path: String) throws(InputError) {
        guard let first = block.first else { return }
        if !isFirst {
            guard !first.bytes.starts(with: "NOTE".utf8),
                let timing = block.prefix(2).first(where: { Self.isTiming($0.bytes) })
            else {
                droppedBlocks.insert(Self.name(first.bytes))
                return
            }
            guard Self.isReadable(timing.bytes) else {
                throw InputError(path: path, reason: .unreadableCue(line: timing.number))
            }
        }
        for line in block {
            bytes += line.bytes
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    static func withoutMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes
    }

    /// Splits text into lines, which end with CR, LF or both.
    static func lines(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var (start, at) = (bytes.startIndex, bytes.startIndex)
        while at < bytes.endIndex {
            if bytes[at] == 0x0a || bytes[at] == 0x0d {
                lines.append(bytes[start..<at])
                if bytes[at] == 0x0d, at + 1 < bytes.endIndex, bytes[at + 1] == 0x0a { at += 1 }
                start = at + 1
            }
            at += 1
        }
        lines.append(bytes[start...])
        return lines
    }

    static func isTiming(_ line: ArraySlice<UInt8>) -> Bool {
        let arrow = Array("-->".utf8)
        return line.indices.dropLast(2).contains { line[$0...].starts(with: arrow) }
    }

    /// Returns whether a line contains two times that libavformat can read:
    /// `[hours:]minutes:seconds.thousandths`.
    private static func isReadable(_ line: ArraySlice<UInt8>) -> Bool {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard words.count >= 3, words[1].elementsEqual("-->".utf8) else { return false }
        return isTime(words[0]) && isTime(words[2])
    }

    static func isTime(_ word: ArraySlice<UInt8>) -> Bool {
        let parts = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, isNumber(parts[1], most: 3) else { return false }
        let fields = parts[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return (2...3).contains(fields.count) && fields.allSatisfy { isNumber($0, most: 4) }
    }

    private static func isNumber(_ digits: ArraySlice<UInt8>, most: Int) -> Bool {
        (1...most).contains(digits.count)
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func name(_ line: ArraySlice<UInt8>) -> String {
        if line.starts(with: "STYLE".utf8) { return "styles" }
        if line.starts(with: "REGION".utf8) || line.starts(with: "Region:".utf8) { return "regions" }
        return line.starts(with: "NOTE".utf8) ? "comments" : "text outside of cues"
    }
}
