package import Diagnostics
internal import LibAV

/// The condition without which a finished output isn't published (`publish_if`).
package struct PublishCondition: Codable, Hashable, Sendable {
    /// The least difference between the sizes of the source and the output.
    package var smallerBy: Saving
    /// Location of the condition in the job file.
    package var range: SourceRange

    /// A difference between two sizes.
    package enum Saving: Codable, Hashable, Sendable {
        /// A share of the source's size, in thousandths of a percent.
        case share(Int64)
        /// A number of bytes.
        case bytes(Int64)

        /// Whether the value is one that a job file can state. Checked for plans from untrusted input.
        fileprivate var isValid: Bool {
            switch self {
            case .share(let thousandths): (0..<100_000).contains(thousandths)
            case .bytes(let count): count >= 0
            }
        }

        /// The difference as in a job file, such as `20%`.
        package var text: String {
            switch self {
            case .share(let thousandths): "\(ThousandthsText.text(Int(thousandths)))%"
            case .bytes(let count): "\(count) bytes"
            }
        }
    }

    package init(smallerBy: Saving, range: SourceRange) {
        self.smallerBy = smallerBy
        self.range = range
    }

    /// Whether the values are those that a job file can state. Checked for plans from untrusted input.
    package var isValid: Bool { smallerBy.isValid }

    /// Returns whether an output is published, by its size and the source's in bytes.
    package func accepts(_ output: Int64, from source: Int64) -> Bool {
        let (saved, overflow) = source.subtractingReportingOverflow(output)
        if overflow { return false }
        switch smallerBy {
        case .bytes(let count): return saved >= count
        case .share(let thousandths):
            // The products have at most 100 bits.
            let (least, actual) = (
                source.multipliedFullWidth(by: thousandths), saved.multipliedFullWidth(by: 100_000)
            )
            return (actual.high, actual.low) >= (least.high, least.low)
        }
    }
}

extension PublishCondition.Saving: ScalarValue {}

extension Language {
    static let publishIf = MappingType(
        "publishIf", "`publish_if`",
        "Condition on the finished output. An output that doesn't meet it is not published; the job's outcome is `declined`, which is not a failure.",
        keys: [
            KeyInfo(
                "smaller_by", saving,
                "The output is smaller than the source by at least this share of the source's size, or this size.",
                required: true)
        ])

    /// A share such as `20%`, or a size such as `10MB`.
    static let saving = ValueSyntax(
        [
            .text(pattern: #"^[0-9]+(\.[0-9]+)?( ?%|( ?([kKMG]i?B|B))?)$"#, example: "20%"),
            .integer(1...1_000_000_000_000_000),
        ],
        expected: "expected a share of the source's size below 100% such as 20%, or a size such as 10MB"
    ) { text -> PublishCondition.Saving? in
        guard text.hasSuffix("%") else { return byteSize.parse(text).map { .bytes($0) } }
        let number = text.dropLast().last == " " ? text.dropLast(2) : text.dropLast()
        guard let share = Quantity.scaled(number, by: 1000), (0..<100_000).contains(share) else {
            return nil
        }
        return .share(share)
    }
}
