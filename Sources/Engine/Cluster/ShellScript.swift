/// Scripts for POSIX shells.
enum ShellScript {
    /// Returns a word that a shell reads as one word with the same bytes.
    static func quoted(_ word: String) -> String {
        "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    /// Returns a command line of quoted words.
    static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }
}
