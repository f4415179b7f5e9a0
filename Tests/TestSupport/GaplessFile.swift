internal import Foundation

/// Modification of mp4 files with AAC: an `iTunSMPB` tag with encoder delay and padding, and signaling of HE-AAC, which
/// FFmpeg can't encode.
public enum GaplessFile {
    /// Converts AAC-LC of FFmpeg's encoder into HE-AAC without high frequencies by setting the SBR flag of its
    /// configuration. `doubledRate` is the MPEG-4 index of the output's sample rate.
    public static func makeHighEfficiency(_ path: String, doubledRate: UInt8) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        guard let found = data.range(of: Data([0x56, 0xE5, 0x00])) else {
            throw ProgramError(message: "\(path) has no configuration with an absent SBR")
        }
        data[found.upperBound - 1] = 0x80 | doubledRate << 3
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// Replaces tags and edit lists of an mp4 file whose index is at its end by an `iTunSMPB` tag.
    public static func tag(_ path: String, delay: Int, padding: Int, samples: Int) throws {
        let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard let movie = children(data, 0..<data.count).first(where: { $0.name == "moov" }) else {
            throw ProgramError(message: "\(path) has no movie box")
        }
        var body: [UInt8] = []
        for child in children(data, (movie.range.lowerBound + 8)..<movie.range.upperBound)
        where child.name != "udta" {
            var bytes = Array(data[child.range])
            for index in bytes.indices.dropLast(3) where bytes[index...].starts(with: "edts".utf8) {
                bytes.replaceSubrange(index..<(index + 4), with: "free".utf8)
            }
            body += bytes
        }
        let value =
            String(format: " 00000000 %08X %08X %016lX", delay, padding, samples)
            + String(repeating: " 00000000", count: 8)
        let item = box(
            "----",
            box("mean", [0, 0, 0, 0] + Array("com.apple.iTunes".utf8))
                + box("name", [0, 0, 0, 0] + Array("iTunSMPB".utf8))
                + box("data", [0, 0, 0, 1, 0, 0, 0, 0] + Array(value.utf8)))
        let handler = [0, 0, 0, 0, 0, 0, 0, 0] + Array("mdirappl".utf8) + [UInt8](repeating: 0, count: 9)
        body += box("udta", box("meta", [0, 0, 0, 0] + box("hdlr", handler) + box("ilst", item)))
        let result = Array(data[..<movie.range.lowerBound]) + box("moov", body)
        try Data(result).write(to: URL(fileURLWithPath: path))
    }

    private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let size = UInt32(8 + body.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(name.utf8) + body
    }

    private static func children(_ data: [UInt8], _ range: Range<Int>) -> [(name: String, range: Range<Int>)]
    {
        var (at, found) = (range.lowerBound, [(String, Range<Int>)]())
        while at + 8 <= range.upperBound {
            let size = (0..<4).reduce(0) { $0 << 8 | Int(data[at + $1]) }
            guard size >= 8, at + size <= range.upperBound else { break }
            found.append((String(decoding: data[(at + 4)..<(at + 8)], as: UTF8.self), at..<(at + size)))
            at += size
        }
        return found
    }
}
