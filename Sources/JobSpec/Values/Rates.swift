package import LibAV

/// The syntax of bit rates, frequencies, frame rates, and sizes in bytes.
extension Language {
    /// A bit rate in bits/s: `128k`, `2.5M`, `96000`. The case of units is ignored, because no bit rate is in thousandths
    /// (`m`). Numbers below 6000 are rejected, because their unit is probably missing.
    static let bitRate = ValueSyntax(
        [
            .integer(leastBitRate...Int(maxBitRate)),
            .text(
                pattern: #"^([0-9]+(\.[0-9]+)? ?[kKmM]|([6-9][0-9]{3}|[0-9]{5,})(\.0+)?)$"#, example: "128k"),
        ],
        refusal: { text, what in
            if let value = Quantity.integer(text), (1..<leastBitRate).contains(value) {
                return InvalidValue(
                    message: "\(what) is in bits per second, and `\(text)` is too low",
                    help: "did you mean `\(value)k`?")
            }
            return InvalidValue(
                text, of: what,
                expected:
                    "expected a bit rate such as 128k, 2.5M or 96000, up to \(maxBitRate / 1_000_000)M",
                help: bitRateMeant(text).map { "did you mean `\($0)`?" })
        },
        parser: { text in
            plainBitRate(text).flatMap { rate in
                rate < leastBitRate && text.utf8.last.map { (0x30...0x39).contains($0) } == true ? nil : rate
            }
        })
    private static let leastBitRate = 6000
    private static let maxBitRate: Int64 = 1_000_000_000

    private static func plainBitRate(_ text: String) -> Int64? {
        let (number, unit) = Quantity.split(text)
        let value: Int64?
        switch unit {
        case "k", "K": value = Quantity.scaled(number, by: 1000)
        case "M", "m": value = Quantity.scaled(number, by: 1_000_000)
        case "": value = Quantity.scaled(number, by: 1)
        default: value = nil
        }
        return value.flatMap { $0 > 0 && $0 <= maxBitRate ? $0 : nil }
    }

    /// Converts a bit rate with a unit such as `kbps` or `Mbit/s`, or with a decimal comma, to the notation of job
    /// files; nil for other texts.
    private static func bitRateMeant(_ text: String) -> String? {
        // `MB` denotes bytes.
        if text.hasSuffix("B") { return nil }
        let plain = text.lowercased().filter { $0 != " " }.replacing(",", with: ".")
        let number = plain.prefix { $0.isNumber || $0 == "." }
        let unit: String
        switch plain.dropFirst(number.count) {
        case "k", "kbps", "kbit/s", "kbits/s", "kb/s", "kbit", "kbits", "kb": unit = "k"
        case "m", "mbps", "mbit/s", "mbits/s", "mb/s", "mbit", "mbits", "mb": unit = "M"
        default: return nil
        }
        return plainBitRate(number + unit) == nil || number + unit == text ? nil : number + unit
    }

    /// A size in bytes: `50MB` (10⁶), `50 MiB` (2²⁰), `1000`. `b` is rejected, since it would mean bits.
    package static let byteSize = ValueSyntax(
        [
            .integer(1...maxBytes),
            .text(pattern: #"^[0-9]+(\.[0-9]+)?( ?([kKMG]i?B|B))?$"#, example: "50MB"),
        ], expected: "expected a size such as 50MB (10⁶) or 50MiB"
    ) { text -> Int64? in
        let (number, unit) = Quantity.split(text)
        let value = byteUnits[String(unit)].flatMap { Quantity.scaled(number, by: $0) }
        return value.flatMap { $0 > 0 && $0 <= maxBytes ? $0 : nil }
    }
    private static let maxBytes = 1_000_000_000_000_000
    private static let byteUnits: [String: Int64] = [
        "": 1, "B": 1, "kB": 1000, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "kiB": 1 << 10,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]

    /// A sample rate in Hz: `44100`, `44.1kHz`.
    static let sampleRate = frequency(
        1...768_000, example: "44.1kHz", expected: "expected a sample rate such as 48000 or 44.1kHz")
    /// The sample rate of a composition.
    static let compositionSampleRate = frequency(
        8000...768_000, example: "44.1kHz", expected: "expected a sample rate such as 48000 or 44.1kHz")
    /// The frequency of a test signal's tone.
    static let tone = frequency(
        1...20_000, example: "1kHz", expected: "expected a frequency from 1 Hz to 20 kHz, such as 1kHz")

    private static func frequency(
        _ range: ClosedRange<Int>, example: String, expected: String
    ) -> ValueSyntax<Int32> {
        ValueSyntax(
            [
                .integer(range),
                .text(pattern: #"^[0-9]+(\.[0-9]+)?( ?[kK]?[hH][zZ])?$"#, example: example),
            ], expected: expected, help: { frequencyMeant($0).map { "did you mean `\($0)`?" } }
        ) { text in
            plainFrequency(text).flatMap { range.contains(Int($0)) ? Int32(exactly: $0) : nil }
        }
    }

    private static func plainFrequency(_ text: String) -> Int64? {
        let (number, unit) = Quantity.split(text)
        guard unit.utf8.count == unit.count else { return nil }
        switch unit.lowercased() {
        case "khz": return Quantity.scaled(number, by: 1000)
        case "hz", "": return Quantity.scaled(number, by: 1)
        default: return nil
        }
    }

    /// Converts a frequency with the unit `k` to the unit `kHz`; nil for other texts.
    private static func frequencyMeant(_ text: String) -> String? {
        guard text.last == "k" || text.last == "K" else { return nil }
        let rate = String(text.dropLast()) + "kHz"
        return plainFrequency(rate) == nil ? nil : rate
    }

    /// A frame rate: `25`, `30000/1001`. `29.97`, `23.976` and similar are the broadcast rates with denominator 1001.
    package static let frameRate = ValueSyntax(
        [
            .number(frameRates),
            .text(pattern: #"^[0-9]+(\.[0-9]+|/0*[1-9][0-9]*)?$"#, example: "30000/1001"),
        ],
        refusal: { text, what in
            InvalidValue(
                text, of: what, expected: frameRateHint(text),
                help: frameRateMeant(text).map { "did you mean `\($0)`?" })
        }, parser: { plainFrameRate($0) })
    private static let frameRates = 0.001...1000.0
    private static let broadcastRates: [String: Rational] = [
        "23.976": Rational(24_000, 1001), "23.98": Rational(24_000, 1001), "29.97": Rational(30_000, 1001),
        "47.952": Rational(48_000, 1001), "59.94": Rational(60_000, 1001), "119.88": Rational(120_000, 1001),
    ]

    private static func plainFrameRate(_ text: String) -> Rational? {
        func checked(_ num: Int64, _ den: Int64) -> Rational? {
            guard let num = Int32(exactly: num), let den = Int32(exactly: den) else { return nil }
            let rate = Rational(num, den)
            return frameRates.contains(rate.double) ? rate : nil
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2, let num = Quantity.integer(parts[0]), let den = Quantity.integer(parts[1]),
            num > 0, den > 0
        {
            return checked(Int64(num), Int64(den))
        }
        if let rate = broadcastRates[text] { return rate }
        guard parts.count == 1, let (digits, places) = Quantity.decimal(text), places <= 4, digits > 0 else {
            return nil
        }
        var den: Int64 = 1
        for _ in 0..<places { den *= 10 }
        var (a, b) = (digits, den)
        while b != 0 { (a, b) = (b, a % b) }
        return checked(digits / a, den / a)
    }

    /// Returns the expected syntax of frame rates, or the exact rate that `text` approximates.
    private static func frameRateHint(_ text: String) -> String {
        let general = "expected a frame rate such as 25, 29.97 or 30000/1001, up to 1000"
        guard let rate = Quantity.number(text), rate > 0, rate < 1000 else { return general }
        let nearest = (rate * 1.001).rounded()
        return abs(nearest * 1000 / 1001 - rate) < 0.001
            ? "the nearest standard rate is `\(Int(nearest) * 1000)/1001`" : general
    }

    /// Converts a frame rate with a unit or a decimal comma (`25fps`, `25p`, `23,976`) to the notation of job files;
    /// nil for other texts.
    private static func frameRateMeant(_ text: String) -> String? {
        let plain = text.lowercased().filter { $0 != " " }.replacing(",", with: ".")
        let number =
            plain.hasSuffix("fps") ? plain.dropLast(3) : plain.hasSuffix("p") ? plain.dropLast() : plain[...]
        return plainFrameRate(String(number)) == nil || number == text ? nil : String(number)
    }
}
