import Engine
import Foundation
import TestSupport
import Testing

/// The names of job files and the schema, as editors and hooks use them.
@Suite struct EditorTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: TestPaths.repository + "/" + path, encoding: .utf8)
    }

    private func matches(_ name: String) -> Bool {
        JobFileName.patterns.contains { fnmatch($0, name, 0) == 0 }
    }

    @Test(arguments: [
        ("media/talk.mov", "talk.tandem.yaml"), ("we \"ird\n ${x}.mp4", "we--ird----x-.tandem.yaml"),
        ("日本.mp4", "tandem.yaml"), ("/", "tandem.yaml"), (".hidden", "hidden.tandem.yaml"),
        ("https://host/a.mp4", "a.tandem.yaml"),
    ]) func suggestedNamesMatchThePatterns(_ source: String, _ name: String) {
        #expect(JobFileName.suggested(for: source) == name)
        #expect(matches(name))
    }

    @Test func catalogHookAndPageHaveThePatterns() throws {
        let entry =
            try JSONSerialization.jsonObject(with: Data(text("schemas/schemastore-entry.json").utf8))
            as? [String: Any]
        #expect(entry?["fileMatch"] as? [String] == JobFileName.patterns)
        #expect((entry?["url"] as? String)?.hasSuffix("/schemas/tandem-v1.schema.json") == true)
        let hook = try #require(
            text(".pre-commit-hooks.yaml").split(separator: "\n").first { $0.hasPrefix("  files: ") })
        let expression = try NSRegularExpression(pattern: String(hook.dropFirst("  files: ".count)))
        for name in ["tandem.yaml", "jobs/tandem.yml", "a.tandem.yaml", "jobs/b.tandem.yml"] {
            #expect(expression.firstMatch(in: name, range: NSRange(name.startIndex..., in: name)) != nil)
        }
        let page = try text("docs/editors.md")
        for pattern in JobFileName.patterns {
            #expect(page.components(separatedBy: pattern).count > 4, "\(pattern)")
        }
        #expect(!matches("docker-compose.yaml") && !matches("tandem.yaml.orig"))
    }

    /// Each example and included file names the schema in the repository.
    @Test func examplesNameTheSchema() throws {
        let folder = TestPaths.repository + "/jobs"
        let names = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".yaml") && !$0.contains(".tandem/") && !$0.hasPrefix("out/") }
        #expect(names.count > 20)
        for name in names {
            let line = try text("jobs/" + name).prefix { $0 != "\n" }
            let start = "# yaml-language-server: $schema="
            #expect(line.hasPrefix(start), "\(name)")
            let file = URL(fileURLWithPath: folder + "/" + name).deletingLastPathComponent()
                .appendingPathComponent(String(line.dropFirst(start.count))).standardizedFileURL
            #expect(file.path == TestPaths.repository + "/schemas/tandem-v1.schema.json", "\(name)")
        }
    }

    /// The expression of the page's task matches diagnostics of `tandem validate`.
    @Test func taskMatchesDiagnostics() throws {
        let page = try text("docs/editors.md")
        let line = try #require(page.split(separator: "\n").first { $0.contains("\"regexp\": ") })
        let object =
            try JSONSerialization.jsonObject(with: Data("{\(line.dropLast())}".utf8)) as? [String: String]
        let expression = try NSRegularExpression(pattern: #require(object?["regexp"]))
        let scratch = try Scratch()
        try scratch.write("version: 1\njobs: { a: { aset: x } }\n", to: "jobs.yaml")
        let result = try program(TestPaths.tandem, ["validate", "jobs.yaml"], directory: scratch.path)
        let first = try #require(result.errors.split(separator: "\n").first).description
        let match = try #require(
            expression.firstMatch(in: first, range: NSRange(first.startIndex..., in: first)))
        let parts = (1..<match.numberOfRanges).map { String(first[Range(match.range(at: $0), in: first)!]) }
        #expect(Array(parts.prefix(5)) == ["jobs.yaml", "2", "14", "error", "unknown-key"])
    }
}
