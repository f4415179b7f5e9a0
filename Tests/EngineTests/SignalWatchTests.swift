import Glibc
import JobStages
import Testing

@testable import Engine

/// The effects of signals on a run. `SignalWatch` itself replaces the signal handlers of its process, so that only tests
/// of the program start it.
@Suite struct SignalWatchTests {
    /// Returns the signals that are completed gently, and the status after all of them.
    private func outcome(_ signals: Int32...) -> (gentle: [Bool], status: RunStatus?) {
        var received = ReceivedSignals()
        let gentle = signals.map { received.add($0) }
        return (gentle, received.status)
    }

    @Test func noSignal_hasNoStatus() { #expect(outcome().status == nil) }

    @Test func onlyTheFirstInterrupt_isGentle() {
        let found = outcome(SIGINT, SIGINT, SIGINT)
        #expect(found.gentle == [true, false, false] && found.status == .interrupted)
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func otherSignals_terminate(_ signal: Int32) {
        #expect(outcome(signal).gentle == [false] && outcome(signal).status == .terminated)
    }

    /// SIGINT is gentle if it is the first one, even after another signal; the status is that of termination.
    @Test func mixedSignals_terminate() {
        let late = outcome(SIGTERM, SIGINT, SIGINT)
        #expect(late.gentle == [false, true, false] && late.status == .terminated)
        let early = outcome(SIGINT, SIGHUP)
        #expect(early.gentle == [true, false] && early.status == .terminated)
    }
}
