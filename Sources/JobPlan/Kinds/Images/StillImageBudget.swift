/// The limit on still images over all plans of a call. Each takes about 800 bytes in a plan.
struct StillImageBudget {
    /// Maximum number of still images of a job instance that are not counted.
    private static let uncounted = 128
    /// Maximum number of counted still images over all plans of a call.
    private static let limit = 500_000

    private var count = 0

    /// Counts the still images of a plan. Returns false if the call has too many.
    mutating func admits(_ plan: JobPlan) -> Bool {
        admits(plan.outputs.reduce(0) { $0 + $1.kind.plan.stills.count })
    }

    /// Counts the still images of a job instance. Returns false if the call has too many.
    mutating func admits(_ images: Int) -> Bool {
        count += max(0, images - Self.uncounted)
        return count <= Self.limit
    }

    /// Message about a job instance that isn't admitted.
    static let problem =
        "the plan has too many still images: at most \(limit) are allowed beyond the first \(uncounted) of each job instance"
}
