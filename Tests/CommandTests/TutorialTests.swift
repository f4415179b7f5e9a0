import Foundation
import TestSupport
import Testing

/// Runs the files and commands of the tutorials in `docs`, in order, in one folder each.
@Suite struct TutorialTests {
    /// A file or a command of the page.
    private enum Step {
        /// A file: a block ```` ```yaml title=NAME ````.
        case file(name: String, lines: [String])
        /// A command: a line `$ COMMAND` of a block ```` ```console ````, with the output shown below it.
        case command(String, output: [String])
    }

    /// Placeholder on the page for omitted output lines.
    private static let omission = "…"
    /// Folder in which the page runs the commands.
    private static let folder = "/home/user/tutorial"

    private static func steps(of page: String) throws -> [Step] {
        let page = try String(contentsOfFile: TestPaths.repository + "/docs/" + page, encoding: .utf8)
        var steps: [Step] = []
        var block: (info: String, lines: [String])?
        for line in page.components(separatedBy: "\n") {
            guard let (info, lines) = block else {
                if line.hasPrefix("```") { block = (String(line.dropFirst(3)), []) }
                continue
            }
            guard line == "```" else {
                block?.lines.append(line)
                continue
            }
            if info == "console" {
                steps += try commands(of: lines)
            } else if let title = info.components(separatedBy: "title=").dropFirst().first {
                steps.append(.file(name: title, lines: lines))
            }
            block = nil
        }
        if let block { throw ProgramError(message: "a block isn't closed: \(block.info)") }
        return steps
    }

    /// Returns the commands of a console block.
    private static func commands(of lines: [String]) throws -> [Step] {
        var commands: [Step] = []
        for line in lines {
            if line.hasPrefix("$ ") {
                commands.append(.command(String(line.dropFirst(2)), output: []))
            } else if case .command(let command, let output)? = commands.popLast() {
                commands.append(.command(command, output: output + [line]))
            } else {
                throw ProgramError(message: "`\(line)` precedes the first command of its block")
            }
        }
        return commands
    }

    /// Replaces values that differ between runs and machines: times, sizes, speeds and levels.
    private static func normalized(_ line: String, in scratch: Scratch) -> String {
        let patterns = [
            #"\d{4}-\d\d-\d\dT[0-9:]+Z"#, #"\b\d+(\.\d+)? (B|kB|MB)\b"#, #"\b\d+(\.\d+)?x\b"#,
            #"\b\d+(\.\d+)? s\b"#, #"-?\d+\.\d LUFS"#,
        ]
        var text = line.replacingOccurrences(of: scratch.path, with: folder)
        for pattern in patterns {
            text = text.replacingOccurrences(of: pattern, with: "#", options: .regularExpression)
        }
        return text
    }

    /// Returns the lines of a CI configuration that run Tandem.
    private static func tandemCommands(of lines: [String]) -> [String] {
        lines.compactMap { line in
            var text = line.trimmingCharacters(in: .whitespaces)
            for prefix in ["- ", "run: "] where text.hasPrefix(prefix) {
                text.removeFirst(prefix.count)
            }
            return text.hasPrefix("tandem ") ? text : nil
        }
    }

    /// Each command exits with status 0 and prints the lines that the page shows, in any order, because jobs run
    /// concurrently. Without a placeholder for omitted lines, it prints no others.
    @Test(arguments: [("tutorial.md", 16), ("decisions.md", 9)])
    func commandOutputMatchesThePage(_ page: String, atLeast fewest: Int) throws {
        let scratch = try Scratch()
        var commands = 0
        for step in try Self.steps(of: page) {
            switch step {
            case .file(let name, let lines):
                try scratch.write(lines.joined(separator: "\n") + "\n", to: name)
            case .command(let command, let output):
                commands += 1
                try Self.check(command, shown: output, in: scratch)
            }
        }
        #expect(commands >= fewest)
    }

    /// Runs a command and compares its output with the lines that the page shows.
    private static func check(_ command: String, shown: [String], in scratch: Scratch) throws {
        let programs = URL(fileURLWithPath: TestPaths.tandem).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let result = try program(
            "bash", ["-c", "exec 2>&1\n" + command], directory: scratch.path,
            environment: [
                "PATH": programs + ":" + path, "GITHUB_ACTIONS": "", "SWIFT_BACKTRACE": "enable=no",
            ])
        #expect(result.status == 0, "\(command): \(result.text)")
        var printed = result.text.components(separatedBy: "\n").map { normalized($0, in: scratch) }
        if printed.last == "" { printed.removeLast() }
        for line in shown where line != omission {
            if let index = printed.firstIndex(of: normalized(line, in: scratch)) {
                printed.remove(at: index)
            } else {
                Issue.record("`\(command)` doesn't print `\(line)`:\n\(result.text)")
            }
        }
        if !shown.contains(omission) {
            #expect(printed.isEmpty, "`\(command)` prints more than the page shows:\n\(result.text)")
        }
    }

    /// The commands of the CI configurations also occur in console blocks of the page, which run above.
    @Test func commandsOfTheCIConfigurationsRun() throws {
        let steps = try Self.steps(of: "tutorial.md")
        var run: Set<String> = []
        for case .command(let command, _) in steps { run.insert(command) }
        var configurations = 0
        for case .file(let name, let lines) in steps where name.hasSuffix(".yml") {
            configurations += 1
            let commands = Self.tandemCommands(of: lines)
            #expect(!commands.isEmpty, "\(name)")
            for command in commands { #expect(run.contains(command), "\(name): \(command)") }
        }
        #expect(configurations == 2)
    }
}
