package import Media

/// A time in a job file. Its value may depend on the source.
package enum TimeExpression: Hashable, Sendable {
    /// A time from the start.
    case absolute(MediaTime)
    /// A duration before the end.
    case fromEnd(MediaTime)
    /// A frame number, or a number of frames, of the first selected video track.
    case frames(Int64)
    /// A share of the duration, in thousandths of a percent.
    case percent(Int64)
    /// The end of the source.
    case end
    /// The start of a chapter, counted from 1.
    case chapter(Int)

    /// The maximum number of seconds.
    static let maxSeconds = 1e9

    /// Parses `90.5`, `90.5s`, `1500ms`, `1:30.5`, `00:01:30.500`, `250f`, `25%`, `-5s`, `end` and `chapter:2`.
    package init?(_ text: String) {
        guard let last = text.utf8.last, text.utf8.count <= 40 else { return nil }
        // Fast path: most texts are seconds without a unit, or in clock notation.
        if (0x30...0x39).contains(last), text.utf8.first != 0x2d, text.utf8.first != 0x63 {
            guard let time = Self.clock(text[...]) else { return nil }
            self = .absolute(time)
            return
        }
        if text == "end" {
            self = .end
        } else if text.hasPrefix("chapter:"), let number = Quantity.integer(text.dropFirst(8)), number >= 1,
            number < 100_000
        {
            self = .chapter(number)
        } else if text.hasSuffix("f"), let frames = Quantity.integer(text.dropLast()), frames >= 0 {
            self = .frames(Int64(frames))
        } else if text.hasSuffix("%"), let share = Quantity.scaled(text.dropLast(), by: 1000),
            share <= 100_000
        {
            self = .percent(share)
        } else if text.hasPrefix("-") {
            guard let time = Self.clock(text.dropFirst()) else { return nil }
            self = .fromEnd(time)
        } else if let time = Self.clock(text[...]) {
            self = .absolute(time)
        } else {
            return nil
        }
    }

    private static func clock(_ text: Substring) -> MediaTime? {
        if text.utf8.last == 0x73 {
            let number = text.dropLast()
            return number.utf8.last == 0x6d
                ? seconds(number.dropLast(), divisor: 1000) : seconds(number, divisor: 1)
        }
        guard let colon = text.utf8.lastIndex(of: 0x3a) else { return seconds(text, divisor: 1) }
        let last = text[text.utf8.index(after: colon)...]
        guard last.utf8.prefix(while: { $0 != 0x2e }).count <= 2, let rest = seconds(last, divisor: 1),
            rest < MediaTime(value: 60, timescale: 1)
        else { return nil }
        // Before the last `:`, one field is minutes; two are hours and minutes.
        var whole: Int64 = 0
        var fields = 0
        var digits = 0
        var field: Int64 = 0
        for byte in text.utf8[...colon] {
            if byte == 0x3a {
                if digits == 0 || fields > 0 && (field >= 60 || digits > 2) { return nil }
                whole = whole * 60 + field
                fields += 1
                (digits, field) = (0, 0)
            } else {
                digits += 1
                guard (0x30...0x39).contains(byte), digits <= 6 else { return nil }
                field = field * 10 + Int64(byte - 0x30)
            }
        }
        guard fields <= 2 else { return nil }
        return MediaTime(value: whole * 60, timescale: 1) + rest
    }

    private static func seconds(_ text: Substring, divisor: Int64) -> MediaTime? {
        guard let (digits, places) = Quantity.decimal(text), places <= 9 else { return nil }
        var scale = divisor
        for _ in 0..<places { scale *= 10 }
        guard scale <= Int64(Int32.max) else { return nil }
        // Times are reduced, so that equivalent spellings don't cause a rerun.
        let time = MediaTime(value: digits, timescale: Int32(scale)).reduced
        return time.seconds <= maxSeconds ? time : nil
    }
}
