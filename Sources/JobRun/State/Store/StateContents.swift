internal import ExactStrings
internal import GRDB

/// The records that are read when a store is opened.
struct StateContents: Sendable {
    /// The last success of each job.
    let records: [StateStore.JobName: StateStore.Record]
    /// Intents to publish an output, by path.
    let intents: [ExactString: StateStore.Intent]
    /// Outputs that jobs published at earlier destinations.
    let formerOutputs: [StateStore.PublishedOutput]
    /// Latest warnings about each output.
    let warnings: [StateStore.JobName: StateStore.OutputWarnings]

    init(in db: Database) throws {
        records = try JobTable.records(in: db)
        intents = try IntentTable.intents(in: db)
        formerOutputs = try FormerOutputTable.outputs(in: db)
        warnings = try WarningTable.latestWarnings(in: db)
    }
}
