/// What a job file may ask of the machine; job files are untrusted.
package struct YAMLLimits: Sendable {
    /// Levels of nesting. libyaml's scanner is quadratic in it.
    package var depth = 64
    /// Bytes of a file.
    package var fileSize = 32 << 20
    /// Bytes of a scalar.
    package var scalarSize = 64 << 10
    /// Nodes that aliases bring in.
    package var aliasedNodes = 1_000_000

    /// The usual limits.
    package init() {}
}
