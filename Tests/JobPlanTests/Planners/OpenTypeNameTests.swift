import Foundation
import Testing

@testable import JobPlan

/// Tests the names of fonts.
@Suite struct OpenTypeNameTests {
    private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xff), UInt8(value & 0xff)] }
    private static func long(_ value: Int) -> [UInt8] { word(value >> 16) + word(value) }

    /// Returns a font with a `name` table of records: platform, language, name, and text as UTF-16.
    private static func font(_ records: [(Int, Int, Int, String)]) -> [UInt8] {
        var (table, strings) = ([UInt8](), [UInt8]())
        for (platform, language, name, text) in records {
            let bytes = Array(text.utf16).flatMap { word(Int($0)) }
            table += [platform, 1, language, name, bytes.count, strings.count].flatMap(word)
            strings += bytes
        }
        let names = [0, records.count, 6 + table.count].flatMap(word) + table + strings
        let header = long(0x10000) + word(2) + [UInt8](repeating: 0, count: 6)
        let cmap = Array("cmap".utf8) + long(0) + long(0) + long(0)
        let entry = Array("name".utf8) + long(0) + long(44) + long(names.count)
        return header + cmap + entry + names
    }

    private func fullName(_ bytes: [UInt8]) -> String? {
        OpenTypeName.fullName { offset, count in
            offset >= 0 && count >= 0 && offset + count <= bytes.count
                ? Array(bytes[offset..<offset + count]) : nil
        }
    }

    @Test func fullName_isThatOfWindowsInEnglish() {
        let records = [
            (1, 0, 4, "Mac"), (3, 0x407, 4, "Fett"), (3, 0x409, 1, "Sans"), (3, 0x409, 4, "Sans Bold"),
        ]
        #expect(fullName(Self.font(records)) == "Sans Bold")
        #expect(fullName(Self.font(Array(records.prefix(2)))) == "Fett")
        #expect(fullName(Self.font([records[0], records[2]])) == nil)
    }

    /// The first font of a collection is read.
    @Test func collections_haveTheirFirstFont() {
        let font = Self.font([(3, 0x409, 4, "One")])
        var collection = Array("ttcf".utf8) + Self.long(0x10000) + Self.long(1) + Self.long(20)
        collection += [UInt8](repeating: 0, count: 4)
        var moved = font
        moved.replaceSubrange(36..<40, with: Self.long(44 + 20))
        #expect(fullName(collection + moved) == "One")
    }

    /// Truncated and random files have no name.
    @Test func damagedFonts_haveNoName() {
        let font = Self.font([(3, 0x409, 4, "Sans Bold")])
        for count in 0..<font.count { #expect(fullName(Array(font.prefix(count))) == nil, "\(count)") }
        for seed in 0..<200 {
            var bytes = font
            bytes[(seed * 7) % bytes.count] = UInt8(truncatingIfNeeded: seed * 31)
            _ = fullName(bytes)
        }
    }

    /// Files of the machine's fonts have the names by which libass finds them.
    @Test func installedFont_hasItsName() {
        let path = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
        guard FileManager.default.fileExists(atPath: path) else { return }
        #expect(OpenTypeName.fullName(of: path) == "DejaVu Sans Bold")
        #expect(OpenTypeName.fullName(of: "/usr/share/fonts/nothing.ttf") == nil)
    }
}
