internal import Diagnostics
internal import ExactStrings
package import JobSpec
internal import LibAV
package import Media

/// The differences of a plan from an earlier one, for the review of a change of job files.
///
/// Jobs are compared by file and id, outputs by their ids. Sources are compared by their paths and sizes: inodes and
/// times differ between checkouts of the same files.
package struct PlanComparison: Hashable, Sendable {
    /// A value in the earlier plan and in the new one; nil where there is none.
    package struct Change<Value: Hashable & Sendable>: Hashable, Sendable {
        package var before: Value?
        package var now: Value?

        package init(before: Value?, now: Value?) { (self.before, self.now) = (before, now) }
    }

    /// A difference between two outputs, or two jobs.
    package enum Difference: Hashable, Sendable {
        /// Path, URL or name of the source.
        case source(Change<String>)
        case destination(Change<String>)
        case ifExists(Change<IfExists>)
        /// A setting, a track, a range or another value that determines the output, by its name in digests, such as
        /// `track 0 crf`; for a job, its scheduling and dependencies.
        case value(name: String, Change<String>)
        case expectation(Change<String>)
        /// A note for the user.
        case note(Change<String>)
        case duration(Change<MediaTime>)
        /// Predicted size in bytes.
        case size(Change<Int64>)
    }

    /// An output in one of the plans.
    package struct Output: Hashable, Sendable {
        package var id: String?
        package var source: String?
        package var destination: String?
        package var duration: MediaTime?
        /// Predicted size in bytes; nil if unknown.
        package var size: Int64?
    }

    /// A job in one of the plans.
    package struct Job: Hashable, Sendable {
        package var key: JobKey
        package var outputs: [Output]
        /// Message of the first error if the job is rejected; nil for a planned job.
        package var rejection: String?
        /// The facts because of which the job is skipped; nil for any other job.
        package var skip: String?
    }

    /// The fate of an output of a job that is in both plans.
    package enum OutputChange: Hashable, Sendable {
        case added(Output)
        case removed(Output)
        case changed(id: String?, [Difference])
    }

    /// The differences between two plans of a job.
    package struct JobChange: Hashable, Sendable {
        package var key: JobKey
        /// Differences of the job apart from its outputs.
        package var differences: [Difference] = []
        package var outputs: [OutputChange] = []
        /// Errors because of which the job was or is rejected; nil if it is planned in both plans.
        package var rejection: Change<String>?
        /// Facts because of which the job was or is skipped; nil if it is skipped in neither plan.
        package var skip: Change<String>?

        var isEmpty: Bool {
            differences.isEmpty && outputs.isEmpty && rejection == nil && skip == nil
        }
    }

    /// Totals of a plan.
    package struct Totals: Hashable, Sendable {
        package var jobs = 0
        package var outputs = 0
        package var rejected = 0
        package var skipped = 0
        /// Duration of all outputs.
        package var duration = MediaTime.zero
        /// Predicted size of the outputs in bytes, of which `outputsWithoutSize` is not part.
        package var size: Int64 = 0
        package var outputsWithoutSize = 0
    }

    /// Jobs that only the new plan has, in its order.
    package private(set) var added: [Job] = []
    /// Jobs that only the earlier plan has, in its order.
    package private(set) var removed: [Job] = []
    /// Jobs that differ, in the order of the new plan.
    package private(set) var changed: [JobChange] = []
    /// Number of jobs without a difference.
    package private(set) var unchanged = 0
    package let before: Totals
    package let now: Totals

    /// Whether no job differs.
    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }

    /// Compares a plan with an earlier one.
    /// - Throws: errors of encoding the plans' values.
    package init(of now: BatchPlan, since before: BatchPlan) throws {
        (self.before, self.now) = (Totals(before), Totals(now))
        let earlier = Entry.all(of: before)
        let current = Entry.all(of: now)
        let known = Dictionary(earlier.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for entry in current {
            guard let was = known[entry.key] else {
                added.append(entry.summary)
                continue
            }
            let change = try JobChange(of: entry, since: was)
            if change.isEmpty { unchanged += 1 } else { changed.append(change) }
        }
        let kept = Set(current.map(\.key))
        removed = earlier.filter { !kept.contains($0.key) }.map(\.summary)
    }

    /// A job of a plan in one of its states.
    fileprivate enum Entry {
        case planned(JobPlan)
        case upToDate(BatchPlan.UpToDateJob)
        case skipped(BatchPlan.Skip)
        case refused(BatchPlan.Refusal)

        static func all(of plan: BatchPlan) -> [Entry] {
            plan.jobs.map { .planned($0) } + plan.upToDateJobs.map { .upToDate($0) }
                + plan.skips.map { .skipped($0) } + plan.refusals.map { .refused($0) }
        }

        var key: JobKey {
            switch self {
            case .planned(let plan): plan.key
            case .upToDate(let job): job.key
            case .skipped(let skip): skip.key
            case .refused(let refusal): refusal.key
            }
        }

        /// Message of the first error of a rejected job; nil for other jobs.
        var rejection: String? {
            guard case .refused(let refusal) = self else { return nil }
            let error = refusal.diagnostics.first { $0.severity == .error } ?? refusal.diagnostics.first
            return error?.message ?? "rejected"
        }

        /// The facts because of which a job is skipped; nil for other jobs.
        var skip: String? { if case .skipped(let skip) = self { skip.reason } else { nil } }

        var summary: Job {
            let outputs =
                switch self {
                case .planned(let plan): plan.tasks.map { Output($0) }
                case .upToDate(let job): job.outputs.map { Output(id: $0.id, destination: $0.destination) }
                case .skipped, .refused: [Output]()
                }
            return Job(key: key, outputs: outputs, rejection: rejection, skip: skip)
        }
    }
}

extension PlanComparison.Output {
    init(_ task: OutputTask) {
        self.init(
            id: task.output.id, source: task.input.sourceName, destination: task.output.destination,
            duration: task.output.expectedDuration, size: task.output.expectedSize)
    }
}

extension PlanComparison.Totals {
    init(_ plan: BatchPlan) {
        self.init()
        let all = plan.jobs.flatMap(\.outputs)
        jobs = plan.jobs.count + plan.upToDateJobs.count + plan.skips.count + plan.refusals.count
        outputs = all.count + plan.upToDateJobs.reduce(0) { $0 + $1.outputs.count }
        (rejected, skipped) = (plan.refusals.count, plan.skips.count)
        for output in all { duration = duration + output.expectedDuration }
        let sizes = all.compactMap(\.expectedSize)
        size = sizes.reduce(0) { $0.adding(upToLimit: $1) }
        outputsWithoutSize = all.count(where: \.isPublished) - sizes.count
    }
}

extension PlanComparison.JobChange {
    fileprivate init(of now: PlanComparison.Entry, since before: PlanComparison.Entry) throws {
        self.init(key: now.key)
        switch (before, now) {
        case (.planned(let old), .planned(let new)):
            differences = Self.differences(of: new, since: old)
            outputs = try Self.outputs(of: new.tasks, since: old.tasks)
        case (.refused, _), (_, .refused):
            let change = PlanComparison.Change(before: before.rejection, now: now.rejection)
            if change.before != change.now { rejection = change }
            addSkip(of: now, since: before)
        case (.skipped, _), (_, .skipped): addSkip(of: now, since: before)
        case (.upToDate, _), (_, .upToDate):
            // The plan of an up-to-date job isn't known, only where its outputs are.
            let (old, new) = (before.summary.outputs, now.summary.outputs)
            outputs = new.compactMap { output in
                guard let was = old.first(where: { $0.id == output.id }) else { return .added(output) }
                let change = PlanComparison.Change(before: was.destination, now: output.destination)
                return change.before?.exact == change.now?.exact
                    ? nil : .changed(id: output.id, [.destination(change)])
            }
            outputs += old.filter { was in !new.contains { $0.id == was.id } }.map { .removed($0) }
        }
    }

    private mutating func addSkip(of now: PlanComparison.Entry, since before: PlanComparison.Entry) {
        let change = PlanComparison.Change(before: before.skip, now: now.skip)
        if change.before != change.now { skip = change }
    }

    private static func outputs(
        of now: [OutputTask], since before: [OutputTask]
    ) throws -> [PlanComparison.OutputChange] {
        let changes = try now.compactMap { task -> PlanComparison.OutputChange? in
            guard let was = before.first(where: { $0.output.id == task.output.id }) else {
                return .added(PlanComparison.Output(task))
            }
            let differences = try differences(of: task, since: was)
            return differences.isEmpty ? nil : .changed(id: task.output.id, differences)
        }
        let gone = before.filter { was in !now.contains { $0.output.id == was.output.id } }
        return changes + gone.map { .removed(PlanComparison.Output($0)) }
    }

    private static func differences(
        of now: JobPlan, since before: JobPlan
    ) -> [PlanComparison.Difference] {
        func values(_ plan: JobPlan) -> [(name: String, value: String?)] {
            let scheduling = plan.scheduling
            return [
                ("needs", plan.needs.isEmpty ? nil : plan.needs.joined(separator: ", ")),
                ("timeout", scheduling.timeout.map { "\($0) s" }), ("retries", "\(scheduling.retries)"),
                ("priority", "\(scheduling.priority)"), ("threads", scheduling.threads.map { "\($0)" }),
                ("publish_if", plan.publishIf.map { "smaller by \($0.smallerBy.text)" }),
            ]
        }
        return zip(values(before), values(now)).compactMap { old, new in
            old.value == new.value
                ? nil : .value(name: new.name, PlanComparison.Change(before: old.value, now: new.value))
        }
    }

    /// Returns the differences of an output: source and destination, what determines its content, then what is predicted.
    private static func differences(
        of now: OutputTask, since before: OutputTask
    ) throws -> [PlanComparison.Difference] {
        typealias Change = PlanComparison.Change
        var found: [PlanComparison.Difference] = []
        let (old, new) = (before.output, now.output)
        if before.input.sourceName.exact != now.input.sourceName.exact {
            found.append(.source(Change(before: before.input.sourceName, now: now.input.sourceName)))
        }
        if old.destination?.exact != new.destination?.exact {
            found.append(.destination(Change(before: old.destination, now: new.destination)))
        }
        if old.ifExists != new.ifExists {
            found.append(.ifExists(Change(before: old.ifExists, now: new.ifExists)))
        }
        // Sources are identified by content, which isn't read, so that paths, inodes and times are omitted.
        let (earlier, current) = (
            try PlanDigest(before, content: "", programs: []), try PlanDigest(now, content: "", programs: [])
        )
        let source = (before.input.sourceName, now.input.sourceName)
        let changes = current.valueChanges(since: earlier)
        found += (changes.parts.all + changes.values.all).filter {
            $0.change.from != source.0 || $0.change.to != source.1
        }.map { .value(name: $0.name, Change(before: $0.change.from, now: $0.change.to)) }
        if before.input.damagePolicy != now.input.damagePolicy {
            let (old, new) = (before.input.damagePolicy.rawValue, now.input.damagePolicy.rawValue)
            found.append(.value(name: "on_damage", Change(before: old, now: new)))
        }
        let (wasExpected, isExpected) = (earlier.expected ?? [], current.expected ?? [])
        found += Self.lists(from: wasExpected, to: isExpected).map { .expectation($0) }
        if old.expectedDuration != new.expectedDuration {
            found.append(.duration(Change(before: old.expectedDuration, now: new.expectedDuration)))
        }
        if old.expectedSize != new.expectedSize {
            found.append(.size(Change(before: old.expectedSize, now: new.expectedSize)))
        }
        return found + Self.lists(from: old.notes, to: new.notes).map { .note($0) }
    }

    /// Returns the texts that were removed from a list, then those that were added.
    private static func lists(from before: [String], to now: [String]) -> [PlanComparison.Change<String>] {
        before.filter { !now.contains($0) }.map { PlanComparison.Change(before: $0, now: nil) }
            + now.filter { !before.contains($0) }.map { PlanComparison.Change(before: nil, now: $0) }
    }
}
