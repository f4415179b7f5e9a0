internal import Diagnostics
internal import Dispatch
package import JobPlan
internal import Locking
package import PlanWork
internal import Publishing

/// A performer that takes outputs from a cache instead of creating them, and stores those that it creates.
///
/// An output from the cache is verified like a new one before it is published: read back, compared with the plan, and with
/// its expectations evaluated. If anything is wrong with it, it is created.
package struct CachingPerformer: WorkPerformer {
    private let base: any WorkPerformer
    private let cache: ContentCache
    private let state: RunState

    /// Creates a performer. `base` executes the work; `state` identifies sources.
    package init(_ base: any WorkPerformer, cache: ContentCache, state: RunState) {
        (self.base, self.cache, self.state) = (base, cache, state)
    }

    package func isPrepared(for job: JobPlan) -> Bool { base.isPrepared(for: job) }

    package nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
        guard case .create = order.task, order.outputs.count == order.plan.outputs.count else {
            return await base.perform(order)
        }
        let isCancelled = Guarded(false)
        return await withTaskCancellationHandler {
            await perform(order, isCancelled: { isCancelled.withLock { $0 } })
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private nonisolated(nonsending) func perform(
        _ order: WorkOrder, isCancelled: @escaping @Sendable () -> Bool
    ) async -> WorkOutcome {
        let keys = await Self.queue.result { self.keys(of: order.plan) }
        var found: [Int: OutputFindings] = [:]
        if !state.isForced {
            let fetched = await Self.queue.result { self.fetch(keys, into: order, isCancelled: isCancelled) }
            if isCancelled() { return .cancelled }
            guard let verified = await verified(fetched, keys, of: order) else { return .cancelled }
            found = verified
            cache.used(found.count)
        }
        let missing = order.plan.outputs.indices.filter { found[$0] == nil }
        if !missing.isEmpty {
            let rest = order.only(missing)
            switch await base.perform(rest) {
            case .cancelled: return .cancelled
            case .failed(let failure): return .failed(failure)
            case .finished(let findings):
                guard findings.outputs.count == missing.count else { return .finished(findings) }
                for (index, output) in zip(missing, findings.outputs) { found[index] = output }
            }
            let created = found
            // The job's timeout doesn't include the storing.
            order.onChecked(findings(found, of: order))
            await Self.queue.result {
                self.store(missing, keys, created, of: order, isCancelled: isCancelled)
            }
        }
        return .finished(findings(found, of: order))
    }

    private func findings(_ found: [Int: OutputFindings], of order: WorkOrder) -> WorkFindings {
        WorkFindings(outputs: order.plan.outputs.indices.compactMap { found[$0] })
    }

    /// The queue on which files are read and written.
    private static let queue = DispatchQueue.global()

    /// Returns the keys of the outputs that may be in the cache, by their index.
    private func keys(of plan: JobPlan) -> [Int: CacheKey] {
        var keys: [Int: CacheKey] = [:]
        for (index, task) in plan.tasks.enumerated() where task.isCacheable {
            keys[index] = state.contentDigest(of: task).map { CacheKey(task, $0) }
        }
        return keys
    }

    private func fetch(
        _ keys: [Int: CacheKey], into order: WorkOrder, isCancelled: () -> Bool
    ) -> [Int: OutputFindings] {
        var found: [Int: OutputFindings] = [:]
        let tasks = order.plan.tasks
        for (index, key) in keys {
            guard let findings = cache.fetch(key, into: order.outputs[index], isCancelled: isCancelled) else {
                continue
            }
            let outcome = ReplyValidator.validated(
                .finished(WorkFindings(outputs: [findings])),
                tracks: [order.plan.outputs[index].tracks.count], makesPreview: false)
            guard case .finished(let valid) = outcome, var output = valid.outputs.first,
                tasks[index].accepts(output, size: order.outputs[index].size)
            else {
                drop(index, key, of: order)
                continue
            }
            // They are evaluated again.
            output.expectations = []
            found[index] = output
        }
        return found
    }

    /// Verifies outputs from the cache. Those that fail are emptied, so that they are created. Returns the others; nil if the work
    /// is cancelled.
    private nonisolated(nonsending) func verified(
        _ fetched: [Int: OutputFindings], _ keys: [Int: CacheKey], of order: WorkOrder
    ) async -> [Int: OutputFindings]? {
        var verified: [Int: OutputFindings] = [:]
        for (index, findings) in fetched.sorted(by: { $0.key < $1.key }) {
            guard order.plan.outputs[index].isMedia else {
                verified[index] = findings
                continue
            }
            var check = order.only([index])
            check.scratch = nil
            check.task = .verify(WorkFindings(outputs: [findings]))
            check.onChecked = { @Sendable _ in }
            switch await base.perform(check) {
            case .cancelled: return nil
            // If its expectations aren't met, those of a new output aren't either.
            case .finished(let checked) where checked.outputs.count == 1:
                verified[index] = checked.outputs[0]
            // An output that ends a worker would end one in each run.
            case .failed, .finished:
                if let key = keys[index] { drop(index, key, of: order) }
            }
        }
        for index in verified.keys { verified[index]?.isFromCache = true }
        return verified
    }

    private func drop(_ index: Int, _ key: CacheKey, of order: WorkOrder) {
        order.outputs[index].empty()
        cache.refuse(key)
    }

    /// Stores the outputs that were created from unchanged sources and meet their expectations.
    private func store(
        _ created: [Int], _ keys: [Int: CacheKey], _ findings: [Int: OutputFindings], of order: WorkOrder,
        isCancelled: () -> Bool
    ) {
        guard cache.isWritable, (try? SourceCheck(order.plan).check(when: "while it was read")) != nil
        else { return }
        let tasks = order.plan.tasks
        for index in created {
            guard let key = keys[index], let output = findings[index],
                output.expectations.allSatisfy(\.holds),
                tasks[index].accepts(output, size: order.outputs[index].size)
            else { continue }
            cache.store(key, output, from: order.outputs[index], isCancelled: isCancelled)
        }
    }
}

extension WorkOrder {
    /// Returns the order for some of the outputs.
    fileprivate func only(_ indices: [Int]) -> WorkOrder {
        if indices.count == plan.outputs.count { return self }
        var order = self
        let ids = Set(indices.map { plan.outputs[$0].id })
        order.plan = plan.only { ids.contains($0.id) }
        order.outputs = indices.map { outputs[$0] }
        return order
    }
}
