internal import GRDB

extension StateStore {
    /// The stored report entry of an output.
    struct StoredReport: Sendable {
        /// `TemporaryFile.fingerprint` of the output.
        var output: String
        /// Digest of the job file's contents.
        var spec: String
        /// `RunReport.Job` as JSON.
        var job: String
        /// `JobPreview` as JSON; nil if the report has none.
        var preview: String?
    }
}

/// The table `reports`: report entries of outputs.
enum ReportTable {
    /// Returns the report entries of jobs.
    static func reports(
        of jobs: [StateStore.JobName], in db: Database
    ) throws -> [StateStore.JobName: StateStore.StoredReport] {
        var found: [StateStore.JobName: StateStore.StoredReport] = [:]
        let statement = try db.cachedStatement(
            sql: "SELECT output, spec, job, preview FROM reports WHERE file = ? AND id = ?")
        for job in jobs {
            guard let row = try Row.fetchOne(statement, arguments: [job.file, job.id]) else { continue }
            let preview = row.text(3)
            found[job] = StateStore.StoredReport(
                output: row.text(0), spec: row.text(1), job: row.text(2),
                preview: preview.isEmpty ? nil : preview)
        }
        return found
    }

    /// Writes report entries, and deletes those without a job record.
    static func write(
        _ reports: [(name: StateStore.JobName, report: StateStore.StoredReport)], in db: Database
    ) throws {
        try db.execute(
            sql: """
                DELETE FROM reports WHERE NOT EXISTS
                    (SELECT 1 FROM jobs WHERE jobs.file = reports.file AND jobs.id = reports.id);
                """)
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?)")
        for (name, report) in reports {
            try insert.execute(arguments: [
                name.file, name.id, report.output, report.spec, report.job, report.preview,
            ])
        }
    }
}
