/// The resource limits of a job file, which is untrusted input.
package struct YAMLLimits: Sendable {
    /// Maximum number of nesting levels. The time of libyaml's scanner is quadratic in the depth.
    package var depth = 64
    /// Maximum size of a file in bytes.
    package var fileSize = 32 << 20
    /// Maximum size of a scalar in bytes.
    package var scalarSize = 64 << 10
    /// Maximum number of nodes to which all aliases of a file expand.
    package var aliasedNodes = 1_000_000

    package init() {}
}
