internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import Media
internal import Publishing

/// The planner of one job: its input, its destinations, and each of its outputs.
struct JobPlanner {
    let job: JobSpec
    let file: JobFile
    let catalog: SourceCatalog
    /// Outputs of other jobs that the job reads.
    let outputs: ReadOutputs
    /// The check of the destinations; nil if they were checked before.
    let destinationCheck: DestinationCheck?

    /// Returns the plan of the job; nil after an error.
    func decide(_ destinations: inout DestinationTable) -> Decision<JobPlan> {
        var reasons = Reasons()
        let plan = plan(&destinations, into: &reasons.diagnostics)
        return Decision(reasons.hasErrors ? nil : plan, reasons)
    }

    private func plan(_ destinations: inout DestinationTable, into sink: inout DiagnosticSink) -> JobPlan? {
        guard !job.isTemplate, !job.outputs.contains(where: \.lacksContainer) else {
            sink.error(.noMatch, "the source of this job was not found", at: job.asset.range)
            return nil
        }
        let targets = targets(&destinations, into: &sink)
        let covers = catalog.covers(of: job, in: file, into: &sink)
        let resolver = InputResolver(
            catalog: catalog, file: file, outputs: outputs, keepsFullChroma: job.requestsFullChroma)
        guard targets.count == job.outputs.count, let input = resolver.input(of: job, into: &sink) else {
            return nil
        }
        checkCompleteness(of: input, into: &sink)
        var plan = JobPlan(
            id: job.id.value, base: job.base, needs: job.needs.map(\.value), file: file.path,
            location: job.id.range, inputs: [], outputs: [], scheduling: job.scheduling)
        for (position, (output, destination)) in zip(job.outputs, targets).enumerated() {
            if let destination, let written = output.destination,
                !output.lacksContainer,
                !output.namesEachImage
            {
                destinationCheck?.check(
                    destination, as: written, of: file.path, kind: output.isFolder ? .folder : .file,
                    into: &sink)
            }
            guard
                let decision = decide(output, from: input, at: destination, cover: covers[position])
            else { continue }
            sink.add(decision.reasons.diagnostics)
            guard var planned = decision.value else { continue }
            planned.output.notes = (input.composed?.notes ?? []) + planned.output.notes
            plan.add(planned.output, from: planned.input)
            // The expectations of a check are evaluated while its source is read.
            guard let destination else { continue }
            let task = OutputTask(
                job: plan.id, file: plan.file, input: planned.input, output: planned.output)
            for written in task.written { ExpectationForecast(written).report(into: &sink) }
            checkFiles(of: task, output, at: destination, into: &sink)
        }
        return plan
    }

    /// Reports a truncated file, unless the job processes what is left of it.
    private func checkCompleteness(of input: ResolvedInput, into sink: inout DiagnosticSink) {
        let missing = input.description.missingBytes
        guard missing > 0, job.onDamage?.value != .skip, case .file(let path, _) = input.source else {
            return
        }
        sink.error(
            .sourceUnreadable,
            "\(path.pathParts.last ?? path) is truncated: \(missing) bytes are missing", at: job.asset.range,
            notes: [Diagnostic.Note("the path is \(path)")],
            help: "use `on_damage: skip` to process the rest")
    }

    /// Checks the files of an output whose names follow from the plan, and the owner of each.
    private func checkFiles(
        of task: OutputTask, _ output: OutputSpec, at destination: DestinationPath,
        into sink: inout DiagnosticSink
    ) {
        guard let check = destinationCheck, let written = output.destination else { return }
        for (index, part) in task.files.enumerated() {
            let path = part.output.destination?.pathParts.last.map { destination.sibling($0) } ?? destination
            if index > 0 || output.namesEachImage {
                check.check(path, as: written, of: file.path, kind: .file, into: &sink)
                if sink.hasErrors { break }
            }
            check.checkOwner(of: part, at: path, as: written, into: &sink)
        }
    }

    /// Returns the resolved destination of each output, nil for a check; fewer after an error.
    private func targets(
        _ destinations: inout DestinationTable, into sink: inout DiagnosticSink
    ) -> [DestinationPath?] {
        var targets: [DestinationPath?] = []
        for output in job.outputs {
            guard let written = output.destination?.path else {
                targets.append(nil)
                continue
            }
            guard let path = destinations.resolve(file.absolutePath(written)) else {
                sink.error(
                    .destinationUnwritable, "the parent of `\(written.value)` is not a folder",
                    at: written.range)
                continue
            }
            targets.append(path)
        }
        return targets
    }
}
