internal import Diagnostics
internal import ExactStrings
internal import Glibc
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing
internal import Streaming

/// The error of an output that is skipped because an existing file at its destination must be kept.
struct SkippedOutput: Error {
    let reason: String
}

/// A file that was written for an output, with the findings on it: the output, or a rendition of a package.
struct WrittenFile {
    let task: OutputTask
    let file: TemporaryFile
    let findings: OutputFindings

    var warnings: JobWarnings { JobWarnings(task: task, findings: findings) }
}

/// The publisher of one output of a job. Replaces only files that the job may replace.
package struct OutputPublisher {
    private(set) var task: OutputTask
    /// Absolute path of the output.
    private(set) var destination: String
    /// Sources of the whole run, which must not be replaced.
    let sources: Set<SourceFileKey>
    /// Records of published outputs; nil if none are kept.
    let records: (any OutputRecords)?
    /// Whether outputs get a mark, by which later runs recognize them.
    let marksOutputs: Bool
    /// Digest of everything that determines the output; nil if it is unknown.
    var digest: PlanDigest?

    /// Renditions of an assembled package.
    var renditions: [StreamingRendition] = []

    var output: OutputPlan { task.output }

    /// Creates a publisher; returns nil for a check, which has no output.
    package init?(
        task: OutputTask, sources: Set<SourceFileKey>, records: (any OutputRecords)?,
        marksOutputs: Bool = true
    ) {
        guard let destination = task.output.destination else { return nil }
        self.task = task
        self.destination = destination
        self.sources = sources
        self.records = records
        self.marksOutputs = marksOutputs
    }

    /// Publishers of the output's individual files.
    var parts: [OutputPublisher] {
        task.files.map { part in
            var publisher = self
            publisher.task = part
            publisher.destination = part.output.destination ?? destination
            return publisher
        }
    }

    /// Returns the files that the only written file is split into; the file itself if the output is one file.
    func splitFiles(
        of written: [WrittenFile], in root: PathRoot
    ) throws -> [(publisher: OutputPublisher, item: any PublishableItem)] {
        guard let only = written.first else { throw MediaError.internalError("an output without its file") }
        let (file, findings, parts) = (only.file, only.findings, parts)
        guard parts.count > 1 else { return [(self, file)] }
        // Parts must be contiguous or repeat the previous part, so that no more bytes are copied than were written.
        var end: Int64 = 0
        var last: TemporaryFile.Part?
        let isInOrder = findings.parts.allSatisfy { part in
            if part == last { return true }
            defer { (end, last) = (part.offset + part.length, part) }
            return part.offset == end
        }
        guard findings.parts.count == parts.count, isInOrder, end <= file.size else {
            throw MediaError.internalError("\(findings.parts.count) of \(parts.count) files were written")
        }
        let files = try zip(parts, findings.parts).map { publisher, part in
            let partFile = try TemporaryFile(destination: publisher.destination, in: root)
            try partFile.fill(from: file, part)
            return (publisher, partFile)
        }
        file.empty()
        return files
    }

    /// Whether the file at the destination was created by the same plan and can be kept.
    var isUpToDate: Bool {
        guard let digest, records?.isForced == false else { return false }
        return (DestinationPath.Mark.of(task)?.planDigest).map { digest.relation(to: $0) != .other }
            ?? false
    }

    /// Records that the output was published as `item`, with the seconds that its job took.
    func recordSuccess(_ item: any PublishableItem, seconds: Double) {
        guard let digest else { return }
        records?.succeeded(task, digest: digest, seconds: seconds)
        if !renditions.isEmpty { records?.published(renditions, of: task, output: item.fingerprint) }
    }

    /// Sets the modification time and the mark of a finished file or folder and syncs it to disk. Only the rename
    /// remains.
    mutating func prepare(_ file: any PublishableItem, _ written: [WrittenFile]) throws {
        if written.contains(where: \.warnings.reportsDamage) {
            digest = digest?.afterDamage
            renditions = []
        }
        // The time is set first, because the mark contains a fingerprint with it.
        if output.media?.keepsFileTimes == true, let source = FileIdentity(path: task.input.sourceName),
            let file = file as? TemporaryFile
        {
            try file.setModified(seconds: source.modified, nanoseconds: source.modifiedNanoseconds)
        }
        guard marksOutputs else { return try file.synchronize() }
        let mark = DestinationPath.Mark(
            output: file.fingerprint, digest: digest?.value.text,
            owner: DestinationPath.Mark.owner(task.file, at: destination), job: task.name)
        let isMarked = file.setAttribute(DestinationPath.attribute, mark.text)
        try file.synchronize()
        if isMarked { return }
        // File systems without marks often have coarse timestamps: the existing file can have the same size and time.
        // After a crash at this point the two files couldn't be distinguished.
        let isIndistinguishable = TemporaryFile.fingerprint(path: destination) == mark.output
        try records?.recordIntent(task, output: mark.output, digest: isIndistinguishable ? nil : digest)
    }

    /// Renames a prepared file to its destination. Returns false if another process has just published the same output.
    /// `keepsReplaced`: see `TemporaryFile.publishTogether`.
    func publish(_ file: any PublishableItem, keepsReplaced: Bool) throws -> Bool {
        // If another file was published in the meantime, the check whether it may be replaced runs again.
        for _ in 0..<2 {
            let replaces = try replacesExisting()
            // Files of a set are published all or none: an existing file would be reported as the whole output.
            if replaces, isUpToDate, output.files.count == 1 {
                file.discard()
                return false
            }
            do {
                try file.publish(replacing: replaces, keepsReplaced: keepsReplaced)
                break
            } catch PublishingError.destinationExists {
                continue
            }
        }
        guard file.isPublished else { throw PublishingError.destinationExists }
        // If its folder was moved in the meantime, the output is not at the destination.
        guard file.isAt(destination) else {
            throw JobFailure(
                "the published output is not at \(destination): its folder was moved or replaced",
                at: output.destinationLocation, rule: .destinationUnwritable)
        }
        return true
    }

    /// Returns the result of the output for the report. `reused` are the renditions of an earlier package that it
    /// contains.
    func result(
        _ files: [any PublishableItem], _ written: [WrittenFile], _ detail: OutputResult.Detail,
        reusing reused: some Sequence<StreamingRendition>
    ) -> OutputResult {
        let findings = written.map(\.findings)
        let lines = written.flatMap { file in
            let lines = file.warnings.lines
            return file.task.output.id.map { id in lines.map { "\(id): \($0)" } } ?? lines
        }
        var result = OutputResult(
            id: output.id, destination: destination, size: files.reduce(0) { $0 + $1.size },
            output: files.first?.fingerprint ?? "?",
            duration: (findings.flatMap(\.tracks).map(\.end) + reused.compactMap(\.end)).max() ?? .zero,
            tracks: findings.flatMap(\.tracks),
            warnings: lines, expectations: findings.flatMap(\.expectations),
            loudness: findings.flatMap(\.loudness), sizeAttempts: findings.flatMap(\.sizeAttempts),
            quality: findings.lazy.compactMap(\.quality).first,
            preview: findings.lazy.compactMap(\.preview).first, detail: detail)
        result.isFromCache = !findings.isEmpty && findings.allSatisfy(\.isFromCache)
        return result
    }

    /// Publishes a written file of an output that failed its expectations in its destination's folder, as
    /// `<name>.failed.<extension>`; a rendition of a package beside the package's folder, as
    /// `<folder>.<id>.failed.<extension>`. Replaces only such a file of the same job. Returns the result as a clause for the
    /// failure's message. `written` is the task of the rendition.
    func keep(_ file: TemporaryFile, of written: OutputTask? = nil) -> String {
        let name = destination.pathParts.last ?? "output"
        let (stem, ending) = output.kind.plan.failureName(of: written?.output ?? output, beside: name)
        let kept = stem + ".failed" + (ending.map { ".\($0)" } ?? "")
        let path = String(destination.dropLast(name.count)) + kept
        let isOwnFailure =
            DestinationPath.isKeptFailure(of: task.name, at: path)
            && FileIdentity(path: path).map { !sources.contains(SourceFileKey($0)) } == true
        let mark = DestinationPath.Mark(
            output: file.fingerprint, digest: nil,
            owner: DestinationPath.Mark.owner(task.file, at: destination),
            job: task.name)
        file.setAttribute(DestinationPath.failureAttribute, mark.text)
        do {
            try file.synchronize()
            try file.publish(as: kept, replacing: isOwnFailure)
            return "; kept as \(path)"
        } catch PublishingError.destinationExists {
            return "; not kept, since \(path) is another file"
        } catch {
            return "; not kept: \(error)"
        }
    }

    /// Returns true if the file at the destination is to be replaced, and false if there is none. Throws if the output
    /// can't be published.
    package func replacesExisting() throws -> Bool {
        if let identity = FileIdentity(path: destination),
            sources.contains(SourceFileKey(identity))
        {
            throw JobFailure(
                "the destination is also a source, which is never overwritten: \(destination)",
                at: output.destinationLocation, rule: .destinationIsSource)
        }
        // An output that is up to date can be replaced without loss, even if another job file created it.
        let owner = isUpToDate ? nil : DestinationPath.Mark.owner(task.file, at: destination)
        let kind = output.destinationKind
        switch DestinationPath.occupant(of: destination, owner: owner, kind: kind) {
        case .nothing: return false
        case .published: return true
        case .wrongKind:
            throw JobFailure(
                "the destination is not a \(kind == .file ? "regular file" : "folder"): \(destination)",
                at: output.destinationLocation,
                rule: .destinationExists)
        case .foreign where records?.owns(destination, for: task.file) == true: return true
        case .foreign:
            switch output.ifExists {
            case .replace where kind == .folder && !SystemDisk().isMarked(destination):
                throw JobFailure(
                    "the folder exists, and Tandem did not publish it: \(destination)",
                    at: output.destinationLocation, rule: .destinationExists)
            case .replace: return true
            case .skip: throw SkippedOutput(reason: "the destination exists")
            case .fail:
                throw JobFailure(
                    "\(DestinationPath.foreign(at: destination)): \(destination)",
                    at: output.destinationLocation,
                    rule: .destinationExists)
            }
        }
    }

    /// Creates the destination's folder if it doesn't exist. Throws if `make_directories` is false.
    func makeFolder() throws {
        let folder = String(
            destination[..<(destination.lastSlash ?? destination.startIndex)])
        if folder.isEmpty || FileIdentity(path: folder) != nil { return }
        guard output.makesDirectories else {
            throw JobFailure(
                "the folder \(folder) doesn't exist, and `make_directories` is false",
                at: output.destinationLocation,
                rule: .destinationUnwritable)
        }
        var path = ""
        for part in folder.pathParts {
            path += "/" + part
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
                throw SystemError("creating the folder \(path)", errno: errno)
            }
        }
    }
}
