/// The stream to which a run's progress is written.
package struct Console: Sendable {
    /// Whether the stream is a terminal that supports control sequences.
    package var isInteractive: Bool
    /// Whether output is colored.
    package var usesColor: Bool
    /// Returns the number of columns.
    package var width: @Sendable () -> Int
    /// Writes text unchanged.
    package var write: @Sendable (String) -> Void

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
