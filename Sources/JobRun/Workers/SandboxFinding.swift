internal import CSandbox
internal import Glibc

/// What came of one thing that a worker tried from inside its sandbox.
package struct SandboxFinding: Codable, Hashable, Sendable {
    /// What it tried: `send by UDP`.
    package var attempt: String
    /// Why it did not work, as an `errno`; nil where it worked.
    package var problem: Int32?
    /// A worker that fetches by URL may do it.
    package var isForNetwork: Bool

    /// It did not work.
    package var isClosed: Bool { problem != nil }
    /// Why it did not work, in the system's words.
    package var reason: String? { problem.map { String(cString: strerror($0)) } }

    /// Tries everything, in this process.
    static func all(_ path: String, _ process: Int32) -> [SandboxFinding] {
        var findings: [SandboxFinding] = []
        while let known = tandem_attempt_at(Int32(findings.count))?.pointee {
            errno = 0
            let problem = known.attempt(path, process)
            findings.append(
                SandboxFinding(
                    attempt: String(cString: known.name), problem: problem == 0 ? nil : problem,
                    isForNetwork: known.part & Int32(TANDEM_NETWORK) != 0))
        }
        return findings
    }
}

/// A part of the sandbox.
package struct SandboxParts: OptionSet, Sendable {
    /// The bits.
    package let rawValue: Int32
    /// Of some bits.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Names of the parts, for people.
    static let names: [(part: Int32, name: String)] = [
        (Int32(TANDEM_FILES), "Landlock for files"), (Int32(TANDEM_NEW_PRIVILEGES), "no_new_privs"),
        (Int32(TANDEM_SYSTEM_CALLS), "seccomp for the network, other processes and system calls"),
        (Int32(TANDEM_CAPABILITIES), "no capabilities"), (Int32(TANDEM_USER), "a separate user"),
        (Int32(TANDEM_OTHER_PROCESSES), "a closed /proc"),
    ]

    /// The parts in words.
    package var words: [String] { Self.names.filter { rawValue & $0.part != 0 }.map(\.name) }
}

/// What this kernel has of what a sandbox is made of.
package enum KernelFeatures {
    /// The version of Landlock's interface; 0 for none.
    package static var landlockVersion: Int { Int(tandem_landlock_version()) }
}
