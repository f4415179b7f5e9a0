internal import Media

/// The syntax of volumes and opacities.
extension Language {
    /// A gain in thousandths of a decibel: `-3dB`, `+2.5 dB`, `0`.
    static let gain = decibels(
        -60...60, expected: "expected decibels from -60 to 60, such as -3dB or 2.5", example: "-3dB")
    /// The reduction of `duck`, in thousandths of a decibel.
    static let reduction = decibels(
        0...60, expected: "expected decibels from 0 to 60, such as 12dB", example: "12dB")

    private static let decibelPattern = #"^[+-]?[0-9]+(\.[0-9]+)?( ?[dD][bB])"#

    private static func decibels(
        _ range: ClosedRange<Int>, expected: String, example: String
    ) -> ValueSyntax<Thousandths> {
        ValueSyntax(
            [
                .number(Double(range.lowerBound)...Double(range.upperBound)),
                .text(pattern: decibelPattern + "?$", example: example),
            ], expected: expected
        ) { text in
            plainDecibels(text).flatMap {
                (range.lowerBound * 1000...range.upperBound * 1000).contains($0)
                    ? Thousandths(count: $0) : nil
            }
        }
    }

    private static func plainDecibels(_ text: String) -> Int? {
        var rest = text[...]
        if isInDecibels(text) {
            rest = rest.dropLast(2)
            if rest.hasSuffix(" ") { rest = rest.dropLast() }
        }
        let isNegative = rest.hasPrefix("-")
        if isNegative || rest.hasPrefix("+") { rest = rest.dropFirst() }
        guard let value = Quantity.scaled(rest, by: 1000), value <= 60_000 else { return nil }
        return isNegative ? -Int(value) : Int(value)
    }

    private static func isInDecibels(_ text: String) -> Bool { text.lowercased().hasSuffix("db") }

    /// Converts thousandths of a decibel to a factor in billionths.
    private static func factor(decibels: Int) -> Int64 {
        Int64((1e9 * Decibels.factor(Double(decibels) / 1000)).rounded())
    }

    /// The maximum factor of samples.
    static let maxFactor = 16
    /// The factor of a point of a composition's volume.
    static let factor = thousandths(0...Double(maxFactor))
    /// A factor of a mix.
    static let mixFactor = thousandths(0...Double(maxFactor), as: "a factor")
    /// A volume in a composition: a factor in billionths, also written in decibels.
    static let volume = ValueSyntax(
        [.number(0...Double(maxFactor)), .text(pattern: decibelPattern + "$", example: "-3dB")],
        expected: "expected a factor from 0 to \(maxFactor), decibels such as -3dB, or a list of points"
    ) { text -> Int64? in
        if isInDecibels(text) {
            return plainDecibels(text).map { factor(decibels: $0) }.flatMap {
                $0 <= Int64(maxFactor) * 1_000_000_000 ? $0 : nil
            }
        }
        return factor.parse(text).map { Int64($0.count) * 1_000_000 }
    }
    /// The opacity of a layer, or of one of its points.
    static let opacityValue = thousandths(0...1)
    /// The opacity of a layer in billionths.
    static let opacity = ValueSyntax(
        opacityValue.forms, expected: "expected a number from 0 to 1, or a list of points"
    ) { text in opacityValue.parse(text).map { Int64($0.count) * 1_000_000 } }

    /// The reduction of `duck` as a factor in billionths.
    static func reductionFactor(_ reduction: Thousandths) -> Int64 { factor(decibels: -reduction.count) }

    /// Integrated loudness in LUFS to which audio is normalized.
    static let targetLoudness = ValueSyntax(
        [.number(loudnessRange)],
        expected:
            "expected a loudness in LUFS from \(ScalarForm.text(loudnessRange.lowerBound)) to \(ScalarForm.text(loudnessRange.upperBound)), such as -16",
        help: { text in
            let suggestion = text.lowercased().replacing("lufs", with: "").filter { $0 != " " }
            return suggestion == text || plainLoudness(suggestion) == nil
                ? nil : "did you mean `\(suggestion)`?"
        }, parser: { plainLoudness($0) })
    private static let loudnessRange = -70.0 ... -5.0

    private static func plainLoudness(_ text: String) -> Double? {
        Quantity.number(text).flatMap { loudnessRange.contains($0) ? $0 : nil }
    }
}
