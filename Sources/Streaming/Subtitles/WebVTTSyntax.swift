internal import Media

/// The syntax of WebVTT files.
enum WebVTTSyntax {
    private static let arrow = Array("-->".utf8)

    /// Splits text into lines that end with LF, CR, or both, without a byte order mark.
    static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var rest = bytes[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        var lines: [ArraySlice<UInt8>] = []
        while let end = rest.firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) {
            lines.append(rest[..<end])
            rest = rest[(end + 1)...]
            if bytes[end] == 0x0d, rest.first == 0x0a { rest = rest.dropFirst() }
        }
        lines.append(rest)
        return lines
    }

    /// Returns the block that begins at a line: the lines up to an empty one, or up to the times of the next cue. Empty if
    /// the line is.
    static func block(in lines: [ArraySlice<UInt8>], from start: Int) -> Range<Int> {
        var (end, hasTiming) = (start, false)
        while end < lines.count, !lines[end].isEmpty {
            if isTiming(lines[end]) {
                if hasTiming || end - start > 1 { break }
                hasTiming = true
            }
            end += 1
        }
        return start..<end
    }

    /// Returns whether a line is the first one of a WebVTT file.
    static func isSignature(_ line: ArraySlice<UInt8>) -> Bool {
        let rest = line.dropFirst(6)
        return line.starts(with: "WEBVTT".utf8) && (rest.first.map(isSpace) ?? true)
    }

    /// Returns whether a line begins a block of styles or a region.
    static func isDefinition(_ line: ArraySlice<UInt8>) -> Bool {
        ["STYLE", "REGION"].contains { name in
            line.starts(with: name.utf8) && line.dropFirst(name.utf8.count).allSatisfy(isSpace)
        }
    }

    /// Returns whether a line contains the times of a cue, which may be invalid.
    static func isTiming(_ line: ArraySlice<UInt8>) -> Bool { position(ofArrowIn: line) != nil }

    /// Returns the times of a cue; nil if they are invalid, or if the cue ends before it starts.
    static func times(_ line: ArraySlice<UInt8>) -> (start: MediaTime, end: MediaTime)? {
        guard let position = position(ofArrowIn: line) else { return nil }
        let before = line[..<position].split(whereSeparator: isSpace)
        let after = line[(position + arrow.count)...].split(whereSeparator: isSpace)
        guard before.count == 1, let start = time(before[0]), let end = after.first.flatMap(time),
            end >= start
        else { return nil }
        return (start, end)
    }

    private static func position(ofArrowIn line: ArraySlice<UInt8>) -> Int? {
        line.indices.first { line[$0] == arrow[0] && line[$0...].starts(with: arrow) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns a time in the syntax `[hours:]minutes:seconds.thousandths`; nil for another syntax.
    private static func time(_ text: ArraySlice<UInt8>) -> MediaTime? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let thousandths = number(parts[1], digits: 3...3) else { return nil }
        let fields = parts[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count),
            let hours = fields.count == 2 ? 0 : number(fields[0], digits: 2...9),
            let minutes = number(fields[fields.count - 2], digits: 2...2), minutes < 60,
            let seconds = number(fields[fields.count - 1], digits: 2...2), seconds < 60
        else { return nil }
        return MediaTime(value: ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths, timescale: 1000)
    }

    private static func number(_ text: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int64? {
        guard digits.contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
