internal import Diagnostics
internal import JobSpec
internal import JobStages

/// The arguments of a command line, after the program's name.
package struct CommandWords: Sendable {
    package let words: [String]

    package init(_ words: some Sequence<String>) { self.words = Array(words) }

    /// Options of other tools that no command has, each with the equivalent in Tandem.
    private static let foreignOptions = [
        "--dry-run": "`tandem plan` prints what a run would do",
        "--json": "use --format json",
        "--watch": "`tandem watch FILE…` runs jobs whenever their files appear or change",
        "-i": "a job file names its source; `tandem init MEDIA` prints one",
        "-y": "`if_exists: replace` of a destination replaces an existing file; `clean` has --yes",
        "-o": "a job file names its `destination`",
        "--output": "a job file names its `destination`",
        "--timeout": "`timeout` is a key of a job",
        "--threads": "`threads` is a key of a job",
    ]

    /// Returns an error message if the first word isn't a command, if a word after `help` is neither a command nor a
    /// topic, or if there is an option of another tool; nil for words that the argument parser validates.
    package func problem(commands: [String]) -> String? {
        let names = commands + [Self.help]
        if let word = words.first, !word.hasPrefix("-"), !names.contains(word) {
            let help =
                Suggestion.help(for: word, among: names) ?? "expected one of \(names.joined(separator: ", "))"
            return "unknown command `\(TextRenderer.printable(word))`; \(help)"
        }
        if let problem = topicProblem(commands: names) { return problem }
        for word in words.prefix(while: { $0 != "--" }) {
            let option = String(word.prefix { $0 != "=" })
            if let help = Self.foreignOptions[option] { return "unknown option `\(option)`; \(help)" }
        }
        return nil
    }

    private func topicProblem(commands: [String]) -> String? {
        guard words.first == Self.help, let word = words.dropFirst().first, !commands.contains(word) else {
            return nil
        }
        let topics = Self.topics.names
        guard let unknown = words.dropFirst().first(where: { !$0.hasPrefix("-") && !topics.contains($0) })
        else { return nil }
        let help =
            Suggestion.help(for: unknown, among: commands + topics)
            ?? "`tandem help` lists commands and topics"
        return "unknown command or topic `\(TextRenderer.printable(unknown))`; \(help)"
    }

    /// Returns the help about topics of the job language that the words request, or the list of all topics after
    /// `overview`, with lines of at most `width` columns and without a final newline; nil for other commands, and for
    /// help about a command.
    package func help(overview: @autoclosure () -> String, width: Int) -> String? {
        guard words.first == Self.help else { return nil }
        if words.count == 1 {
            return overview() + "\n\n" + Self.topics.listing(width: width).dropLast()
        }
        let texts = words.dropFirst().map { Self.topics.text(of: $0, width: width) }
        guard !texts.contains(nil) else { return nil }
        return String(texts.compactMap(\.self).joined(separator: "\n").dropLast())
    }

    private static let help = "help"
    private static var topics: HelpTopics { HelpTopics(statuses: RunStatus.reference) }

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
