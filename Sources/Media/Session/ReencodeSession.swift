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
    /// Frames, audio samples per channel, or packets that were appended.
    public var appendedSamples: Int
    /// Samples of silence put before a late start that the container can't say.
    public var filledSamples: Int
    /// Frames appended that an edit list hides: what is shown needs them.
    public var hiddenSamples: Int
    /// Frames whose closed captions the encoder left.
    public var captionsLeft: Int
    /// Packets written.
    public var writtenPackets: Int
    /// Samples left out because their times did not increase.
    public var droppedSamples: Int
    /// What was left out because it was damaged.
    public var damage: DamageTally.Count
    /// When the source's frames first had another shape, or its audio another rate or other channels, from the
    /// session's start: all of it was brought to one form.
    public var formChange: MediaTime?
    /// When the source's frames first were interlaced after progressive ones, from the session's start: deinterlacing begins there.
    public var fieldsBegin: MediaTime?
    /// The end of the last sample, from the session's start.
    public var end: MediaTime
}

extension TrackReport {
    /// Of a track of which no movie was made: so many samples of it were used, up to `end`.
    public init(samples count: Int, end: MediaTime, damage: DamageTally.Count) {
        self.init(
            appendedSamples: count, filledSamples: 0, hiddenSamples: 0, captionsLeft: 0,
            writtenPackets: count, droppedSamples: 0, damage: damage, formChange: nil, end: end)
    }
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
    /// The writer, of several the first; its inputs belong to the session once added.
    public var writer: AssetWriter { writers[0] }
    /// The writers: all finish, or none does.
    public let writers: [AssetWriter]
    /// Nothing moving for so long is an error with names; nil never is.
    public var stallTimeout: DispatchTimeInterval? = .seconds(60)

    /// Unchecked `Sendable`: `hasLeft` is touched on `queue` only.
    private final class Lane: @unchecked Sendable {
        let output: AssetReaderOutput
        let input: AssetWriterInput
        let writer: AssetWriter
        let queue: DispatchQueue
        var hasLeft = false

        init(output: AssetReaderOutput, input: AssetWriterInput, writer: AssetWriter, index: Int) {
            self.output = output
            self.input = input
            self.writer = writer
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

    /// A session over a reader and a writer that are not started; `others` write from the same reading and decoding.
    public init(reader: AssetReader, writer: AssetWriter, others: [AssetWriter] = []) {
        self.reader = reader
        writers = [writer] + others
    }

    /// Joins an output to an input of one of the writers, the first where none is named. Before the session starts.
    public func addTrack(
        output: AssetReaderOutput, input: AssetWriterInput, writer: AssetWriter? = nil
    ) throws {
        let writer = writer ?? self.writer
        guard writers.contains(where: { $0 === writer }) else {
            throw MediaError.misuse("the writer is none of the session's")
        }
        // Neither is added without the other.
        if let problem = writer.problem(adding: input) { throw problem }
        try reader.add(output)
        try writer.add(input)
        input.isFedByReader = true
        input.sourceBitsPerPixel = output.track.bitsPerPixel
        tracks.withLock {
            $0.append(Lane(output: output, input: input, writer: writer, index: $0.count))
        }
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
            for writer in self.writers { writer.cancelWriting() }
        }
    }

    /// How far the slowest track has come, from the session's start.
    public var progress: MediaTime { lanes.map(\.input.appendedTime).min() ?? .zero }

    /// What was done with each track, in the order they were added.
    public var reports: [TrackReport] {
        let written = writers.map(\.writtenPackets)
        return lanes.map { lane in
            let place = writers.firstIndex { $0 === lane.writer } ?? 0
            let packets = written[place][lane.input.index]
            let stop = lane.writer.stop
            return TrackReport(
                appendedSamples: stop.map { lane.input.samples(before: $0, packets: packets) }
                    ?? lane.input.appendedSamples,
                filledSamples: lane.input.ending.filledSamples,
                hiddenSamples: lane.input.hiddenSamples, captionsLeft: lane.input.ending.captionsLeft,
                writtenPackets: packets,
                droppedSamples: lane.output.droppedSamples, damage: lane.output.damagedSamples,
                formChange: lane.output.formChange, fieldsBegin: lane.output.fieldsBegin,
                end: min(lane.input.appendedTime, stop ?? lane.input.appendedTime))
        }
    }

    /// The frames that the edges of tracks' cuts were made of, in the order that tracks were added.
    package var cutEvidence: [CutEvidence] { lanes.map(\.output.cutEvidence) }

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
            setPace()
            let range = reader.extent.vended
            for writer in writers {
                writer.isHeld = writers.count > 1
                try writer.startWriting()
                try writer.startSession(atSourceTime: range?.start ?? .zero)
                if let range, !reader.extent.isOpen { try writer.endSession(atSourceTime: range.end) }
            }
            reader.sharesDecoders = true
            for lane in lanes {
                // The lane has the output: a strong reference would be a circle.
                lane.output.arrival = { @Sendable [weak self, weak lane] in
                    if let lane { self?.resume(lane) }
                }
            }
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

    private func resume(_ lane: Lane) { lane.queue.async { @Sendable in self.pump(lane) } }

    /// Moves samples while the input wants them; on the lane's queue.
    private func pump(_ lane: Lane) {
        guard !lane.hasLeft else { return }
        do {
            while lane.input.isReadyForMoreMediaData {
                let isFull = lane.writer.stop != nil
                if isFull { stopReading(for: lane) }
                switch try isFull ? .ended : lane.output.nextSample() {
                case .sample(let sample): try lane.input.append(sample)
                // Called again when one comes.
                case .pending: return
                case .ended:
                    // After a cancel there is nothing either, and then nothing is finished.
                    if !isCancelled.load(ordering: .acquiring), lane.writer.status == .working {
                        try lane.input.markAsFinished()
                    }
                    return leave(lane)
                }
            }
        } catch  where lane.writer.stop != nil && lane.writer.status == .working {
            // What ended the reading of a file that is full.
            try? lane.input.markAsFinished()
            return leave(lane)
        } catch {
            note(error)
            breakOff(error)
            return leave(lane)
        }
        // Not ready: too far ahead, and called again; or the writer has ended.
        guard lane.writer.status != .working else { return }
        // One that failed by itself ends the others too: nobody takes what it doesn't.
        if let error = lane.writer.error { breakOff(error) }
        leave(lane)
    }

    /// The others have nothing to finish for.
    private func breakOff(_ error: any Error) {
        reader.cancelReading()
        for writer in writers { writer.fail(error) }
    }

    /// A writer that is full wants no more; where all are, nothing is read on.
    private func stopReading(for lane: Lane) {
        if writers.allSatisfy({ $0.stop != nil }) { reader.cancelReading() } else { lane.output.cancel() }
    }

    /// Inputs that come from one decoder go on together.
    private func setPace() {
        let lanes = lanes
        var groups = Array(lanes.indices)
        for (index, lane) in lanes.enumerated() where lane.output.settings.isDecoded {
            let tracks = Set(lane.output.tracks.map(\.index))
            for other in 0..<index
            where lanes[other].output.settings.isDecoded
                && !tracks.isDisjoint(with: lanes[other].output.tracks.map(\.index))
            {
                let (from, to) = (groups[index], groups[other])
                for place in groups.indices where groups[place] == from { groups[place] = to }
            }
        }
        guard writers.count > 1 || Set(groups).count < groups.count else { return }
        var inOrder: [Int] = []
        var firsts: [Int] = []
        for writer in writers {
            firsts.append(inOrder.count)
            for input in writer.inputs {
                inOrder.append(lanes.firstIndex { $0.input === input }.map { groups[$0] } ?? -1)
            }
        }
        let pace = SessionPace(groups: inOrder)
        for (writer, first) in zip(writers, firsts) { writer.join(pace, first: first, companions: writers) }
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
            for writer in writers { writer.cancelWriting() }
            return end(.cancelled)
        }
        if let error = firstError.withLock({ $0 }) ?? writers.lazy.compactMap(\.error).first {
            breakOff(error)
            return end(.failed(error))
        }
        // The trailer, the index's way to the front and the disk may take their time; nothing moves meanwhile.
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

    /// Every writer is through; on `control`.
    private func conclude() {
        // A cancel that came while the trailer was written: what is there is dropped.
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
        timer.setEventHandler { @Sendable [weak self] in self?.look(for: stallTimeout) }
        timer.activate()
        watchdog = timer
    }

    private func look(for timeout: DispatchTimeInterval) {
        guard !hasEnded else { return }
        let mark =
            writers.reduce(0) { $0 &+ $1.writtenBytes } &+ reader.packetsRead
            &+ Int64(lanes.reduce(0) { $0 &+ $1.input.appendedSamples })
        // At playing speed nothing moves between two samples.
        guard let last = lastMovement, last.mark == mark, reader.playbackRate == nil else {
            lastMovement = (mark, .now())
            return
        }
        guard DispatchTime.now() > last.at + timeout else { return }
        let error = MediaError.stalled(writers.map(\.stallDescription).joined(separator: "; "))
        note(error)
        breakOff(error)
        // A pump inside a codec can't be called back; the outcome doesn't wait for it.
        end(.failed(error))
    }
}
