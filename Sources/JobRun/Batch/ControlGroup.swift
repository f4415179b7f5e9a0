internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The limits that control groups (cgroup v2) impose on this process, as in a container or in a task of a cluster.
struct ControlGroup {
    /// Number of processors' time that may be used; nil without a limit.
    private(set) var processors: Double?
    /// Memory in bytes; nil without a limit.
    private(set) var memory: Int64?

    /// Reads the limits of this process.
    static let current = ControlGroup { path in
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads the least limits of the process's group and of all groups that contain it. `read` returns the content of a
    /// file, or nil.
    init(read: (String) -> String?) {
        let group = read("/proc/self/cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::/") }
        var parts = group.map { $0.dropFirst(4).split(separator: "/").map(String.init) } ?? []
        while true {
            let folder = (["/sys/fs/cgroup"] + parts).joined(separator: "/")
            // Quota and period in microseconds, or `max` and the period.
            let quota = read(folder + "/cpu.max")?.split(whereSeparator: \.isWhitespace).compactMap {
                Double($0)
            }
            if let quota, quota.count == 2, quota[0] > 0, quota[1] > 0 {
                processors = min(processors ?? .infinity, quota[0] / quota[1])
            }
            let bytes = read(folder + "/memory.max").flatMap { text in
                text.split(whereSeparator: \.isWhitespace).first.flatMap { Int64($0) }
            }
            if let bytes, bytes > 0 { memory = min(memory ?? .max, bytes) }
            if parts.popLast() == nil { return }
        }
    }

    /// The number of processors on which this process may run (`sched_getaffinity`), at most those of the limit.
    var processorCount: Int {
        let affinity = Int(tandem_processor_count())
        let count = affinity > 0 ? affinity : Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return max(1, min(count, processors.map { Int($0.rounded(.up)) } ?? count))
    }
}
