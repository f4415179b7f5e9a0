internal import Dispatch
internal import Locking

/// The wait of a watch for changes of folders, for a signal, or for a time.
///
/// Events during other work are not lost: the next wait ends at once.
final class WatchEvents: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let queue = DispatchQueue(label: "tandem.watch")

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Ends the wait.
    var wake: @Sendable () -> Void {
        { [continuation] in _ = continuation.yield() }
    }

    /// Waits for an event, at least until one time and at most until another. There is one waiter.
    func wait(notBefore start: ContinuousClock.Instant = .now, until end: ContinuousClock.Instant) async {
        await next(until: max(start, end))
        while .now < start { await next(until: start) }
    }

    private func next(until end: ContinuousClock.Instant) async {
        let seconds = (end - .now) / .seconds(1)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + max(0, seconds))
        timer.setEventHandler(handler: wake)
        timer.activate()
        defer { timer.cancel() }
        var iterator = stream.makeAsyncIterator()
        await iterator.next()
    }
}
