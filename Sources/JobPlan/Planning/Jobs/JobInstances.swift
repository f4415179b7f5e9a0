internal import ExactStrings
internal import JobSpec

/// The instances of the jobs of a file, by id.
struct JobInstances {
    private let byID: [ExactString: JobSpec]
    /// Full ids of the instances of each job.
    private let ids: [ExactString: [String]]

    init(_ jobs: [JobSpec]) {
        byID = Dictionary(jobs.map { ($0.id.value.exact, $0) }, uniquingKeysWith: { $1 })
        ids = Dictionary(grouping: jobs) { $0.base.exact }.mapValues { $0.map(\.id.value) }
    }

    /// The instance with a full id; nil if there is none.
    subscript(_ id: String) -> JobSpec? { byID[id.exact] }

    /// Returns the full ids of the instances that a job needs or whose outputs it reads. A job without instances has its id in the
    /// file.
    func required(by job: JobSpec) -> [String] {
        job.needs.flatMap { ids[$0.value.exact] ?? [$0.value] } + job.asset.readInstances
    }
}
