/// What a job file may ask of the machine; job files are untrusted.
public struct YAMLLimits: Sendable {
    /// Levels of nesting. libyaml's scanner is quadratic in it.
    public var depth = 64
    /// Bytes of a file.
    public var fileSize = 32 << 20
    /// Bytes of a scalar.
    public var scalarSize = 64 << 10
    /// Nodes that aliases bring in.
    public var aliasedNodes = 1_000_000

    /// The usual limits.
    public init() {}
}
