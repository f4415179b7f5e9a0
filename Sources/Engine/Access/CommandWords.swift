internal import Diagnostics

/// The arguments of a command line, after the program's name.
package struct CommandWords: Sendable {
    package let words: [String]

    package init(_ words: some Sequence<String>) { self.words = Array(words) }

    /// Options of other tools that no command has, each with the equivalent in Tandem.
    private static let foreignOptions = [
        "--dry-run": "`tandem plan` prints what a run would do",
        "--json": "use --format json",
        "-i": "a job file names its source; `tandem init MEDIA` prints one",
        "-y": "`if_exists: replace` of a destination replaces an existing file; `clean` has --yes",
        "-o": "a job file names its `destination`",
        "--output": "a job file names its `destination`",
        "--timeout": "`timeout` is a key of a job",
        "--threads": "`threads` is a key of a job",
    ]

    /// Returns an error message if the first word, or the word after `help`, isn't a command, or if there is an option
    /// of another tool; nil for words that the argument parser validates.
    package func problem(commands: [String]) -> String? {
        let names = commands + ["help"]
        let command = words.first == "help" ? words.dropFirst().first : words.first
        if let word = command, !word.hasPrefix("-"), !names.contains(word) {
            let help =
                Suggestion.help(for: word, among: names) ?? "expected one of \(names.joined(separator: ", "))"
            return "unknown command `\(TextRenderer.printable(word))`; \(help)"
        }
        for word in words.prefix(while: { $0 != "--" }) {
            let option = String(word.prefix { $0 != "=" })
            if let help = Self.foreignOptions[option] { return "unknown option `\(option)`; \(help)" }
        }
        return nil
    }

    /// Arguments that repeat a run: the words without `--only` and `--force`.
    package var repeatingRun: [String] {
        var result: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--only" { _ = rest.popFirst() }
            if word == "--only" || word == "--force" || word.hasPrefix("--only=") { continue }
            result.append(word)
        }
        return result
    }
}
