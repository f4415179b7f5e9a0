import Engine
import Foundation
import JobPlan
import TestSupport
import Testing

/// Tests command-line errors for which the argument parser has no helpful message.
@Suite struct CommandWordsTests {
    private static let commands = ["validate", "run"]

    private func problem(_ words: String...) -> String? {
        CommandWords(words).problem(commands: Self.commands)
    }

    @Test func commandsAndTheirOptionsHaveNoProblem() {
        #expect(problem() == nil)
        #expect(problem("help", "run") == nil)
        #expect(problem("--version") == nil)
        #expect(problem("run", "a.yaml", "--jobs", "2", "-q") == nil)
        #expect(problem("run", "--", "-i") == nil)
    }

    @Test func misspelledCommandsHaveASuggestion() {
        #expect(problem("vaildate", "a.yaml") == "unknown command `vaildate`; did you mean `validate`?")
        #expect(problem("help", "validat") == "unknown command or topic `validat`; did you mean `validate`?")
        #expect(problem("help", "--help") == nil && problem("help") == nil)
        #expect(problem("encode") == "unknown command `encode`; expected one of validate, run, help")
    }

    @Test(arguments: ["--dry-run", "--json", "-i", "-y", "-o", "--output=x.mp4", "--timeout", "--threads"])
    func optionsOfOtherToolsAreExplained(_ word: String) throws {
        let message = try #require(problem("run", word, "a.yaml"))
        #expect(message.hasPrefix("unknown option `\(word.prefix { $0 != "=" })`; "), "\(message)")
    }

    @Test func repetitionOmitsSelectionAndForce() {
        let words = ["run", "--only", "a", "x.yaml", "--force", "--only=b", "--jobs", "2"]
        #expect(CommandWords(words).repeatingRun == ["run", "x.yaml", "--jobs", "2"])
    }

    @Test func theChangelogDescribesThisVersion() throws {
        let text = try String(contentsOfFile: TestPaths.repository + "/CHANGELOG.md", encoding: .utf8)
        let versions = text.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
        let newest = try #require(versions.first { $0 != "Unreleased" })
        #expect(newest == ProgramVersion.current)
    }
}
