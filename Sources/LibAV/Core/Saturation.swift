extension FixedWidthInteger {
    /// Returns the sum, clamped to the type's range; for untrusted values.
    package func adding(upToLimit other: Self) -> Self {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? Self.min : Self.max) : sum
    }

    /// Returns the product, clamped to the type's range.
    package func multiplied(upToLimit other: Self) -> Self {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? ((self < 0) != (other < 0) ? Self.min : Self.max) : product
    }
}
