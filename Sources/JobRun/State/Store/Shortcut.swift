/// The digest of everything that determines an output before its source is probed, as recorded in the store.
struct Shortcut: Hashable, Sendable {
    /// SHA-256 in hexadecimal.
    var digest: String
    /// Number of the output's files, if it depends on the source; nil for an output that is one file.
    var fileCount: Int?

    /// Maximum number of files.
    private static let maxFiles = 10_000

    init(digest: String) { self.digest = digest }

    /// Parses recorded text: the digest, and the number of files after a space. Any text is accepted; text with another
    /// syntax doesn't match any digest.
    init(text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        digest = String(parts[0])
        guard parts.count == 2 else { return }
        fileCount = Int(parts[1]).flatMap { (1...Self.maxFiles).contains($0) ? $0 : nil }
        if fileCount == nil { digest = text }
    }

    /// The recorded text, in the syntax of `init(text:)`.
    var text: String { digest + (fileCount.map { " \($0)" } ?? "") }

    /// Returns the shortcut of an output with that number of files.
    func with(files count: Int) -> Shortcut {
        var shortcut = self
        shortcut.fileCount = count
        return shortcut
    }
}
