internal import CLinux
internal import Dispatch
internal import Glibc
internal import Locking

/// A handler of SIGINT, SIGTERM and SIGHUP that calls functions and determines the exit status.
///
/// The signal handlers write to a pipe and are installed when the initializer returns. Dispatch's own signal sources
/// are registered later, on its manager thread; until then an ignored signal is lost. Under load, one of ten signals
/// that arrived directly after the start of the first job was lost. Signal masks and signalfd aren't suitable:
/// `dispatch_main` waits in sigsuspend on the main thread, with no signal blocked.
///
/// Unchecked `Sendable`: the source is created and activated in the initializer, and only retained afterwards.
package final class SignalWatch: @unchecked Sendable {
    /// The functions to call for signals.
    package struct Handlers: Sendable {
        /// Called for the first SIGINT.
        package var onFirstInterrupt: @Sendable () -> Void
        /// Called for every other signal.
        package var onCancel: @Sendable () -> Void

        package init(
            onFirstInterrupt: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void
        ) {
            self.onFirstInterrupt = onFirstInterrupt
            self.onCancel = onCancel
        }
    }

    private let received = Guarded(ReceivedSignals())
    private let handlers: Guarded<Handlers>
    private let source: any DispatchSourceRead

    /// Installs the signal handlers, with the functions to call first.
    /// - Throws: An environment error if the system call fails.
    package init(_ first: Handlers) throws(EngineError) {
        handlers = Guarded(first)
        let descriptor = tandem_watch_signals()
        guard descriptor >= 0 else { throw EngineError(.environment, "can't watch signals") }
        source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "tandem.signals"))
        source.setEventHandler { @Sendable [weak self] in
            while let self, let number = Self.next(descriptor) {
                let isFirst = received.withLock { $0.add(number) }
                let now = handlers.withLock { $0 }
                if isFirst { now.onFirstInterrupt() } else { now.onCancel() }
            }
        }
        source.activate()
    }

    /// Replaces the functions to call.
    package func handle(_ handlers: Handlers) { self.handlers.withLock { $0 = handlers } }

    private static func next(_ descriptor: Int32) -> Int32? {
        var number: UInt8 = 0
        return read(descriptor, &number, 1) == 1 ? Int32(number) : nil
    }

    /// Exit status after a signal; nil if none was received.
    package var status: RunStatus? { received.withLock { $0.status } }
}

/// The signals that a run has received.
struct ReceivedSignals: Sendable {
    private var interrupts = 0
    private var isTerminated = false

    /// Adds a signal. Returns whether it is the first SIGINT, after which running jobs are completed; every other signal
    /// cancels them.
    mutating func add(_ number: Int32) -> Bool {
        if number != SIGINT { isTerminated = true } else { interrupts += 1 }
        return number == SIGINT && interrupts == 1
    }

    /// Exit status after the signals; nil if there are none.
    var status: RunStatus? {
        let signals = [isTerminated ? RunStatus.terminated : nil, interrupts > 0 ? .interrupted : nil]
        return .first(of: signals.compactMap(\.self))
    }
}
