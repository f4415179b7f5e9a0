/// The resource limits of a job file, which is untrusted input.
package struct YAMLLimits: Sendable {
    /// Maximum levels of nesting. The time of libyaml's scanner is quadratic in them.
    package var depth = 64
    /// Maximum size of a file in bytes.
    package var fileSize = 32 << 20
    /// Maximum size of a scalar in bytes.
    package var scalarSize = 64 << 10
    /// Maximum number of nodes that aliases expand to.
    package var aliasedNodes = 1_000_000

    /// Creates the default limits.
    package init() {}
}
