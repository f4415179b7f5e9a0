/// A number with at most three decimals.
package struct Thousandths: Hashable, Sendable {
    /// The number times 1000.
    package let count: Int
}

/// The syntax of numbers.
extension Language {
    /// Returns the syntax of an integer in a range.
    static func integer(_ range: ClosedRange<Int>) -> ValueSyntax<Int> {
        ValueSyntax(
            [.integer(range)], expected: "expected an integer from \(range.lowerBound) to \(range.upperBound)"
        ) { text in Quantity.integer(text).flatMap { range.contains($0) ? $0 : nil } }
    }

    /// Returns the syntax of a number in a range.
    static func number(_ range: ClosedRange<Double>) -> ValueSyntax<Double> {
        ValueSyntax([.number(range)], expected: expected(range, "a number")) { text in
            Quantity.number(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns the syntax of a number in a range with at most three decimals. `noun` describes it in messages.
    static func thousandths(
        _ range: ClosedRange<Double>, as noun: String = "a number"
    ) -> ValueSyntax<Thousandths> {
        ValueSyntax(
            [.number(range)],
            refusal: { text, what in
                let parts = text.split(separator: ".", omittingEmptySubsequences: false)
                let isTooFine = parts.count == 2 && parts[1].count > 3
                return InvalidValue(
                    text, of: what,
                    expected: expected(range, noun) + (isTooFine ? ", with at most three decimals" : ""))
            },
            parser: { text in
                let isNegative = text.hasPrefix("-")
                if isNegative, range.lowerBound >= 0 { return nil }
                let size = Quantity.scaled(isNegative ? text.dropFirst() : text[...], by: 1000)
                return size.map { isNegative ? -Int($0) : Int($0) }.flatMap {
                    range.contains(Double($0) / 1000) ? Thousandths(count: $0) : nil
                }
            })
    }

    private static func expected(_ range: ClosedRange<Double>, _ noun: String) -> String {
        "expected \(noun) from \(ScalarForm.text(range.lowerBound)) to \(ScalarForm.text(range.upperBound))"
    }

    /// The version of the job language.
    static let versionNumber = ValueSyntax(
        [.integer(version...version)], expected: "this version of tandem supports only version \(version)"
    ) { $0 == "\(version)" ? version : nil }

    /// The index of a track among those of its kind.
    static let trackIndex = integer(0...255)
}

/// The exact parsing of decimals in job files.
enum Quantity {
    /// Parses an integer of digits with an optional minus sign.
    static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8.first == 0x2d ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

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
    static func split(_ text: String) -> (number: Substring, unit: Substring) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let rest = text[number.endIndex...]
        return rest.utf8.count > 1 && rest.first == " " ? (number, rest.dropFirst()) : (number, rest)
    }

    /// Parses a decimal with an optional minus sign.
    static func number(_ text: String) -> Double? {
        let size = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard let (digits, places) = decimal(size), places <= 9 else { return nil }
        // One division, whose operands are exact, yields the nearest number.
        var power = 1.0
        for _ in 0..<places { power *= 10 }
        let value = Double(digits) / power
        return text.hasPrefix("-") ? -value : value
    }
}
