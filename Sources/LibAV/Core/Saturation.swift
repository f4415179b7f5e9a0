extension FixedWidthInteger {
    /// The sum, or the nearest number that there is: for what files and workers say.
    package func adding(upToLimit other: Self) -> Self {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? Self.min : Self.max) : sum
    }

    /// The product, or the nearest number that there is.
    package func multiplied(upToLimit other: Self) -> Self {
        let (product, isTooLarge) = multipliedReportingOverflow(by: other)
        return isTooLarge ? ((self < 0) != (other < 0) ? Self.min : Self.max) : product
    }
}
