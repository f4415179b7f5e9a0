internal import Diagnostics

/// Open Job Description, the job format of render farm managers: a job template whose tasks are the parts, and a last step
/// that collects the results.
struct OpenJobDescriptionExport: PartExport {
    var service: String { "Open Job Description" }
    var fileName: String { "template.json" }
    var stopsAtFailures: Bool { true }

    func commands(path: String) -> (start: String, cancel: String?) {
        ("openjd run \(SafeText.shellWord(path))", nil)
    }

    func document(of submission: Submission, in folder: SubmissionFolder) throws(EngineError) -> String {
        // Words with two braces are format strings, which have no escape.
        let words = submission.command.collect(folder.batch) + [folder.path]
        let hasBraces = { (word: String) in
            zip(word.utf8, word.utf8.dropFirst()).contains { $0 == $1 && Self.braces.contains($0) }
        }
        guard !words.contains(where: hasBraces) else {
            throw EngineError(.usage, "paths with `{{` or `}}` can't be used in Open Job Description")
        }
        do {
            return try JSONFormat.text(of: template(submission, in: folder), keys: .unchanged)
        } catch {
            throw EngineError(.environment, "the template can't be encoded: \(error)")
        }
    }

    private func template(_ submission: Submission, in folder: SubmissionFolder) -> JobTemplate {
        let resources = submission.resources
        let amounts = [
            resources.processors.map { JobTemplate.Amount(name: "amount.worker.vcpu", min: $0) },
            resources.memory.map {
                JobTemplate.Amount(name: "amount.worker.memory", min: Int(($0 + (1 << 20) - 1) >> 20))
            },
        ].compactMap(\.self)
        var first = 0
        // Tasks are positions in the list of parts, in which the groups follow each other.
        let run = submission.groups.enumerated().map { index, group in
            defer { first += group.parts.count }
            return JobTemplate.Step(
                name: Self.runSteps[index],
                dependencies: group.isDelayed ? [JobTemplate.Dependency(dependsOn: Self.runSteps[0])] : nil,
                parameterSpace: JobTemplate.ParameterSpace(taskParameterDefinitions: [
                    JobTemplate.Parameter(
                        name: Self.index, range: "\(first)-\(first + group.parts.count - 1)")
                ]),
                hostRequirements: amounts.isEmpty ? nil : JobTemplate.HostRequirements(amounts: amounts),
                script: JobTemplate.Script(
                    command: "/bin/sh", args: [folder.file(PartScript.name), "{{Task.Param.\(Self.index)}}"],
                    timeout: resources.timeLimit.flatMap(ClusterResources.seconds(ofTime:))))
        }
        let collect = submission.command.collect(folder.batch)
        return JobTemplate(
            name: submission.name,
            steps: run + [
                JobTemplate.Step(
                    name: "Collect", dependencies: run.map { JobTemplate.Dependency(dependsOn: $0.name) },
                    script: JobTemplate.Script(command: collect[0], args: Array(collect.dropFirst())))
            ])
    }

    private static let braces = Set("{}".utf8)
    private static let index = "Index"
    private static let runSteps = ["Parts", "Parts2", "Parts3"]
}
