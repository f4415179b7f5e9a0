package import LibAV

/// The exact parsing of quantities in job files.
package enum Quantity {
    /// Parses a decimal such as `44.1` into digits and decimal places; nil for other texts.
    static func decimal(_ text: some StringProtocol) -> (digits: Int64, places: Int)? {
        var (digits, places, count): (Int64, Int, Int) = (0, 0, 0)
        var isAfterPoint = false
        for byte in text.utf8 {
            if byte == 0x2e {
                guard !isAfterPoint, count > 0 else { return nil }
                isAfterPoint = true
                continue
            }
            guard (0x30...0x39).contains(byte), count < 18 else { return nil }
            digits = digits * 10 + Int64(byte - 0x30)
            count += 1
            if isAfterPoint { places += 1 }
        }
        guard count > 0, !isAfterPoint || places > 0 else { return nil }
        return (digits, places)
    }

    static func scaled(_ text: some StringProtocol, by factor: Int64) -> Int64? {
        guard let (digits, places) = decimal(text), places <= 9 else { return nil }
        var power: Int64 = 1
        for _ in 0..<places { power *= 10 }
        let (product, overflow) = digits.multipliedReportingOverflow(by: factor)
        guard !overflow, product % power == 0 else { return nil }
        return product / power
    }

    /// Splits a quantity into number and unit, which may be separated by a space.
    private static func split(_ text: String) -> (number: Substring, unit: Substring) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let rest = text[number.endIndex...]
        return rest.utf8.count > 1 && rest.first == " " ? (number, rest.dropFirst()) : (number, rest)
    }

    /// Parses a bit rate in bits/s: `128k`, `2.5M`, `96000`. The case of units is ignored, because no bit rate is in
    /// thousandths (`m`).
    package static func bitRate(_ text: String) -> Int64? {
        let (number, unit) = split(text)
        let value: Int64?
        switch unit {
        case "k", "K": value = scaled(number, by: 1000)
        case "M", "m": value = scaled(number, by: 1_000_000)
        case "": value = scaled(number, by: 1)
        default: value = nil
        }
        return value.flatMap { $0 > 0 && $0 <= 1_000_000_000 ? $0 : nil }
    }

    /// Appends the probably missing unit `k` to a bit rate that is too small to be in bits/s; nil for other texts.
    static func bitRateWithoutUnit(_ text: String) -> String? {
        guard let value = Int64(text), (1..<6000).contains(value) else { return nil }
        return "\(value)k"
    }

    /// Parses a size in bytes: `50MB` (10⁶), `50 MiB` (2²⁰), `1000`. `b` is rejected, since it would mean bits.
    package static func bytes(_ text: String) -> Int64? {
        let units: [String: Int64] = [
            "": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "kiB": 1 << 10,
            "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
        ]
        let (number, unit) = split(text)
        let value = units[String(unit)].flatMap { scaled(number, by: $0) }
        return value.flatMap { $0 > 0 && $0 <= 1_000_000_000_000_000 ? $0 : nil }
    }

    /// Parses a frequency in Hz: `44100`, `44.1kHz`, `1kHz`, `50Hz`.
    package static func frequency(_ text: String) -> Int32? {
        let (number, unit) = split(text)
        let value: Int64?
        switch unit.lowercased() {
        case "khz": value = scaled(number, by: 1000)
        case "hz", "": value = scaled(number, by: 1)
        default: value = nil
        }
        return value.flatMap { $0 > 0 && $0 <= 768_000 ? Int32($0) : nil }
    }

    /// Parses a frame rate: `25`, `30000/1001`. `29.97`, `23.976` and similar are the broadcast rates with
    /// denominator 1001.
    package static func frameRate(_ text: String) -> Rational? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let num = Int32(parts[0]), let den = Int32(parts[1]), num > 0, den > 0 {
            let rate = Rational(num, den)
            return rate.double >= 0.001 && rate.double <= 1000 ? rate : nil
        }
        let broadcast: [String: Rational] = [
            "23.976": Rational(24_000, 1001), "23.98": Rational(24_000, 1001),
            "29.97": Rational(30_000, 1001),
            "47.952": Rational(48_000, 1001), "59.94": Rational(60_000, 1001),
            "119.88": Rational(120_000, 1001),
        ]
        if let rate = broadcast[text] { return rate }
        guard parts.count == 1, let (digits, places) = decimal(text), places <= 4, digits > 0 else {
            return nil
        }
        var den: Int64 = 1
        for _ in 0..<places { den *= 10 }
        var (a, b) = (digits, den)
        while b != 0 { (a, b) = (b, a % b) }
        guard let num = Int32(exactly: digits / a), let reduced = Int32(exactly: den / a) else { return nil }
        let rate = Rational(num, reduced)
        return rate.double >= 0.001 && rate.double <= 1000 ? rate : nil
    }

    /// Parses a ratio of two integers up to 65535: `1:1`, `64/45`.
    package static func ratio(_ text: String) -> Rational? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }
        guard parts.count == 2, let num = scaled(parts[0], by: 1), let den = scaled(parts[1], by: 1),
            (1...65_535).contains(num), (1...65_535).contains(den)
        else { return nil }
        return Rational(Int32(num), Int32(den))
    }

    /// Parses decibels from -60 to 60 into thousandths: `-3dB`, `+2.5 dB`, `0`.
    package static func decibels(_ text: String) -> Int? {
        var rest = text[...]
        if rest.lowercased().hasSuffix("db") { rest = rest.dropLast(2) }
        if rest.hasSuffix(" ") { rest = rest.dropLast() }
        let isNegative = rest.hasPrefix("-")
        if isNegative || rest.hasPrefix("+") { rest = rest.dropFirst() }
        guard let value = scaled(rest, by: 1000), value <= 60_000 else { return nil }
        return isNegative ? -Int(value) : Int(value)
    }

    /// Parses a decimal with an optional minus sign.
    static func number(_ text: String) -> Double? {
        let size = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard let (digits, places) = decimal(size), places <= 9 else { return nil }
        var value = Double(digits)
        for _ in 0..<places { value /= 10 }
        return text.hasPrefix("-") ? -value : value
    }

    /// Parses a size in pixels: `1280x720`, `1280x`, `x720`.
    package static func dimensions(_ text: String) -> Dimensions? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        func side(_ part: Substring) -> Int?? {
            if part.isEmpty { return .some(nil) }
            guard let value = Int(part), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                (1...16_384).contains(value)
            else { return nil }
            return .some(value)
        }
        guard let width = side(parts[0]), let height = side(parts[1]), width != nil || height != nil else {
            return nil
        }
        return Dimensions(width: width, height: height)
    }
}

/// A size in pixels, of which one side may be unspecified.
package struct Dimensions: Hashable, Sendable {
    /// Width in pixels; nil to derive it from the height.
    package var width: Int?
    /// Height in pixels; nil to derive it from the width.
    package var height: Int?

    package init(width: Int?, height: Int?) {
        self.width = width
        self.height = height
    }
}
