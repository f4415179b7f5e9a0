extension DestinationPath {
    /// What Tandem wrote into the attribute of an output.
    package struct Mark: Sendable {
        /// Size and time of the output when it was published.
        package var output: String
        /// The digest of the plan that it was made by.
        package var digest: String
        /// Whose it is: the job file, as a digest of its path.
        package var owner: String
        /// The job's id.
        package var job: String

        /// Makes one.
        package init(output: String, digest: String, owner: String, job: String) {
            self.owner = owner
            self.output = output
            self.digest = digest
            self.job = job
        }

        /// As it stands in the attribute.
        package var text: String { "1 \(output) \(digest.isEmpty ? "-" : digest) \(owner) \(job)" }

        init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 4)
            guard parts.count == 5, parts[0] == "1" else { return nil }
            (output, digest) = (String(parts[1]), String(parts[2]))
            (owner, job) = (String(parts[3]), String(parts[4]))
        }
    }
}
