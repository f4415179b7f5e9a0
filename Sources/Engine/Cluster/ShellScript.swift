internal import Diagnostics

/// Scripts for POSIX shells.
enum ShellScript {
    /// Returns a command line of quoted words.
    static func line(_ words: [String]) -> String { words.map(SafeText.singleQuoted).joined(separator: " ") }
}
