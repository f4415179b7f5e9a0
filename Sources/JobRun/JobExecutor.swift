internal import Diagnostics
internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import Locking

/// Carries out one plan: temporary file, session, check, publish.
///
/// Unchecked `Sendable`: everything mutable is touched on `queue` only, or is behind the mutex.
final class JobExecutor: @unchecked Sendable {
    let plan: JobPlan
    /// The sources of the whole call: none of them is ever replaced.
    private let sources: Set<SourceFileKey>
    let number: Int
    /// An output that fails its expectations stays, under another name.
    private let keepsFailed: Bool
    private let queue = DispatchQueue(label: "tandem.job")
    private let begun = DispatchTime.now()

    private struct Running {
        var session: ReencodeSession?
        var normalizer: LoudnessNormalizer?
        var isCancelled = false
        var isInSecondPass = false
    }
    /// What was found of each track's loudness; touched on `queue` only.
    private var loudness: [Int: LoudnessNormalizer.Result] = [:]
    private let running = Guarded(Running())

    /// `number` counts the starts of a batch.
    init(plan: JobPlan, sources: Set<SourceFileKey>, number: Int, keepsFailed: Bool) {
        self.keepsFailed = keepsFailed
        self.number = number
        self.plan = plan
        self.sources = sources
    }

    /// Begins; `completion` is called once, on a private queue.
    func start(completion: @escaping @Sendable (JobOutcome) -> Void) {
        queue.async { @Sendable in
            do {
                try self.begin(completion)
            } catch {
                completion(self.outcome(of: error))
            }
        }
    }

    /// Cancels at once; the completion still comes.
    func cancel() {
        let (session, normalizer) = running.withLock { running in
            running.isCancelled = true
            return (running.session, running.normalizer)
        }
        session?.cancel()
        normalizer?.cancel()
    }

    /// How far it has come, from 0 to 1, and how much media time that is.
    var progress: (fraction: Double, media: Double) {
        let (found, isSecond) = running.withLock { ($0.session, $0.isInSecondPass) }
        guard let session = found else { return (0, 0) }
        let media = session.progress.seconds
        let total = plan.expectedDuration.seconds
        let fraction = total > 0 ? min(1, media / total) : 0
        guard plan.hasTwoPasses else { return (fraction, media) }
        return ((fraction + (isSecond ? 1 : 0)) / 2, media)
    }

    /// Wall-clock seconds since it was made.
    var elapsed: Double { Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9 }

    private struct Skip: Error {
        let reason: String
    }

    private func outcome(of error: any Error) -> JobOutcome {
        if running.withLock({ $0.isCancelled }) || error is CancellationError { return .cancelled }
        if let skip = error as? Skip { return .skipped(skip.reason) }
        if let failure = error as? JobFailure { return .failed(failure) }
        return .failed(
            JobFailure(isOfSource(error) ? "\(sourceName), \(error)" : "\(error)", at: location(of: error)))
    }

    private func isOfSource(_ error: any Error) -> Bool {
        switch error as? MediaError {
        case .reading, .damaged, .discontinuity, .truncated, .noSamples: true
        default: false
        }
    }

    private var sourceName: String {
        switch plan.source {
        case .file(let path, _), .job(_, let path): path.split(separator: "/").last.map(String.init) ?? path
        case .pattern(let pattern): "test signal \(pattern.name)"
        }
    }

    /// Which part of the job file asked for what failed.
    private func location(of error: any Error) -> SourceRange {
        switch error as? MediaError {
        case .writing, .system, .destinationExists: plan.destinationLocation
        case .reading(let track, _, _), .damaged(let track, _), .truncated(let track, _, _):
            plan.tracks.first { track.hasPrefix("track \($0.source.index) ") }?.location ?? plan.location
        case .encoding(let track, _):
            plan.tracks.enumerated().first {
                track == "\($0.element.source.mediaType.rawValue) \($0.offset)"
            }?.element.location
                ?? plan.location
        default: plan.location
        }
    }

    private func begin(_ completion: @escaping @Sendable (JobOutcome) -> Void) throws {
        try checkSource(when: "since it was planned")
        _ = try replacesExisting()
        try makeFolder()
        _ = TemporaryFile.collectDeadParts(beside: plan.destination)
        let output = try TemporaryFile(destination: plan.destination)
        let builder = SessionBuilder(plan: plan)
        try measureLoudness(builder)
        guard plan.hasTwoPasses else {
            return try encode(builder, passes: [:], files: nil, into: output, completion)
        }
        let files = try PassFiles()
        // What the first pass writes is nobody's: it lies beside the output, without a name, and is dropped.
        let nowhere = try TemporaryFile(destination: plan.destination)
        let first = try builder.buildFirstPass(output: nowhere, files: files)
        try begin(first.session)
        first.session.start { @Sendable outcome in
            self.queue.async { @Sendable in
                nowhere.discard()
                do {
                    switch outcome {
                    case .cancelled: throw CancellationError()
                    case .failed(let error): throw error
                    case .completed: break
                    }
                    self.running.withLock { $0.isInSecondPass = true }
                    var passes: [Int: EncoderPass] = [:]
                    for (position, input) in zip(first.positions, first.session.writer.inputs) {
                        passes[position] = .second(
                            statistics: files.path(ofTrack: position), text: input.passStatistics)
                    }
                    try self.encode(builder, passes: passes, files: files, into: output, completion)
                } catch {
                    output.discard()
                    completion(self.outcome(of: error))
                }
            }
        }
    }

    /// The session that makes the output. `files` are kept until it has ended.
    private func encode(
        _ builder: SessionBuilder, passes: [Int: EncoderPass], files: PassFiles?, into output: TemporaryFile,
        _ completion: @escaping @Sendable (JobOutcome) -> Void
    ) throws {
        let session = try builder.build(output: output, loudness: loudness, passes: passes)
        try begin(session)
        session.start { @Sendable outcome in
            self.queue.async { @Sendable in
                withExtendedLifetime(files) {
                    completion(self.end(outcome, session: session, output: output))
                }
            }
        }
    }

    private func begin(_ session: ReencodeSession) throws {
        let goesOn = running.withLock { running in
            running.session = session
            return !running.isCancelled
        }
        guard goesOn else { throw CancellationError() }
    }

    /// The first of two passes over sound that is to be brought to a loudness.
    private func measureLoudness(_ builder: SessionBuilder) throws {
        for (position, normalizer, encoding) in try builder.normalizers() {
            let goesOn = running.withLock { running in
                running.normalizer = normalizer
                return !running.isCancelled
            }
            guard goesOn else { throw CancellationError() }
            let encoder = encoding.encoder
            loudness[position] = try normalizer.chain(
                after: encoding.audio?.filters, layout: encoder.channelLayout ?? .stereo,
                sampleRate: encoder.sampleRate)
        }
    }

    private func end(_ outcome: SessionOutcome, session: ReencodeSession, output: TemporaryFile) -> JobOutcome
    {
        do {
            switch outcome {
            case .cancelled: throw CancellationError()
            case .failed(let error): throw error
            case .completed: return .succeeded(try publish(session: session, output: output))
            }
        } catch {
            output.discard()
            return self.outcome(of: error)
        }
    }

    // MARK: Publishing

    private func publish(session: ReencodeSession, output: TemporaryFile) throws -> JobResult {
        let reports = session.reports
        try checkSource(when: "while it was read")
        let isCancelled: @Sendable () -> Bool = { self.running.withLock { $0.isCancelled } }
        if let problem = OutputVerifier(plan: plan, reports: reports, isCancelled: isCancelled).problem(
            path: output.reopenPath)
        {
            throw JobFailure(problem, at: plan.location)
        }
        let judged = try ExpectationJudge(
            plan: plan, path: output.reopenPath, size: output.size, isCancelled: isCancelled
        ).judge()
        if isCancelled() { throw CancellationError() }
        if let first = judged.first(where: { !$0.holds }) {
            let rest = judged.count { !$0.holds } - 1
            throw JobFailure(
                first.message + (rest > 0 ? " (and \(rest) more)" : "") + (keepsFailed ? keep(output) : ""),
                at: first.expectation.location, rule: .expectationFailed)
        }
        output.setAttribute(DestinationPath.attribute, "1 \(output.fingerprint) \(plan.id)")
        try output.synchronize()
        do {
            try output.publish(replacing: try replacesExisting())
        } catch MediaError.destinationExists {
            // Somebody was quicker; whose file it is decides again.
            try output.publish(replacing: try replacesExisting())
        }
        var warnings: [String] = []
        for (track, report) in zip(plan.tracks, reports) where report.droppedSamples > 0 {
            let what =
                track.source.mediaType == .subtitle
                ? "cues shortened or left out: mov_text can't show two at once"
                : "pictures left out, their times did not increase"
            warnings.append("source track \(track.source.index): \(report.droppedSamples) \(what)")
        }
        warnings += zip(plan.tracks, reports).compactMap { damageWarning($0, $1) }
        return JobResult(
            destination: plan.destination, size: output.size, duration: reports.map(\.end).max() ?? .zero,
            tracks: reports,
            seconds: elapsed, warnings: warnings, expectations: judged,
            loudness: loudness.sorted { $0.key < $1.key }.map {
                JobResult.Normalization(track: $0.key, before: $0.value.before, after: $0.value.after)
            })
    }

    /// Gives an output that failed a name beside the one it was to have: `web.failed.mp4`. Only such a file of the
    /// same job is replaced. Tells what came of it.
    private func keep(_ output: TemporaryFile) -> String {
        let name = plan.destination.split(separator: "/").last.map(String.init) ?? "output"
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        let kept = String(name[..<dot] + ".failed" + name[dot...])
        let path = String(plan.destination.dropLast(name.count)) + kept
        let isOurs =
            DestinationPath.isKeptFailure(of: plan.id, at: path)
            && FileIdentity(path: path).map { !sources.contains(SourceFileKey($0)) } == true
        output.setAttribute(DestinationPath.failureAttribute, "1 \(output.fingerprint) \(plan.id)")
        do {
            try output.synchronize()
            try output.publish(as: kept, replacing: isOurs)
            return "; kept as \(path)"
        } catch MediaError.destinationExists {
            return "; not kept, since \(path) is another file"
        } catch {
            return "; not kept: \(error)"
        }
    }

    /// What is missing of a track under `on_damage: skip`.
    private func damageWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard plan.damagePolicy == .skip else { return nil }
        var parts: [String] = []
        if report.damage.skipped > 0 {
            let first = report.damage.first.map { ", the first at \($0) s" } ?? ""
            parts.append("\(report.damage.skipped) damaged packets or pictures skipped\(first)")
        }
        if track.expected.isExact, let frames = track.expected.frames {
            let missing = frames - report.appendedSamples - report.droppedSamples
            if missing > report.damage.skipped {
                parts.append("\(missing) pictures fewer than its index promises")
            }
        }
        let promised = track.expected.timeRange.end
        if promised - report.end > MediaTime(value: 1, timescale: 10) {
            parts.append("it ends at \(report.end) s of \(promised) s")
        }
        return parts.isEmpty
            ? nil : "source track \(track.source.index): \(parts.joined(separator: "; "))"
    }

    /// Whether what is at the destination may be replaced. Throws where it may not.
    private func replacesExisting() throws -> Bool {
        if let identity = FileIdentity(path: plan.destination),
            sources.contains(SourceFileKey(identity))
        {
            throw JobFailure(
                "the destination is a source, and sources are never overwritten: \(plan.destination)",
                at: plan.destinationLocation, rule: .destinationIsSource)
        }
        switch DestinationPath.occupant(of: plan.destination) {
        case .nothing: return false
        case .published: return true
        case .notAFile:
            throw JobFailure(
                "the destination is a folder or no regular file: \(plan.destination)",
                at: plan.destinationLocation,
                rule: .destinationExists)
        case .foreign:
            switch plan.ifExists {
            case .replace: return true
            case .skip: throw Skip(reason: "the destination exists")
            case .fail:
                throw JobFailure(
                    "the destination exists, and Tandem did not publish it: \(plan.destination)",
                    at: plan.destinationLocation,
                    rule: .destinationExists)
            }
        }
    }

    private func makeFolder() throws {
        let folder = String(
            plan.destination[..<(plan.destination.lastIndex(of: "/") ?? plan.destination.startIndex)])
        if folder.isEmpty || FileIdentity(path: folder) != nil { return }
        guard plan.makesDirectories else {
            throw JobFailure(
                "the folder \(folder) doesn't exist, and `make_directories` is false",
                at: plan.destinationLocation,
                rule: .destinationUnwritable)
        }
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
                throw MediaError.system(operation: "making the folder \(path)", errno: errno)
            }
        }
    }

    private func checkSource(when: String) throws {
        guard case .file(let path, let identity) = plan.source else { return }
        guard let now = FileIdentity(location: path) else {
            throw JobFailure("the source is gone: \(path)", at: plan.location, rule: .sourceUnreadable)
        }
        guard now == identity else {
            throw JobFailure(
                "the source changed \(when): \(path)", at: plan.location, rule: .sourceUnreadable)
        }
    }
}

/// A file, changed or not.
struct SourceFileKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ identity: FileIdentity) {
        device = identity.device
        inode = identity.inode
    }
}
