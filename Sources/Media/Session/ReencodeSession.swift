public import Dispatch
internal import Locking
internal import Synchronization

/// How a session ended.
public enum SessionOutcome: Sendable {
    /// The output is finished: complete, on disk, and still without a name unless its writer publishes itself.
    case completed
    /// It failed, with the first error; nothing is left.
    case failed(any Error)
    /// It was cancelled; nothing is left.
    case cancelled
}

/// What a session did with one track.
public struct TrackReport: Hashable, Codable, Sendable {
    /// Pictures, audio samples per channel, or packets that were appended.
    public var appendedSamples: Int
    /// Samples of silence put before a late start that the container can't say.
    public var filledSamples: Int
    /// Pictures appended that an edit list hides: what is shown needs them.
    public var hiddenSamples: Int
    /// Pictures whose closed captions the encoder left.
    public var captionsLeft: Int
    /// Packets written.
    public var writtenPackets: Int
    /// Samples left out because their times did not increase.
    public var droppedSamples: Int
    /// What was left out because it was damaged.
    public var damage: DamageTally.Count
    /// When the source's pictures first had another shape, or its sound another rate or other channels, from the
    /// session's start: all of it was brought to one form.
    public var formChange: MediaTime?
    /// The end of the last sample, from the session's start.
    public var end: MediaTime
}

/// One reader and one writer in tandem: every output feeds its input on a serial queue of the track's own.
///
/// Start, cancel and the end happen on one control queue. A dispatch group is entered once a track before
/// anything starts, and left once, in the track's pump, whatever happened; its notification decides the
/// outcome, once: cancelled, else the first error, else finish.
///
/// Unchecked `Sendable`: everything mutable is touched on `control` only, or is atomic, or behind a mutex.
public final class ReencodeSession: @unchecked Sendable {
    /// The reader; its outputs belong to the session once added.
    public let reader: AssetReader
    /// The writer; its inputs belong to the session once added.
    public let writer: AssetWriter
    /// Nothing moving for so long is an error with names; nil never is.
    public var stallTimeout: DispatchTimeInterval? = .seconds(60)

    /// Unchecked `Sendable`: `hasLeft` is touched on `queue` only.
    private final class Lane: @unchecked Sendable {
        let output: AssetReaderTrackOutput
        let input: AssetWriterInput
        let queue: DispatchQueue
        var hasLeft = false

        init(output: AssetReaderTrackOutput, input: AssetWriterInput, index: Int) {
            self.output = output
            self.input = input
            queue = DispatchQueue(label: "tandem.track.\(index)")
        }
    }

    private let control = DispatchQueue(label: "tandem.control")
    private let group = DispatchGroup()
    /// Added before the start; asked for from anywhere, the completion on `control` too.
    private let tracks = Guarded<[Lane]>([])
    private var lanes: [Lane] { tracks.withLock { $0 } }
    private var completion: (@Sendable (SessionOutcome) -> Void)?
    private var hasStarted = false
    private var hasEnded = false
    private var watchdog: (any DispatchSourceTimer)?
    private var lastMovement: (mark: Int64, at: DispatchTime)?
    private let isCancelled = Atomic<Bool>(false)
    private let firstError = Guarded<(any Error)?>(nil)

    /// A session over a reader and a writer that are not started.
    public init(reader: AssetReader, writer: AssetWriter) {
        self.reader = reader
        self.writer = writer
    }

    /// Joins an output to an input. Before the session starts.
    public func addTrack(output: AssetReaderTrackOutput, input: AssetWriterInput) throws {
        try reader.add(output)
        try writer.add(input)
        tracks.withLock { $0.append(Lane(output: output, input: input, index: $0.count)) }
    }

    /// Begins; `completion` is called exactly once, on a private queue, whatever happens.
    public func start(completion: @escaping @Sendable (SessionOutcome) -> Void) {
        control.async { @Sendable in self.begin(completion) }
    }

    /// The same, for `async` callers; cancelling the task cancels the session.
    public func run() async -> SessionOutcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                start { @Sendable outcome in continuation.resume(returning: outcome) }
            }
        } onCancel: {
            self.cancel()
        }
    }

    /// Cancels, before the start, in the middle or after the end; from any thread, any number of times.
    public func cancel() {
        isCancelled.store(true, ordering: .releasing)
        control.async { @Sendable in
            guard self.hasStarted, !self.hasEnded else { return }
            self.reader.cancelReading()
            self.writer.cancelWriting()
        }
    }

    /// How far the slowest track has come, from the session's start.
    public var progress: MediaTime { writer.inputs.map(\.appendedTime).min() ?? .zero }

    /// What was done with each track, in the order they were added.
    public var reports: [TrackReport] {
        let packets = writer.writtenPackets
        let stop = writer.stop
        return zip(lanes, packets).map { lane, packets in
            TrackReport(
                appendedSamples: stop.map { lane.input.samples(before: $0, packets: packets) }
                    ?? lane.input.appendedSamples,
                filledSamples: lane.input.ending.filledSamples,
                hiddenSamples: lane.input.hiddenSamples, captionsLeft: lane.input.ending.captionsLeft,
                writtenPackets: packets,
                droppedSamples: lane.output.droppedSamples, damage: lane.output.damagedSamples,
                formChange: lane.output.formChange,
                end: min(lane.input.appendedTime, stop ?? lane.input.appendedTime))
        }
    }

    /// The pictures that the edges of tracks' cuts were made of, in the order that tracks were added.
    public var cutEvidence: [CutEvidence] { lanes.map(\.output.cutEvidence) }

    private func begin(_ completion: @escaping @Sendable (SessionOutcome) -> Void) {
        guard !hasStarted else {
            completion(.failed(MediaError.misuse("a session is started once")))
            return
        }
        hasStarted = true
        self.completion = completion
        for _ in lanes { group.enter() }
        // @Sendable: a closure formed in main-actor code would be called off the main thread and trap.
        group.notify(queue: control) { @Sendable in self.decide() }
        do {
            if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
            guard !lanes.isEmpty else { throw MediaError.misuse("a session needs a track") }
            try writer.startWriting()
            let range = reader.extent.vended
            try writer.startSession(atSourceTime: range?.start ?? .zero)
            if let range, !reader.extent.isOpen { try writer.endSession(atSourceTime: range.end) }
            try reader.startReading()
        } catch {
            note(error)
            for lane in lanes { lane.queue.async { @Sendable in self.leave(lane) } }
            return
        }
        startWatchdog()
        for lane in lanes {
            lane.input.requestMediaDataWhenReady(on: lane.queue) { @Sendable in self.pump(lane) }
        }
    }

    /// Moves samples while the input wants them; on the lane's queue.
    private func pump(_ lane: Lane) {
        guard !lane.hasLeft else { return }
        do {
            while lane.input.isReadyForMoreMediaData {
                let isFull = writer.stop != nil
                // The others need not read on either.
                if isFull { reader.cancelReading() }
                guard !isFull, let sample = try lane.output.copyNextSampleBuffer() else {
                    // After a cancel there is nothing either, and then nothing is finished.
                    if !isCancelled.load(ordering: .acquiring), writer.status == .working {
                        try lane.input.markAsFinished()
                    }
                    return leave(lane)
                }
                try lane.input.append(sample)
            }
        } catch  where writer.stop != nil && writer.status == .working {
            // What ended the reading of a file that is full.
            try? lane.input.markAsFinished()
            return leave(lane)
        } catch {
            note(error)
            // The others have nothing to finish for.
            reader.cancelReading()
            writer.fail(error)
            return leave(lane)
        }
        // Not ready: too far ahead, and called again; or the writer has ended.
        if writer.status != .working { leave(lane) }
    }

    private func leave(_ lane: Lane) {
        guard !lane.hasLeft else { return }
        lane.hasLeft = true
        group.leave()
    }

    private func note(_ error: any Error) { firstError.withLock { $0 = $0 ?? error } }

    /// Every track has left its pump; on `control`.
    private func decide() {
        if isCancelled.load(ordering: .acquiring) {
            reader.cancelReading()
            writer.cancelWriting()
            return end(.cancelled)
        }
        if let error = firstError.withLock({ $0 }) ?? writer.error {
            reader.cancelReading()
            writer.fail(error)
            return end(.failed(error))
        }
        // The trailer, the index's way to the front and the disk may take their time; nothing moves meanwhile.
        watchdog?.cancel()
        watchdog = nil
        writer.finishWriting { @Sendable error in
            self.control.async { @Sendable in
                // A cancel that came while the trailer was written: what is there is dropped.
                if self.isCancelled.load(ordering: .acquiring), self.writer.status != .completed {
                    self.end(.cancelled)
                } else if let error {
                    self.end(.failed(error))
                } else {
                    self.end(.completed)
                }
            }
        }
    }

    private func end(_ outcome: SessionOutcome) {
        guard !hasEnded else { return }
        hasEnded = true
        watchdog?.cancel()
        watchdog = nil
        writer.endRequests()
        let completion = self.completion
        self.completion = nil
        completion?(outcome)
    }

    // MARK: Stalls

    private func startWatchdog() {
        guard let stallTimeout else { return }
        let timer = DispatchSource.makeTimerSource(queue: control)
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(200))
        timer.setEventHandler { @Sendable [weak self] in self?.look(for: stallTimeout) }
        timer.activate()
        watchdog = timer
    }

    private func look(for timeout: DispatchTimeInterval) {
        guard !hasEnded else { return }
        let mark =
            writer.writtenBytes &+ reader.packetsRead
            &+ Int64(writer.inputs.reduce(0) { $0 &+ $1.appendedSamples })
        guard let last = lastMovement, last.mark == mark else {
            lastMovement = (mark, .now())
            return
        }
        guard DispatchTime.now() > last.at + timeout else { return }
        let error = MediaError.stalled(writer.stallDescription)
        note(error)
        reader.cancelReading()
        writer.fail(error)
        // A pump inside a codec can't be called back; the outcome doesn't wait for it.
        end(.failed(error))
    }
}
