internal import Foundation

/// The section of a rule in docs/rules.md: a failing example, its message and the corrected example.
package struct RulePage: Sendable {
    /// Rule id, from the heading.
    package let id: String
    /// `jobs.yaml` of the failing example.
    package private(set) var failing = ""
    /// Other files of the failing example, by name.
    package private(set) var files: [String: String] = [:]
    /// Arguments of `tandem` for the failing example.
    package private(set) var call: [String] = []
    /// Console block with the call's output.
    package private(set) var message = ""
    /// File that the fix changes, with its new text; nil if the fix changes the call.
    package private(set) var corrected: (name: String, text: String)?
    /// Arguments of `tandem` after the fix; nil if the fix changes a file.
    package private(set) var correctedCall: [String]?

    /// Rules whose messages differ between machines or require a crash; their examples are not compared.
    package static let unverified: Set<String> = ["encoder-missing", "low-space", "worker-died"]

    /// Whether the message depends on `jobs.yaml` alone.
    package var isOfFileAlone: Bool {
        call == ["validate", "jobs.yaml"] && files.isEmpty && !Self.unverified.contains(id)
    }

    /// Returns the sections in the order of the page.
    package static func all() throws -> [RulePage] {
        try text().components(separatedBy: "\n### ").dropFirst().map { RulePage(section: $0) }
    }

    /// Returns the text of docs/rules.md.
    package static func text() throws -> String {
        try String(contentsOfFile: TestPaths.repository + "/docs/rules.md", encoding: .utf8)
    }

    private init(section: String) {
        id = String(section.prefix { $0 != "\n" })
        // Fenced blocks have odd indices, the text between them even ones.
        let parts = section.components(separatedBy: "```")
        for index in stride(from: 1, to: parts.count, by: 2) {
            let paragraphs = parts[index - 1].trimmingCharacters(in: .whitespacesAndNewlines)
                .components(separatedBy: "\n\n")
            add(parts[index], after: paragraphs.last ?? "")
        }
    }

    /// Adds a fenced block. The preceding paragraph determines its meaning.
    private mutating func add(_ block: String, after lead: String) {
        let language = String(block.prefix { $0 != "\n" })
        let text = String(block.dropFirst(language.count + 1))
        let words = lead.replacingOccurrences(of: "\n", with: " ").components(separatedBy: "`")
        let quoted = stride(from: 1, to: words.count, by: 2).map { words[$0] }
        if language == "text" {
            message = text
            call = Self.arguments(quoted.first { $0.hasPrefix("tandem ") } ?? "")
        } else if language == "sh" {
            correctedCall = Self.arguments(text)
        } else if lead.hasPrefix("Failing example") {
            failing = text
        } else if lead.hasPrefix("Corrected") {
            corrected = (quoted.first ?? "jobs.yaml", text)
        } else if let name = quoted.first {
            files[name] = text
        }
    }

    private static func arguments(_ command: String) -> [String] {
        command.split(whereSeparator: \.isWhitespace).dropFirst().map(String.init)
    }
}
