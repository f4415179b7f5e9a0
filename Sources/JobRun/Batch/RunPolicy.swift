/// How a batch is carried out.
public struct RunPolicy: Sendable {
    /// What of the machine it may use.
    public var budget: ResourceBudget
    /// An output that fails its expectations stays, as `web.failed.mp4`.
    public var keepsFailed = false
    /// After the first failure nothing more is started.
    public var failsFast = false

    /// The whole machine by default.
    public init(budget: ResourceBudget = .ofThisMachine()) { self.budget = budget }
}
