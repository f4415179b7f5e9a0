/// The text form of numbers that are stored in thousandths.
package enum ThousandthsText {
    /// Returns a number without trailing zeros: `23`, `-6.02`.
    package static func text(_ value: Int) -> String {
        let size = abs(value)
        var text = "\(size / 1000)"
        if size % 1000 != 0 {
            text += "." + String(size % 1000 + 1000).dropFirst()
            while text.last == "0" { text.removeLast() }
        }
        return (value < 0 ? "-" : "") + text
    }
}
