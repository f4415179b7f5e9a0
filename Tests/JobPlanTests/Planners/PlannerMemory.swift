import JobPlan
import Locking

/// A memory of values, which records the queries.
final class PlannerMemory: PlanMemory {
    /// The owner of the outputs of every job file.
    static let owner = "me"

    /// Whether marks are compared with `owner`.
    private let comparesMarks: Bool
    private let owned: Set<String>
    private let created: Set<String>
    private let upToDate: @Sendable (UpToDateQuery) -> UpToDateOutputs?
    private let log = Guarded<[UpToDateQuery]>([])

    /// Queries about jobs, in the order of the calls.
    var queries: [UpToDateQuery] { log.withLock { $0 } }

    /// Creates a memory. `owned` are files without marks that were published for the job file, `created` names of
    /// outputs whose existing files an equal plan created. `upToDate` returns the outputs of a job that is up to date.
    init(
        comparesMarks: Bool = true, owned: Set<String> = [], created: Set<String> = [],
        upToDate: @escaping @Sendable (UpToDateQuery) -> UpToDateOutputs? = { _ in nil }
    ) {
        (self.comparesMarks, self.owned, self.created) = (comparesMarks, owned, created)
        self.upToDate = upToDate
    }

    func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? {
        log.withLock { $0.append(query) }
        return upToDate(query)
    }
    func owns(_ path: String, for file: String) -> Bool { owned.contains(path) }
    func wasCreated(by task: OutputTask) -> Bool { created.contains(task.name) }
    func owner(ofFile path: String, at destination: String) -> String? { comparesMarks ? Self.owner : nil }
}
