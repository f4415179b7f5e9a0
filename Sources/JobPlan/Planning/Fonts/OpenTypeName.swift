internal import Glibc

/// Reader of the full name of an OpenType or TrueType font, such as `DejaVu Sans Bold`, by which libass finds the font. Of
/// a collection, the first font is read.
enum OpenTypeName {
    /// Returns the full name in a font file; nil if it can't be read, or contains none.
    static func fullName(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return fullName { offset, count in
            var bytes = [UInt8](repeating: 0, count: count)
            return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : nil
        }
    }

    /// Returns the full name in a font. `read` returns bytes at an offset; nil if there are fewer.
    static func fullName(_ read: (_ offset: Int, _ count: Int) -> [UInt8]?) -> String? {
        guard var start = read(0, 16) else { return nil }
        var offset = 0
        if Array(start.prefix(4)) == Array("ttcf".utf8) {
            offset = word(start, 12) << 16 | word(start, 14)
            guard let font = read(offset, 12) else { return nil }
            start = font
        }
        let count = word(start, 4)
        guard (1...256).contains(count), let tables = read(offset + 12, count * 16) else { return nil }
        for table in 0..<count
        where Array(tables[table * 16..<table * 16 + 4]) == Array("name".utf8) {
            let position = word(tables, table * 16 + 8) << 16 | word(tables, table * 16 + 10)
            let length = word(tables, table * 16 + 12) << 16 | word(tables, table * 16 + 14)
            guard length <= 1 << 20, let names = read(position, length) else { return nil }
            return fullName(inTable: names)
        }
        return nil
    }

    /// Returns the full name (name 4) in a `name` table: the English one for Windows, which is UTF-16, else the first one
    /// for Windows.
    private static func fullName(inTable names: [UInt8]) -> String? {
        guard names.count >= 6 else { return nil }
        let (count, strings) = (word(names, 2), word(names, 4))
        var found: String?
        for record in 0..<count {
            let at = 6 + record * 12
            guard at + 12 <= names.count else { break }
            let (platform, language, name) = (word(names, at), word(names, at + 4), word(names, at + 6))
            let (length, start) = (word(names, at + 8), strings + word(names, at + 10))
            guard platform == 3, name == 4, start + length <= names.count, length >= 2 else { continue }
            let units = stride(from: start, to: start + length - 1, by: 2).map { UInt16(word(names, $0)) }
            let text = String(decoding: units, as: UTF16.self)
            if language == 0x409 { return text }
            found = found ?? text
        }
        return found
    }

    private static func word(_ bytes: [UInt8], _ at: Int) -> Int {
        guard at >= 0, at + 1 < bytes.count else { return 0 }
        return Int(bytes[at]) << 8 | Int(bytes[at + 1])
    }
}
