internal import CFFmpeg

/// The WebVTT segments of a package's part as one file: the cues of all segments, each once, at the times of the media
/// (RFC 8216, 3.5).
final class SegmentedText: MemorySource {
    let bytes: [UInt8]

    /// Maximum size of all segments in bytes, which repeat cues that last long.
    private static let maxBytes: Int64 = 256 << 20

    /// Creates the source of a part; nil if its first section isn't WebVTT.
    init?(_ part: SegmentedPackage.Part, _ source: SegmentedSource) throws(AVError) {
        guard let head = source.bytes(at: 0, min(9, Int(clamping: source.size))),
            WebVTTText.withoutMark(head[...]).starts(with: "WEBVTT".utf8)
        else { return nil }
        guard source.size <= Self.maxBytes else {
            throw AVError(
                code: tandem_einval, operation: "read",
                detail: "the subtitles have more than \(Self.maxBytes >> 20) MB")
        }
        var joined = Array("WEBVTT\n\n".utf8)
        /// Number of times that a cue or definition was added.
        var added: [[UInt8]: Int] = [:]
        var position: Int64 = 0
        for section in part.sections {
            guard let bytes = source.bytes(at: position, Int(section.length)) else {
                throw source.failure ?? AVError(code: tandem_eio, operation: "read")
            }
            position += section.length
            var count: [[UInt8]: Int] = [:]
            for block in Self.blocks(bytes) {
                count[block, default: 0] += 1
                // A cue that overlaps several segments is in each of them.
                guard count[block, default: 0] > added[block, default: 0] else { continue }
                added[block, default: 0] += 1
                joined += block
            }
        }
        bytes = joined
    }

    /// Returns the blocks of a segment behind its header, with the times of the media; each ends with an empty line.
    private static func blocks(_ bytes: [UInt8]) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        /// Difference between the media's time and the cues' time in milliseconds.
        var shift: Int64 = 0
        WebVTTText.forEachBlock(of: bytes) { block, isFirst in
            if isFirst {
                shift = block.lazy.compactMap { mapping($0.bytes) }.first ?? 0
                return
            }
            let lines = block.map {
                WebVTTText.isTiming($0.bytes) ? shifted($0.bytes, by: shift) : Array($0.bytes)
            }
            blocks.append(Array((lines + [[]]).joined(separator: [UInt8(ascii: "\n")])) + [0x0a])
        }
        return blocks
    }

    /// Returns the time of the media in milliseconds at the cues' time 0, by a line such as
    /// `X-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000`; nil for other lines.
    private static func mapping(_ line: ArraySlice<UInt8>) -> Int64? {
        let name = Array("X-TIMESTAMP-MAP=".utf8)
        guard line.starts(with: name) else { return nil }
        var (media, local): (Int64?, Int64?)
        for entry in line.dropFirst(name.count).split(separator: UInt8(ascii: ",")) {
            let parts = entry.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let word = String(decoding: parts[0], as: UTF8.self)
            if word == "MPEGTS" { media = Int64(String(decoding: parts[1], as: UTF8.self)) }
            if word == "LOCAL" { local = milliseconds(parts[1]) }
        }
        guard let media, let local, (0...1 << 40).contains(media) else { return nil }
        return (media + 45) / 90 - local
    }

    /// Returns the line of a cue's times with both times shifted; the line itself if a time is invalid.
    private static func shifted(_ line: ArraySlice<UInt8>, by shift: Int64) -> [UInt8] {
        guard shift != 0 else { return Array(line) }
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard words.count >= 3, let start = milliseconds(words[0]), let end = milliseconds(words[2]) else {
            return Array(line)
        }
        let times = [start, end].map { clock(max(0, $0.adding(upToLimit: shift))) }
        let rest = words.dropFirst(3).map { " " + String(decoding: $0, as: UTF8.self) }.joined()
        return Array("\(times[0]) --> \(times[1])\(rest)".utf8)
    }

    /// Returns a time such as `01:02:03.004` in milliseconds; nil for other texts.
    private static func milliseconds(_ text: ArraySlice<UInt8>) -> Int64? {
        guard WebVTTText.isTime(text) else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."))
        let fields = parts[0].split(separator: UInt8(ascii: ":")).map { number($0) }
        guard parts.count == 2, parts[1].count == 3, fields.count <= 3 else { return nil }
        return fields.reduce(0) { $0 * 60 + $1 } * 1000 + number(parts[1])
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64 {
        digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    private static func clock(_ milliseconds: Int64) -> String {
        func padded(_ value: Int64, _ digits: Int) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let seconds = milliseconds / 1000
        return padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2)
            + "." + padded(milliseconds % 1000, 3)
    }
}
