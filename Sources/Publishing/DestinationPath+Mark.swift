extension DestinationPath {
    /// The extended attribute by which an output is recognized.
    package struct Mark: Sendable {
        /// Size and modification time of the output when it was published, as returned by
        /// `TemporaryFile.fingerprint`.
        package var output: String
        /// Digest of the plan that created the output; nil for an output that failed its expectations.
        package var digest: String?
        /// Owner of the output: the job file, as a digest of its path.
        package var owner: String
        /// Id of the job instance.
        package var job: String

        package init(output: String, digest: String?, owner: String, job: String) {
            self.owner = owner
            self.output = output
            self.digest = digest
            self.job = job
        }

        /// Text that is stored in the attribute: a format version, then the four values.
        package var text: String { "1 \(output) \(digest ?? "-") \(owner) \(job)" }

        init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 4)
            guard parts.count == 5, parts[0] == "1" else { return nil }
            output = String(parts[1])
            digest = parts[2] == "-" ? nil : String(parts[2])
            (owner, job) = (String(parts[3]), String(parts[4]))
        }
    }
}
