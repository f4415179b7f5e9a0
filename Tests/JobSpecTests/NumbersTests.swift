import Testing

@testable import JobSpec

/// Numbers in job files.
@Suite struct NumbersTests {
    /// A decimal is the nearest floating-point number, so that it is printed as it is written.
    @Test func decimalsAreTheNearestNumbers() {
        for digits in 0..<10_000 {
            let padded = String(repeating: "0", count: 4 - String(digits).count) + String(digits)
            for text in ["0.\(padded)", "-0.\(padded)", "12.\(padded)", "0.00\(padded)1"] {
                #expect(Quantity.number(text) == Double(text))
            }
        }
        #expect(Quantity.number("0.955").map { "\($0)" } == "0.955")
    }

    @Test(arguments: ["", ".5", "5.", "1e3", "+1", "--1", "0x1", "1.2.3", "nan", "1.0000000001"])
    func otherTextsAreNoNumbers(_ text: String) {
        #expect(Quantity.number(text) == nil)
    }
}
