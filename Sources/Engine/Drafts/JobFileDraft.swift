internal import Diagnostics
package import JobPlan
internal import JobSpec
internal import YAMLDocument
internal import LibAV

/// A job file generated for a source that can be planned without changes. Draft versions are planned to find the tracks
/// that need to be omitted, and the comments on tracks without a rule.
package struct JobFileDraft {
    /// Text of the file; nil if no track of the source can be encoded.
    package let text: String?
    /// Reasons why tracks have no rule, or why no file was generated.
    package let problems: [String]

    /// Plans draft versions until one has no errors.
    package init(_ template: JobFileTemplate, prober: any SourceProber) {
        var template = template
        var problems: [String] = []
        guard template.isUsable else {
            (text, self.problems) = (nil, [])
            return
        }
        // Each iteration removes at least one rule.
        for _ in 0...template.source.tracks.count {
            let draft = template.render(isDraft: true)
            let (plan, diagnostics) = Self.plan(draft.text, prober)
            let errors = diagnostics.diagnostics.filter { $0.severity == .error }
            if errors.isEmpty {
                for entry in plan?.ledger ?? [] {
                    guard let track = entry.track, template.unruled[track] == nil else { continue }
                    template.unruled[track] =
                        entry.outcome == .dropped ? "dropped: \(entry.reason)" : "kept: \(entry.reason)"
                }
                break
            }
            problems = errors.map(\.message)
            var isReduced = false
            for error in errors {
                guard let trackLines = draft.tracks.first(where: { $0.lines.contains(error.range.line) }),
                    template.omitted[trackLines.index] == nil
                else { continue }
                template.omitted[trackLines.index] = error.message
                isReduced = true
            }
            guard isReduced else {
                (text, self.problems) = (nil, problems)
                return
            }
            guard template.isUsable else { break }
        }
        (text, self.problems) = (template.isUsable ? template.render().text : nil, problems)
    }

    private static func plan(_ text: String, _ prober: any SourceProber) -> (OutputPlan?, DiagnosticSink) {
        var sink = DiagnosticSink()
        let root = YAMLParser.parse(Array(text.utf8), file: "init", into: &sink)
        let result = JobFileDecoder.decode(
            root, path: "init", directory: SystemSpecFiles.folder(of: "init"),
            options: SpecOptions(allowsNetwork: prober.environment.allowsNetwork),
            after: sink)
        do throws(Pipeline.Rejection) {
            let planned = try Pipeline.Loaded(result).checked().opened(by: prober).planned()
            return (planned.plan.jobs.first?.outputs.first, planned.diagnostics)
        } catch {
            return (nil, error.diagnostics)
        }
    }
}
