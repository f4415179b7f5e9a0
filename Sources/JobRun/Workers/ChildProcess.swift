internal import CLinux
internal import Glibc

/// The process of a worker, whose parent is this process.
struct ChildProcess {
    private let id: pid_t
    private var isReaped = false

    init(_ id: pid_t) { self.id = id }

    /// Resident memory in bytes; nil if it can't be read.
    var residentMemory: Int64? {
        guard let file = fopen("/proc/\(id)/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return nil }
        let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let words = text.split(separator: " ")
        guard words.count > 1, let pages = Int64(words[1]) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Sends SIGKILL.
    func kill() { Glibc.kill(id, SIGKILL) }

    /// Reaps the process, once. Returns a description of its exit status. `isKilled`: whether the process was
    /// killed; otherwise it is killed if it doesn't exit within a tenth of a second.
    @discardableResult
    mutating func reap(isKilled: Bool = false) -> String {
        if isReaped { return "" }
        isReaped = true
        var status: Int32 = 0
        // The socket is closed: the process has ended, or must be killed.
        if !isKilled {
            tandem_await_exit(id, 100)
            if waitpid(id, &status, WNOHANG) == id { return Self.statusText(status) }
        }
        kill()
        waitpid(id, &status, 0)
        return Self.statusText(status)
    }

    private static func statusText(_ status: Int32) -> String {
        let signal = status & 0x7f
        if signal == 0 { return "it exited with status \((status >> 8) & 0xff)" }
        return "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
