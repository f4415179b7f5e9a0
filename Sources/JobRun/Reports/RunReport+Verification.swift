internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import Publishing

/// The verification of entries that another process wrote, against the plan and the files.
extension RunReport.Job {
    /// Whether all values of the entry, which was read from an untrusted file, are in their ranges.
    var isValid: Bool {
        let numbers = [begun ?? 0, seconds, duration ?? 0]
        return (0..<4096).contains(slot) && (0..<1000).contains(attempts)
            && line >= 0
            && numbers.allSatisfy { (0...1e9).contains($0) } && (0...(1 << 50)).contains(size ?? 0)
            && quality?.isValid != false && expectations.allSatisfy { $0.similarity?.isValid != false }
            && (timeline ?? []).count <= TimelineSection.most
            && (timeline ?? []).allSatisfy {
                $0.start >= 0 && $0.start <= $0.end && $0.end <= 1e9 && (0..<1 << 20).contains($0.index)
            }
    }

    /// Returns whether the output file is unchanged since the entry was written.
    func isUnchanged(beneath root: PathRoot) -> Bool {
        guard let destination, let output, root.contains(destination) else { return false }
        return TemporaryFile.fingerprint(path: destination) == output
    }

    /// Returns the reason why this entry, which reports an output as done, can't be trusted; nil if plan and files
    /// confirm it.
    ///
    /// The entry must name the plan's output. Every file of the output must exist beneath `root`, with the mark of this
    /// output where the file system supports marks. Fingerprint and total size must equal those in the entry.
    func mismatch(with task: OutputTask, of plan: JobPlan, beneath root: PathRoot) -> String? {
        // No file confirms these results. They are possible only for some plans.
        if outcome == .declined {
            return plan.publishIf == nil ? "its result is `declined`, which only `publish_if` allows" : nil
        }
        if outcome == .skipped, !plan.readJobs.isEmpty { return nil }
        guard destination?.exact == task.output.destination?.exact else {
            return "its result names another output: \(destination ?? "none")"
        }
        // A check has no file; only the kind of the entry can be confirmed.
        guard let destination = task.output.destination else {
            return isCheck && outcome != .skipped
                ? nil : "its result is not that of a check"
        }
        let isSkipped = outcome == .skipped
        if isSkipped, task.output.ifExists != .skip {
            return "its result is `skipped`, which only `if_exists: skip` allows"
        }
        var total: Int64 = 0
        for file in task.files {
            guard let path = file.output.destination else { continue }
            guard root.contains(path) else { return "its output is outside of the root: \(path)" }
            var status = stat()
            guard lstat(path, &status) == 0 else {
                // For `if_exists: skip`, one existing file of the set suffices.
                if isSkipped, file.part > 0 { continue }
                return "its output is missing or changed: \(path) doesn't exist"
            }
            if isSkipped { continue }
            let isFolder = task.output.destinationKind == .folder
            guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
                return
                    "its output is missing or changed: \(path) is not a \(isFolder ? "folder" : "regular file")"
            }
            if let mismatch = Self.markMismatch(of: file, at: path) { return mismatch }
            let bytes = isFolder ? TemporaryFolder.size(ofPublished: path) : Int64(status.st_size)
            total = total.addingReportingOverflow(bytes).partialValue
        }
        guard let output, TemporaryFile.fingerprint(path: destination) == output else {
            return "its output is missing or changed"
        }
        if let size, !isSkipped, size != total {
            return "its output has \(total) bytes, its result states \(size)"
        }
        return nil
    }

    /// Returns the reason why the mark of a file isn't that of the output; nil if it is, or if the file system doesn't
    /// support marks.
    private static func markMismatch(of task: OutputTask, at path: String) -> String? {
        guard let mark = DestinationPath.Mark.of(task) else {
            // A mark that is too large for an attribute is missing on every file system.
            let fits = task.name.utf8.count < 1024
            return fits && TemporaryFile.supportsAttributes(path)
                ? "its output is missing or changed: \(path) doesn't have its mark" : nil
        }
        if mark.job.exact == task.name.exact,
            mark.owner == DestinationPath.Mark.owner(task.file, at: path)
        {
            return nil
        }
        // The same plan created the file for another job or id, so the output is up to date for this job too.
        if let marked = mark.planDigest, let digest = try? PlanDigest(task),
            digest.relation(to: marked) != .other
        {
            return nil
        }
        return "its output was published by another job: \(path)"
    }
}
