internal import JobPlan

/// The outputs of a plan that aren't up to date.
struct OutdatedOutputs {
    /// Outputs that must be created.
    private(set) var toCreate: [OutputPublisher] = []
    /// Existing outputs of the same plan, whose expectations have changed and must be evaluated.
    private(set) var toEvaluate: [(publisher: OutputPublisher, digest: PlanDigest)] = []

    var isEmpty: Bool { toCreate.isEmpty && toEvaluate.isEmpty }

    /// Determines the outdated outputs by the records. Records the other ones as up to date. Without records,
    /// all outputs are outdated.
    init(
        of plan: JobPlan, sources: Set<SourceFileKey>, records: (any OutputRecords)?, marksOutputs: Bool
    ) {
        for task in plan.tasks {
            guard
                var publisher = OutputPublisher(
                    task: task, sources: sources, records: records, marksOutputs: marksOutputs)
            else {
                continue
            }
            let (digest, relation) = records?.relation(of: task) ?? (nil, .other)
            publisher.digest = digest
            switch relation {
            case .current:
                guard let digest else { continue }
                for part in task.files {
                    records?.adopt(part)
                    records?.succeeded(part, digest: digest, seconds: records?.seconds(of: part) ?? 0)
                }
                records?.succeeded(whole: task)
            case .unevaluated where task.output.isReevaluable:
                if let digest { toEvaluate.append((publisher, digest)) }
            case .unevaluated, .other: toCreate.append(publisher)
            }
        }
    }
}
