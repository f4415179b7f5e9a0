/// The stream on which a run is shown to people.
package struct Console: Sendable {
    /// Whether it is a terminal that understands control sequences.
    package var isInteractive: Bool
    /// Whether text is coloured.
    package var usesColor: Bool
    /// Returns the number of columns.
    package var width: @Sendable () -> Int
    /// Writes text as it is.
    package var write: @Sendable (String) -> Void

    /// Describes a stream.
    package init(
        isInteractive: Bool, usesColor: Bool, width: @escaping @Sendable () -> Int,
        write: @escaping @Sendable (String) -> Void
    ) {
        self.isInteractive = isInteractive
        self.usesColor = usesColor
        self.width = width
        self.write = write
    }
}
