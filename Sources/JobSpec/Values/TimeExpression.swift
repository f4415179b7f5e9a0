public import Media

/// A time as a job file writes it, exact; what it comes to may depend on the source.
public enum TimeExpression: Hashable, Sendable {
    /// From time zero.
    case absolute(MediaTime)
    /// Before the end.
    case fromEnd(MediaTime)
    /// Frames of the first selected video track.
    case frames(Int64)
    /// A share of the duration, in thousandths of a percent.
    case percent(Int64)
    /// The end.
    case end
    /// The start of a chapter, from 1.
    case chapter(Int)

    /// Reads `90.5`, `90.5s`, `1500ms`, `1:30.5`, `00:01:30.500`, `250f`, `25%`, `-5s`, `end`, `chapter:2`.
    public init?(_ text: String) {
        guard let last = text.utf8.last, text.utf8.count <= 40 else { return nil }
        // Most are plain seconds or a clock.
        if (0x30...0x39).contains(last), text.utf8.first != 0x2d, text.utf8.first != 0x63 {
            guard let time = Self.clock(text[...]) else { return nil }
            self = .absolute(time)
            return
        }
        if text == "end" {
            self = .end
        } else if text.hasPrefix("chapter:"), let number = Int(text.dropFirst(8)), number >= 1,
            number < 100_000
        {
            self = .chapter(number)
        } else if text.hasSuffix("f"), let frames = Quantity.scaled(text.dropLast(), by: 1) {
            self = .frames(frames)
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
        if text.hasSuffix("ms") { return seconds(text.dropLast(2), divisor: 1000) }
        if text.hasSuffix("s") { return seconds(text.dropLast(), divisor: 1) }
        if !text.utf8.contains(0x3a) { return seconds(text, divisor: 1) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), let last = parts.last, let rest = seconds(last, divisor: 1)
        else { return nil }
        if parts.count == 1 { return rest }
        guard last.prefix(while: { $0 != "." }).count <= 2, rest < MediaTime(value: 60, timescale: 1) else {
            return nil
        }
        var minutes: Int64 = 0
        for (index, part) in parts.dropLast().enumerated() {
            guard !part.isEmpty, part.utf8.count <= 6, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let value = Int64(part)
            else { return nil }
            if index > 0, value >= 60 || part.utf8.count > 2 { return nil }
            minutes = minutes * 60 + value
        }
        return MediaTime(value: minutes * 60, timescale: 1) + rest
    }

    private static func seconds(_ text: Substring, divisor: Int64) -> MediaTime? {
        guard let (digits, places) = Quantity.decimal(text), places <= 9 else { return nil }
        var scale = divisor
        for _ in 0..<places { scale *= 10 }
        guard scale <= Int64(Int32.max) else { return nil }
        let time = MediaTime(value: digits, timescale: Int32(scale))
        return time.seconds <= 1e9 ? time : nil
    }
}
