internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
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

    /// The result of planning a job.
    enum Result {
        case plan(JobPlan)
        /// The job is skipped.
        case skip(BatchPlan.Skip)

        /// The plan; nil for a job that is skipped.
        var plan: JobPlan? { if case .plan(let plan) = self { plan } else { nil } }
    }

    /// Returns the plan of the job, or the reason why the job is skipped; nil after an error.
    func decide(_ destinations: inout DestinationTable) -> Decision<Result> {
        var reasons = Reasons()
        if let skip = skippedSource() { return Decision(.skip(skip)) }
        let result = result(&destinations, into: &reasons.diagnostics)
        return Decision(reasons.hasErrors ? nil : result, reasons)
    }

    private func skip(_ reason: String, at location: SourceRange) -> BatchPlan.Skip {
        BatchPlan.Skip(
            id: job.id.value, base: job.base, file: file.path, location: location, reason: reason)
    }

    /// Returns the skip of a job that reads an output of a skipped job; nil for any other job.
    private func skippedSource() -> BatchPlan.Skip? {
        for part in job.asset.parts {
            guard case .job(let id, let instance, let output) = part.source,
                case .skipped = outputs[instance, output?.value]
            else { continue }
            return skip("the job `\(instance)`, whose output it reads, is skipped", at: id.range)
        }
        return nil
    }

    /// Returns the skip of a job whose condition doesn't hold; nil for any other job. `note` is set if the condition can't be
    /// evaluated yet.
    private func failedCondition(
        on input: ResolvedInput, into sink: inout DiagnosticSink, _ note: inout String?
    ) -> BatchPlan.Skip? {
        guard let when = job.when else { return nil }
        let conditions = ConditionEvaluator(input, prober: catalog.prober)
        do throws(SourceProblem) {
            let finding = try conditions.evaluate(when)
            switch finding.outcome {
            case .holds: note = "`when` holds: \(finding.text)"
            case .unknown: note = RuleSelection.postponed("the job runs", finding)
            case .fails: return skip(finding.text, at: when.range)
            }
        } catch {
            sink.error(.sourceUnreadable, "the source can't be read: \(error)", at: job.asset.range)
        }
        return nil
    }

    private func result(_ destinations: inout DestinationTable, into sink: inout DiagnosticSink) -> Result? {
        guard !job.isTemplate, !job.outputs.contains(where: { $0.lacksContainer && !$0.isUndivided })
        else {
            sink.error(.noMatch, "the source of this job was not found", at: job.asset.range)
            return nil
        }
        let resolver = InputResolver(
            catalog: catalog, file: file, outputs: outputs, keepsFullChroma: job.requestsFullChroma)
        var found = DiagnosticSink()
        let input = resolver.input(of: job, into: &found)
        sink.add(found)
        var note: String?
        if let input, let skip = failedCondition(on: input, into: &sink, &note) { return .skip(skip) }
        if let input { reportUndivided(input.description, into: &sink) }
        guard !job.isUndivided else { return nil }
        let targets = targets(&destinations, into: &sink)
        let covers = catalog.covers(of: job, in: file, into: &sink)
        guard targets.count == job.outputs.count, let input else { return nil }
        checkCompleteness(of: input, into: &sink)
        var plan = JobPlan(
            id: job.id.value, base: job.base, needs: job.needs.map(\.value), file: file.path,
            location: job.id.range, inputs: [], outputs: [], scheduling: job.scheduling,
            publishIf: job.publishIf)
        var omissions = job.omissions
        var omitted: [String] = []
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
                let decision = decide(
                    output, from: input, at: destination,
                    with: AddedFiles(
                        cover: covers[position],
                        subtitles: { catalog.subtitles($0, of: file, isOptional: $1) },
                        fonts: { catalog.fonts }))
            else { continue }
            sink.add(decision.reasons.diagnostics)
            guard var planned = decision.value else {
                if let id = output.id, !decision.reasons.hasErrors {
                    let reason = decision.reasons.notes.joined(separator: "; ")
                    omissions.append("the output `\(id.value)` is omitted: \(reason)")
                    if !omitted.contains(reason) { omitted.append(reason) }
                }
                continue
            }
            planned.output.warnings = found.warnings + decision.reasons.diagnostics.warnings
            planned.output.notes =
                (note.map { [$0] } ?? []) + (input.composed?.notes ?? []) + planned.output.notes
            plan.add(planned.output, from: planned.input)
            // The expectations of a check are evaluated while its source is read.
            guard let destination else { continue }
            let task = OutputTask(
                job: plan.id, file: plan.file, input: planned.input, output: planned.output)
            for written in task.written { ExpectationForecast(written).report(into: &sink) }
            checkFiles(of: task, output, at: destination, into: &sink)
        }
        if plan.outputs.isEmpty, !sink.hasErrors {
            sink.error(
                .noSuchTrack, "the job has no output: \(omitted.joined(separator: "; "))", at: job.id.range)
            return nil
        }
        if !job.dividedOutputs.isEmpty { plan.dividedOutputs = job.dividedOutputs }
        if !omissions.isEmpty { plan.outputs[0].notes.insert(contentsOf: omissions, at: 0) }
        return .plan(plan)
    }

    /// Reports outputs of one track each for which the source has no track, or too many.
    private func reportUndivided(_ description: SourceDescription, into sink: inout DiagnosticSink) {
        for output in job.outputs where output.isUndivided {
            guard let division = output.division else { continue }
            let matching = description.tracks(of: division.mediaType, matching: division.selection)
            guard matching.isEmpty else {
                sink.error(
                    .fanOut,
                    "a job can have at most \(JobSpec.mostOutputs) outputs, and the source has \(counted(matching.count, "track")) for this destination",
                    at: division.range)
                continue
            }
            let type = division.mediaType.rawValue
            let count = description.tracks(of: division.mediaType).count
            sink.error(
                .noSuchTrack,
                "no \(type) track matches\(division.selection.alternatives), so that nothing is written: the source has \(count == 0 ? "no \(type)" : counted(count, "\(type) track"))",
                at: division.selection.range,
                help: division.isOptional || job.outputs.count == 1
                    ? "`when` skips sources without such a track"
                    : "with `optional: true` the other outputs of the job are written; `when` skips sources without such a track"
            )
        }
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
