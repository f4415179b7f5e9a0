public import Dispatch
internal import Locking
internal import Synchronization

/// Outcome of a session.
public enum SessionOutcome: Sendable {
    /// Every output is complete. Writers created with a URL have published their files; other files are still
    /// temporary.
    case completed
    /// The session failed; the value is its first error. No output remains.
    case failed(any Error)
    /// The session was cancelled; no output remains.
    case cancelled
}

/// Result of a session for one track.
public struct TrackReport: Hashable, Codable, Sendable {
    /// Number of appended frames, audio samples per channel, or packets.
    public var appendedSamples: Int
    /// Number of samples of silence inserted before the track because the container can't represent its start time.
    public var filledSamples: Int
    /// Number of appended frames that the output's edit list hides; presented frames refer to them.
    public var hiddenSamples: Int
    /// Number of frames whose closed captions the encoder dropped.
    public var droppedCaptions: Int
    /// Number of packets written.
    public var writtenPackets: Int
    /// Number of samples dropped because their times didn't increase.
    public var droppedSamples: Int
    /// Counts of data skipped because of damage, and of leading frames.
    public var damage: DamageTally.Count
    /// Time at which the shape of the source's frames, or its sample rate or channel layout, first changed,
    /// from the session's start; nil if it didn't. The output keeps one format.
    public var formatChange: MediaTime?
    /// Time of the first interlaced frame after progressive ones, from the session's start; frames are
    /// deinterlaced from there on. Nil if there is none.
    public var interlacedFrom: MediaTime?
    /// End of the last sample, from the session's start.
    public var end: MediaTime
    /// Numbers of chunks; nil unless some could exist already.
    package var chunks: ChunkCounts?
}

extension TrackReport {
    /// Creates the report of a track that isn't written to a media file, from the number of samples used and the end of
    /// the last one.
    package init(samples count: Int, end: MediaTime, damage: DamageTally.Count) {
        self.init(
            appendedSamples: count, filledSamples: 0, hiddenSamples: 0, droppedCaptions: 0,
            writtenPackets: count, droppedSamples: 0, damage: damage, formatChange: nil, end: end)
    }
}

// Unchecked `Sendable`: mutable state is used on `control` only, is atomic, or is protected by a mutex.
/// Processes tracks with one reader and one or more writers: each track's samples are passed from an output to an input
/// on a separate serial queue.
///
/// Start, cancellation and completion run on one control queue. A dispatch group is entered once per track before
/// anything starts, and left exactly once when the track's pump ends. Its notification determines the outcome:
/// cancelled, failed with the first error, or completed after the writers have finished.
public final class ReencodeSession: @unchecked Sendable {
    /// The reader of all tracks but those that were added with a reader of their own. Only the session may read its outputs.
    public let reader: AssetReader
    /// The first writer. Only the session may append to its inputs.
    public var writer: AssetWriter { writers[0] }
    /// All writers. The session completes only if every writer finishes.
    public let writers: [AssetWriter]
    /// Time without progress after which the session fails with `MediaError.stalled`; nil for no limit.
    /// Default: 60 seconds.
    public var stallTimeout: DispatchTimeInterval? = .seconds(60)

    /// A track's output and input, and the queue on which samples are passed.
    ///
    /// Unchecked `Sendable`: `hasFinished` is used on `queue` only.
    private final class TrackTransfer: @unchecked Sendable {
        let reader: AssetReader
        let output: AssetReaderOutput
        let input: AssetWriterInput
        let writer: AssetWriter
        let queue: DispatchQueue
        var hasFinished = false

        init(
            reader: AssetReader, output: AssetReaderOutput, input: AssetWriterInput, writer: AssetWriter,
            index: Int
        ) {
            self.reader = reader
            self.output = output
            self.input = input
            self.writer = writer
            queue = DispatchQueue(label: "tandem.track.\(index)")
        }
    }

    private let control = DispatchQueue(label: "tandem.control")
    private let group = DispatchGroup()
    /// The tracks; they are added before the start, and read on any queue.
    private let tracks = Guarded<[TrackTransfer]>([])
    private var transfers: [TrackTransfer] { tracks.withLock { $0 } }
    /// The session's reader, and those that tracks were added with.
    private var readers: [AssetReader] {
        transfers.reduce(into: [reader]) { readers, transfer in
            if !readers.contains(where: { $0 === transfer.reader }) { readers.append(transfer.reader) }
        }
    }
    private var completion: (@Sendable (SessionOutcome) -> Void)?
    private var hasStarted = false
    private var hasEnded = false
    private var watchdog: (any DispatchSourceTimer)?
    private var lastMovement: (mark: Int64, at: DispatchTime)?
    private let isCancelled = Atomic<Bool>(false)
    private let firstError = Guarded<(any Error)?>(nil)

    /// Creates a session with a reader and writers that aren't started; `others` share the reader and its
    /// decoders with `writer`.
    public init(reader: AssetReader, writer: AssetWriter, others: [AssetWriter] = []) {
        self.reader = reader
        writers = [writer] + others
    }

    /// Connects an output to an input of one of the writers, by default the first one. `other` reads the output in place of the
    /// session's reader, for a track of another asset; its ranges must be those of the session's reader. Must be called before
    /// the session starts.
    public func addTrack(
        output: AssetReaderOutput, input: AssetWriterInput, writer: AssetWriter? = nil,
        readBy other: AssetReader? = nil
    ) throws {
        let writer = writer ?? self.writer
        guard writers.contains(where: { $0 === writer }) else {
            throw MediaError.invalidArgument("the writer doesn't belong to the session")
        }
        // The input is checked before the output is added, so that neither is added without the other.
        if let problem = writer.problem(adding: input) { throw problem }
        let reader = other ?? reader
        try reader.add(output)
        try writer.add(input)
        input.isFedByReader = true
        input.sourceBitsPerPixel = output.track.bitsPerPixel
        tracks.withLock {
            $0.append(
                TrackTransfer(
                    reader: reader, output: output, input: input, writer: writer, index: $0.count))
        }
    }

    /// Starts the session; `completion` is called exactly once, on a private queue.
    public func start(completion: @escaping @Sendable (SessionOutcome) -> Void) {
        control.async { @Sendable in self.begin(completion) }
    }

    /// Runs the session to its end. Cancelling the task cancels the session.
    public nonisolated(nonsending) func run() async -> SessionOutcome {
        // Doesn't leave the caller's executor: the cooperative pool, with one thread per processor, may be busy.
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start { @Sendable outcome in continuation.resume(returning: outcome) }
            }
        } onCancel: {
            self.cancel()
        }
    }

    /// Cancels the session. May be called from any thread, repeatedly, before the start and after the end.
    public func cancel() {
        isCancelled.store(true, ordering: .releasing)
        control.async { @Sendable in
            guard self.hasStarted, !self.hasEnded else { return }
            self.cancelReading()
            for writer in self.writers { writer.cancelWriting() }
        }
    }

    private func cancelReading() { for reader in readers { reader.cancelReading() } }

    /// End of the samples that the slowest track has appended, from the session's start.
    public var progress: MediaTime { transfers.map(\.input.progress).min() ?? .zero }

    /// Results of the tracks, in the order they were added.
    public var reports: [TrackReport] {
        let written = writers.map(\.writtenPackets)
        return transfers.map { transfer in
            let writerIndex = writers.firstIndex { $0 === transfer.writer } ?? 0
            let packets = written[writerIndex][transfer.input.index]
            let stop = transfer.writer.stop
            return TrackReport(
                appendedSamples: stop.map { transfer.input.samples(before: $0, packets: packets) }
                    ?? transfer.input.appendedSamples,
                filledSamples: transfer.input.ending.filledSamples,
                hiddenSamples: transfer.input.hiddenSamples,
                droppedCaptions: transfer.input.ending.droppedCaptions,
                writtenPackets: packets,
                droppedSamples: transfer.output.droppedSamples, damage: transfer.output.damagedSamples,
                formatChange: transfer.output.formatChange, interlacedFrom: transfer.output.interlacedFrom,
                end: min(transfer.input.appendedTime, stop ?? transfer.input.appendedTime),
                chunks: transfer.input.storedChunks == nil ? nil : transfer.input.ending.chunks)
        }
    }

    /// Evidence of the cuts' re-encoded edges, for each track in the order they were added.
    package var cutEvidence: [CutEvidence] { transfers.map(\.output.cutEvidence) }

    private func begin(_ completion: @escaping @Sendable (SessionOutcome) -> Void) {
        guard !hasStarted else {
            completion(.failed(MediaError.misuse("a session can only be started once")))
            return
        }
        hasStarted = true
        self.completion = completion
        for _ in transfers { group.enter() }
        // Without `@Sendable`, a closure formed in main-actor code would trap off the main thread.
        group.notify(queue: control) { @Sendable in self.finishWriters() }
        do {
            if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
            guard !transfers.isEmpty else { throw MediaError.misuse("a session requires a track") }
            setPace()
            let range = reader.extent.outputRange
            for writer in writers {
                writer.isHeld = writers.count > 1
                try writer.startWriting()
                try writer.startSession(atSourceTime: range?.start ?? .zero)
                if let range, !reader.extent.isOpen { try writer.endSession(atSourceTime: range.end) }
            }
            for reader in readers { reader.sharesDecoders = true }
            for transfer in transfers {
                // The reference is weak because the transfer retains the output.
                transfer.output.onSample = { @Sendable [weak self, weak transfer] in
                    if let transfer { self?.resume(transfer) }
                }
            }
            for reader in readers { try reader.startReading() }
        } catch {
            note(error)
            for transfer in transfers { transfer.queue.async { @Sendable in self.finish(transfer) } }
            return
        }
        startWatchdog()
        for transfer in transfers {
            transfer.input.requestMediaDataWhenReady(on: transfer.queue) { @Sendable in self.pump(transfer) }
        }
    }

    private func resume(_ transfer: TrackTransfer) {
        transfer.queue.async { @Sendable in self.pump(transfer) }
    }

    /// Passes samples from the output to the input while the input is ready; runs on the transfer's queue.
    private func pump(_ transfer: TrackTransfer) {
        guard !transfer.hasFinished else { return }
        do {
            while transfer.input.isReadyForMoreMediaData {
                let isFull = transfer.writer.stop != nil
                if isFull { stopReading(for: transfer) }
                switch try isFull ? .ended : transfer.output.nextSample() {
                case .sample(let sample): try transfer.input.append(sample)
                // The pump is called again when a sample arrives.
                case .pending: return
                case .ended:
                    // After a cancellation, the output ends as well, but the input isn't marked as finished.
                    if !isCancelled.load(ordering: .acquiring), transfer.writer.status == .working {
                        try transfer.input.markAsFinished()
                    }
                    return finish(transfer)
                }
            }
        } catch  where transfer.writer.stop != nil && transfer.writer.status == .working {
            // The error results from stopping the reader at the size limit.
            try? transfer.input.markAsFinished()
            return finish(transfer)
        } catch {
            note(error)
            abort(error)
            return finish(transfer)
        }
        // The input isn't ready: either it is too far ahead, and calls the pump again, or the writer has ended.
        guard transfer.writer.status != .working else { return }
        // If one writer fails, the whole session fails.
        if let error = transfer.writer.error { abort(error) }
        finish(transfer)
    }

    /// Stops the reader and fails all writers.
    private func abort(_ error: any Error) {
        cancelReading()
        for writer in writers { writer.fail(error) }
    }

    /// Stops reading for a writer that reached its size limit; when all writers have reached theirs, the reader is
    /// cancelled.
    private func stopReading(for transfer: TrackTransfer) {
        if writers.allSatisfy({ $0.stop != nil }) { cancelReading() } else { transfer.output.cancel() }
    }

    /// Sets up flow control if inputs share a decoder, or if there are several writers.
    private func setPace() {
        let all = transfers
        var groups = Array(all.indices)
        for (index, transfer) in all.enumerated() where transfer.output.settings.isDecoded {
            let tracks = Set(transfer.output.tracks.map(\.index))
            for other in 0..<index
            where all[other].output.settings.isDecoded && all[other].reader === transfer.reader
                && !tracks.isDisjoint(with: all[other].output.tracks.map(\.index))
            {
                let (from, to) = (groups[index], groups[other])
                for member in groups.indices where groups[member] == from { groups[member] = to }
            }
        }
        guard writers.count > 1 || Set(groups).count < groups.count else { return }
        var inOrder: [Int] = []
        var firsts: [Int] = []
        for writer in writers {
            firsts.append(inOrder.count)
            for input in writer.inputs {
                inOrder.append(all.firstIndex { $0.input === input }.map { groups[$0] } ?? -1)
            }
        }
        let pace = SessionPace(groups: inOrder)
        for (writer, first) in zip(writers, firsts) { writer.join(pace, first: first, companions: writers) }
    }

    private func finish(_ transfer: TrackTransfer) {
        guard !transfer.hasFinished else { return }
        transfer.hasFinished = true
        group.leave()
    }

    private func note(_ error: any Error) { firstError.withLock { $0 = $0 ?? error } }

    /// Finishes the writers, or ends the session after a cancellation or an error. Runs on `control` when the pumps of
    /// all tracks have ended.
    private func finishWriters() {
        if isCancelled.load(ordering: .acquiring) {
            cancelReading()
            for writer in writers { writer.cancelWriting() }
            return end(.cancelled)
        }
        if let error = firstError.withLock({ $0 }) ?? writers.lazy.compactMap(\.error).first {
            abort(error)
            return end(.failed(error))
        }
        // Stalls aren't detected from here on: writing the trailer, moving the index and syncing may take long without
        // measurable progress.
        watchdog?.cancel()
        watchdog = nil
        let finishing = DispatchGroup()
        for writer in writers {
            finishing.enter()
            writer.finishWriting { @Sendable error in
                if let error { self.note(error) }
                finishing.leave()
            }
        }
        finishing.notify(queue: control) { @Sendable in self.conclude() }
    }

    /// Ends the session after all writers have finished; runs on `control`.
    private func conclude() {
        // If the session was cancelled while trailers were written, the outputs are discarded.
        if isCancelled.load(ordering: .acquiring), writers.contains(where: { $0.status != .completed }) {
            return end(.cancelled)
        }
        do {
            if let error = firstError.withLock({ $0 }) { throw error }
            for writer in writers { try writer.publishHeld() }
            end(.completed)
        } catch {
            end(.failed(error))
        }
    }

    private func end(_ outcome: SessionOutcome) {
        guard !hasEnded else { return }
        hasEnded = true
        watchdog?.cancel()
        watchdog = nil
        for writer in writers { writer.endRequests() }
        let completion = self.completion
        self.completion = nil
        completion?(outcome)
    }

    // MARK: Stalls

    private func startWatchdog() {
        guard let stallTimeout else { return }
        let timer = DispatchSource.makeTimerSource(queue: control)
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(200))
        timer.setEventHandler { @Sendable [weak self] in self?.checkProgress(for: stallTimeout) }
        timer.activate()
        watchdog = timer
    }

    private func checkProgress(for timeout: DispatchTimeInterval) {
        guard !hasEnded else { return }
        let mark =
            writers.reduce(0) { $0 &+ $1.writtenBytes } &+ readers.reduce(0) { $0 &+ $1.packetsRead }
            &+ Int64(transfers.reduce(0) { $0 &+ $1.input.appendedSamples })
        // At a limited playback rate, the time between two samples may exceed the limit.
        guard let last = lastMovement, last.mark == mark, reader.playbackRate == nil else {
            lastMovement = (mark, .now())
            return
        }
        guard DispatchTime.now() > last.at + timeout else { return }
        let error = MediaError.stalled(writers.map(\.stallDescription).joined(separator: "; "))
        note(error)
        abort(error)
        // A pump that is blocked in a codec can't be interrupted, so the session ends without waiting for it.
        end(.failed(error))
    }
}
