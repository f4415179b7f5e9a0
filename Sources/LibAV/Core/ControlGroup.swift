internal import Glibc

/// The limits that control groups (cgroup v2) impose on this process, as in a container or in a task of a cluster.
package struct ControlGroup: Sendable {
    /// Number of processors' time that may be used; nil without a limit.
    package private(set) var processors: Double?
    /// Memory in bytes; nil without a limit.
    package private(set) var memory: Int64?

    /// Reads the limits of this process.
    package static let current = ControlGroup { path in
        // The kernel states a size of 0 for files that it makes up.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the least limits of the process's group and of all groups that contain it. `read` returns the content of a
    /// file, or nil.
    package init(read: (String) -> String?) {
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
}
