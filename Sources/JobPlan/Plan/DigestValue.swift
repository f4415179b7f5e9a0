/// The digest of a plan, as recorded in the marks of outputs and in the state.
package struct DigestValue: Hashable, Sendable {
    /// SHA-256 of the recipe.
    package var recipe: String
    /// Whether the output was created with damaged data skipped.
    package var skippedDamage = false
    /// Digest of the expectations that the output was evaluated with; nil for none.
    package var expectations: String?

    init(recipe: String, expectations: String?) {
        (self.recipe, self.expectations) = (recipe, expectations)
    }
}

extension DigestValue {
    private static let damageMark: Character = "~"
    private static let expectationMark: Character = "+"

    /// Parses a recorded digest: the digest of the recipe, `~` if damaged data was skipped, and `+` with the digest of
    /// the expectations. Any text is accepted; text with another syntax doesn't match any digest.
    package init(_ text: String) {
        let parts = text.split(
            separator: Self.expectationMark, maxSplits: 1, omittingEmptySubsequences: false)
        skippedDamage = parts[0].last == Self.damageMark
        recipe = String(skippedDamage ? parts[0].dropLast() : parts[0])
        expectations = parts.count == 2 ? String(parts[1]) : nil
    }

    /// The recorded digest, in the syntax of `init(_:)`.
    package var text: String {
        recipe + (skippedDamage ? "\(Self.damageMark)" : "")
            + (expectations.map { "\(Self.expectationMark)\($0)" } ?? "")
    }
}

extension DigestValue: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
