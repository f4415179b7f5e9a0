/// A persistent volume claim of Kubernetes and the path at which its volume is mounted.
package struct VolumeClaim: Codable, Hashable, Sendable {
    package var name: String
    package var path: String

    /// Creates a claim; nil if the name or the path isn't valid.
    package init?(name: String, path: String) {
        (self.name, self.path) = (name, path)
        guard isValid else { return nil }
    }

    /// Reads `NAME:PATH`; nil for other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        self.init(name: String(parts[0]), path: String(parts[1]))
    }

    /// Whether the name is one of Kubernetes (DNS subdomain) and the path is absolute, without `.`, `..` and `:`, and not
    /// the folder of temporary files. Values also come from the shared folder.
    var isValid: Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let hasLabels = labels.allSatisfy { label in
            [label.first, label.last].allSatisfy { $0.map(Self.isAlphanumeric) ?? false }
                && label.allSatisfy { Self.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
        let parts = mountPoint
        return hasLabels && name.utf8.count <= 253
            && path.utf8.first == UInt8(ascii: "/") && !parts.isEmpty && path.utf8.count <= 1024
            && !parts.contains(Array(".".utf8)) && !parts.contains(Array("..".utf8))
            && !path.utf8.contains(UInt8(ascii: ":")) && !path.utf8.contains(0)
            && parts != [Array("tmp".utf8)]
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
    }

    /// The components of the path, by which volumes are distinguished.
    var mountPoint: [[UInt8]] { Self.components(of: path) }

    private static func components(of path: String) -> [[UInt8]] {
        path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    /// Returns whether an absolute path is in the volume.
    func contains(_ other: String) -> Bool { Self.components(of: other).starts(with: mountPoint) }
}
