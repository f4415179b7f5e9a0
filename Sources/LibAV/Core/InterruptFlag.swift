internal import CFFmpeg
internal import Synchronization

/// A flag that interrupts blocking reads (`AVIOInterruptCB`), shared between a reader and the code that cancels it.
package final class InterruptFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    /// Flags that count as this one.
    private let others: [InterruptFlag]

    /// Creates a flag that is not raised.
    package init() { others = [] }

    /// Creates a flag that also counts as raised once one of the others is.
    package init(joining others: [InterruptFlag]) { self.others = others }

    /// Raises the flag, which can't be lowered again.
    package func raise() { flag.store(true, ordering: .releasing) }

    /// Whether the flag was raised.
    package var isRaised: Bool {
        flag.load(ordering: .acquiring) || others.contains(where: \.isRaised)
    }

    /// A callback that reads this flag. The caller must keep the flag alive while the callback is installed.
    var callback: AVIOInterruptCB {
        AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                return Unmanaged<InterruptFlag>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
            }, opaque: Unmanaged.passUnretained(self).toOpaque())
    }
}
