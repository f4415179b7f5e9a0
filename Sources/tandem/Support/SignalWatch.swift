internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import Locking

/// Turns SIGINT and SIGTERM into calls, and remembers what the exit status must be.
///
/// Unchecked `Sendable`: the sources are made and activated in the initialiser and only kept alive afterwards.
final class SignalWatch: @unchecked Sendable {
    private struct Seen: Sendable {
        var interrupts = 0
        var isTerminated = false
    }

    private let seen = Guarded(Seen())
    private let sources: [any DispatchSourceSignal]

    init(onFirstInterrupt: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "tandem.signals")
        func source(_ number: Int32) -> any DispatchSourceSignal {
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: queue)
        }
        let (interrupt, terminate) = (source(SIGINT), source(SIGTERM))
        sources = [interrupt, terminate]
        interrupt.setEventHandler { @Sendable [weak self] in
            let count = self?.seen.withLock { seen in
                seen.interrupts += 1
                return seen.interrupts
            }
            if count == 1 { onFirstInterrupt() } else { onCancel() }
        }
        terminate.setEventHandler { @Sendable [weak self] in
            self?.seen.withLock { $0.isTerminated = true }
            onCancel()
        }
        interrupt.activate()
        terminate.activate()
    }

    /// 130, 143, or nil when no signal came.
    var status: ExitCode? {
        seen.withLock { $0.isTerminated ? .terminated : $0.interrupts > 0 ? .interrupted : nil }
    }
}
