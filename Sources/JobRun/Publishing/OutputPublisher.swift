internal import Diagnostics
internal import ExactStrings
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem
internal import Publishing

/// An output that is left out: somebody else's file is where it would go, and is to stay.
struct SkippedOutput: Error {
    let reason: String
}

/// Puts one output of a job where it belongs, and nothing else in danger.
struct OutputPublisher {
    private(set) var task: OutputTask
    /// The sources of the whole call: none of them is ever replaced.
    let sources: Set<SourceFileKey>
    let state: RunState?
    /// What it is made by; nil where that can't be told.
    var digest: PlanDigest?

    private var output: OutputPlan { task.output }

    /// What publishes each of its files.
    var parts: [OutputPublisher] {
        task.files.map { part in
            var publisher = self
            publisher.task = part
            return publisher
        }
    }

    /// The files that are published, out of the one that was made.
    func pieces(
        of file: TemporaryFile, _ findings: OutputFindings, in root: PathRoot
    ) throws -> [(publisher: OutputPublisher, file: TemporaryFile)] {
        let parts = parts
        guard parts.count > 1 else { return [(self, file)] }
        // One behind the other, or the same again: no more is copied than was written.
        var end: Int64 = 0
        var last: TemporaryFile.Part?
        let isInOrder = findings.parts.allSatisfy { part in
            if part == last { return true }
            defer { (end, last) = (part.offset + part.length, part) }
            return part.offset == end
        }
        guard findings.parts.count == parts.count, isInOrder, end <= file.size else {
            throw MediaError.misuse("\(findings.parts.count) files were made of \(parts.count)")
        }
        let pieces = try zip(parts, findings.parts).map { publisher, part in
            let piece = try TemporaryFile(destination: publisher.output.destination, in: root)
            try piece.fill(from: file, part)
            return (publisher, piece)
        }
        file.empty()
        return pieces
    }

    /// What is at the destination was made by just this plan, and is not to be made anew.
    var isMadeAlready: Bool {
        guard let digest, state?.isForced == false else { return false }
        return (RunState.mark(of: task)?.digest).map { digest.standing(of: $0) != .other } ?? false
    }

    /// Brings a finished file to disk with everything that it is to have, but its name.
    mutating func prepare(_ file: TemporaryFile, _ findings: OutputFindings) throws {
        if JobWarnings(task: task, findings: findings).tellsOfDamage { digest = digest?.afterDamage }
        // Before the mark, which tells the file by its time.
        if output.keepsFileTimes, let source = FileIdentity(path: task.input.sourceName) {
            try file.setModified(seconds: source.modified, nanoseconds: source.modifiedNanoseconds)
        }
        let mark = DestinationPath.Mark(
            output: file.fingerprint, digest: digest?.value ?? "",
            owner: RunState.owner(task.file, at: output.destination), job: task.name)
        let isMarked = file.setAttribute(DestinationPath.attribute, mark.text)
        try file.synchronize()
        if isMarked { return }
        // Times are coarse on such file systems: what is there can have the same size and time, and a run that died here
        // would leave one of two that can't be told apart.
        let looksTheSame = TemporaryFile.fingerprint(path: output.destination) == mark.output
        try state?.intend(task, output: mark.output, digest: looksTheSame ? nil : digest)
    }

    /// Gives a prepared file its name; false where somebody else published the same a moment before. `keepsReplaced`: see
    /// `TemporaryFile.publishTogether`.
    func publish(_ file: TemporaryFile, keepsReplaced: Bool) throws -> Bool {
        // Where somebody was quicker, whose file it is decides again.
        for _ in 0..<2 {
            let replaces = try replacesExisting()
            // Of several files all are made, or none: a part would be told as the whole.
            if replaces, isMadeAlready, output.files.count == 1 {
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
        // Whoever moved the folder meanwhile has the output elsewhere.
        guard file.isAt(output.destination) else {
            throw JobFailure(
                "the output was published, and is not at \(output.destination): its folder was moved or replaced",
                at: output.destinationLocation, rule: .destinationUnwritable)
        }
        return true
    }

    /// What is told of it.
    func result(_ files: [TemporaryFile], _ findings: OutputFindings) -> OutputResult {
        let lines = JobWarnings(task: task, findings: findings).lines
        return OutputResult(
            id: output.id, destination: output.destination, size: files.reduce(0) { $0 + $1.size },
            output: files.first?.fingerprint ?? "?",
            duration: findings.tracks.map(\.end).max() ?? .zero, tracks: findings.tracks,
            warnings: output.id.map { id in lines.map { "\(id): \($0)" } } ?? lines,
            expectations: findings.expectations, loudness: findings.loudness, preview: findings.preview,
            stills: zip(output.images?.stills ?? [], findings.stills).map { still, actual in
                // Both count from the source's time zero. Of a whole source that is the output's as well.
                let requested = task.input.extent.ranges.isEmpty ? still.time : still.sourceTime
                return OutputResult.Still(requested: requested, actual: actual, path: still.destination)
            })
    }

    /// Gives an output that failed a name beside the one it was to have: `web.failed.mp4`. Only such a file of the
    /// same job is replaced. Tells what came of it.
    func keep(_ file: TemporaryFile) -> String {
        let name = output.destination.pathParts.last ?? "output"
        let (stem, ending) = name.nameParts
        let kept = stem + ".failed" + (ending.map { ".\($0)" } ?? "")
        let path = String(output.destination.dropLast(name.count)) + kept
        let isOurs =
            DestinationPath.isKeptFailure(of: task.name, at: path)
            && FileIdentity(path: path).map { !sources.contains(SourceFileKey($0)) } == true
        let mark = DestinationPath.Mark(
            output: file.fingerprint, digest: "", owner: RunState.owner(task.file, at: output.destination),
            job: task.name)
        file.setAttribute(DestinationPath.failureAttribute, mark.text)
        do {
            try file.synchronize()
            try file.publish(as: kept, replacing: isOurs)
            return "; kept as \(path)"
        } catch PublishingError.destinationExists {
            return "; not kept, since \(path) is another file"
        } catch {
            return "; not kept: \(error)"
        }
    }

    /// Whether what is at the destination may be replaced. Throws where it may not.
    func replacesExisting() throws -> Bool {
        if let identity = FileIdentity(path: output.destination),
            sources.contains(SourceFileKey(identity))
        {
            throw JobFailure(
                "the destination is a source, and sources are never overwritten: \(output.destination)",
                at: output.destinationLocation, rule: .destinationIsSource)
        }
        // What is up to date for any job file is nobody's loss.
        let owner = isMadeAlready ? nil : RunState.owner(task.file, at: output.destination)
        switch DestinationPath.occupant(of: output.destination, owner: owner) {
        case .nothing: return false
        case .published: return true
        case .notAFile:
            throw JobFailure(
                "the destination is a folder or no regular file: \(output.destination)",
                at: output.destinationLocation,
                rule: .destinationExists)
        case .foreign where state?.owns(output.destination, for: task.file) == true: return true
        case .foreign:
            switch output.ifExists {
            case .replace: return true
            case .skip: throw SkippedOutput(reason: "the destination exists")
            case .fail:
                throw JobFailure(
                    "\(DestinationPath.foreign(at: output.destination)): \(output.destination)",
                    at: output.destinationLocation,
                    rule: .destinationExists)
            }
        }
    }

    /// Makes the destination's folder, where it may.
    func makeFolder() throws {
        let folder = String(
            output.destination[..<(output.destination.lastSlash ?? output.destination.startIndex)])
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
                throw SystemError("making the folder \(path)", errno: errno)
            }
        }
    }
}
