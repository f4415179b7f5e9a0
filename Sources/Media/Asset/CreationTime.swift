/// A complete date and time in metadata: `2024-03-09T13:36:19`, with optional fractions of a second and offset from
/// UTC. libavutil's parser (`av_parse_time`) would complete a partial one with the current date or time.
package struct CreationTime: Hashable, Sendable {
    /// Validates a text; nil if it isn't a complete and valid date and time.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>, _ allowed: ClosedRange<Int>) -> Int? {
            guard range.upperBound <= bytes.count,
                bytes[range].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            let value = bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return allowed.contains(value) ? value : nil
        }
        func has(_ characters: String, at position: Int) -> Bool {
            position < bytes.count && characters.utf8.contains(bytes[position])
        }
        guard let year = number(0..<4, 0...9999), has("-", at: 4), let month = number(5..<7, 1...12),
            has("-", at: 7),
            let day = number(8..<10, 1...31), has("Tt ", at: 10), number(11..<13, 0...23) != nil,
            has(":", at: 13),
            number(14..<16, 0...59) != nil, has(":", at: 16), number(17..<19, 0...60) != nil
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= days[month - 1] else { return nil }
        var at = 19
        if has(".", at: at) {
            let start = at + 1
            at = start
            while number(at..<(at + 1), 0...9) != nil { at += 1 }
            if at == start { return nil }
        }
        if has("Zz", at: at) {
            at += 1
        } else if has("+-", at: at) {
            guard number((at + 1)..<(at + 3), 0...23) != nil else { return nil }
            let minutes = has(":", at: at + 3) ? at + 4 : at + 3
            guard number(minutes..<(minutes + 2), 0...59) != nil else { return nil }
            at = minutes + 2
        }
        guard at == bytes.count else { return nil }
    }
}
