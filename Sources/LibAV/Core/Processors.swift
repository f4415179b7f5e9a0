internal import CLinux
internal import Glibc

/// The processors that this process may use.
package struct Processors: Sendable {
    /// Number of processors on which this process may run (`sched_getaffinity`). Libraries create threads for all of them.
    package let visible: Int
    /// Number of processors whose time may be used: at most those of the limit of a control group.
    package let available: Int

    /// Whether less time may be used than that of the visible processors.
    package var isLimited: Bool { available < visible }

    package init(visible: Int, limit: Double?) {
        self.visible = max(1, visible)
        available = max(1, min(self.visible, limit.map { Int($0.rounded(.up)) } ?? self.visible))
    }

    /// The processors of this process. A worker determines them before it enters its sandbox.
    package static let current: Processors = {
        let affinity = Int(tandem_processor_count())
        let online = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return Processors(
            visible: affinity > 0 ? affinity : online, limit: ControlGroup.current.processors)
    }()
}
