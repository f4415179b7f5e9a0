/// The stream on which a run is displayed.
package struct Console: Sendable {
    /// Whether the stream is a terminal that supports control sequences.
    package var isInteractive: Bool
    /// Whether text is colored.
    package var usesColor: Bool
    /// Function that returns the number of columns.
    package var width: @Sendable () -> Int
    /// Function that writes text unchanged.
    package var write: @Sendable (String) -> Void

    /// Creates a console.
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
