extension FixedWidthInteger {
    /// The sum, or the nearest number that there is: for what files and workers say.
    package func adding(upToLimit other: Self) -> Self {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? Self.min : Self.max) : sum
    }
}
