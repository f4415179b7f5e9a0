/// Results of earlier runs that only save work: digests of files, responses to probes, renditions and declined outputs.
/// A lost result is determined again, so errors are ignored: a result that can't be read counts as missing.
struct StoredResults: Sendable {
    private let database: StateDatabase

    init(_ database: StateDatabase) { self.database = database }

    /// Returns the digest of a file's bytes; nil if there is none for the current version of the file. `identity` is the
    /// file's change token.
    func content(path: String, identity: String) -> String? {
        (try? database.read { try ContentTable.digest(path: path, identity: identity, in: $0) }) ?? nil
    }

    /// Stores the digest of a file's bytes. `identity` is the file's change token.
    func record(content digest: String, path: String, identity: String) {
        try? database.write {
            try ContentTable.write(digest: digest, path: path, identity: identity, in: $0)
        }
    }

    /// Returns the response to a probe of a file, as JSON; nil if there is none for the current version of the file.
    func probe(_ request: String, path: String, identity: String) -> String? {
        (try? database.read {
            try ProbeTable.response(to: request, path: path, identity: identity, in: $0)
        }) ?? nil
    }

    /// Stores the response to a probe of a file, in place of the one for an earlier version of the file.
    func record(response: String, to request: String, path: String, identity: String) {
        try? database.write {
            try ProbeTable.write(response: response, to: request, path: path, identity: identity, in: $0)
        }
    }

    /// Returns the renditions of the package at a destination, by id.
    func renditions(at destination: String) -> [String: StateStore.StoredRendition] {
        (try? database.read { try RenditionTable.renditions(at: destination, in: $0) }) ?? [:]
    }

    /// Stores the renditions of the package that was published at a destination, in place of those of an earlier one.
    func record(_ renditions: [String: StateStore.StoredRendition], at destination: String) {
        try? database.write { try RenditionTable.write(renditions, at: destination, in: $0) }
    }

    /// Returns the output of a job that was declined last; nil if there is none.
    func declinedOutput(of name: StateStore.JobName) -> StateStore.DeclinedOutput? {
        (try? database.read { try DeclinedTable.output(of: name, in: $0) }) ?? nil
    }

    /// Stores a declined output in place of an earlier one of the job.
    func record(_ declined: StateStore.DeclinedOutput, of name: StateStore.JobName) {
        try? database.write { try DeclinedTable.write(declined, of: name, in: $0) }
    }
}
