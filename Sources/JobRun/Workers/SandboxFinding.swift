internal import CSandbox
internal import Glibc

/// The result of an action that a worker attempted inside its sandbox.
package struct SandboxFinding: Codable, Hashable, Sendable {
    /// Name of the attempted action, such as `send by UDP`.
    package var attempt: String
    /// `errno` of the failed attempt; nil if the action succeeded.
    package var errorNumber: Int32?
    /// Whether the action is allowed for workers that fetch URLs.
    package var isForNetwork: Bool

    /// Whether the sandbox denied the action.
    package var isClosed: Bool { errorNumber != nil }
    /// Message of `strerror` for the failure; nil if the action succeeded.
    package var reason: String? { errorNumber.map { String(cString: strerror($0)) } }

    /// Attempts all actions in this process, on the file at `path` and on `process`.
    static func all(_ path: String, _ process: Int32) -> [SandboxFinding] {
        var findings: [SandboxFinding] = []
        while let known = tandem_attempt_at(Int32(findings.count))?.pointee {
            errno = 0
            let errorNumber = known.attempt(path, process)
            findings.append(
                SandboxFinding(
                    attempt: String(cString: known.name), errorNumber: errorNumber == 0 ? nil : errorNumber,
                    isForNetwork: known.part & Int32(TANDEM_NETWORK) != 0))
        }
        return findings
    }
}

/// The parts of the sandbox, as a bit set.
package struct SandboxParts: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Names of the parts for messages.
    static let names: [(part: Int32, name: String)] = [
        (Int32(TANDEM_FILES), "Landlock for files"), (Int32(TANDEM_NEW_PRIVILEGES), "no_new_privs"),
        (Int32(TANDEM_SYSTEM_CALLS), "seccomp for the network, other processes and system calls"),
        (Int32(TANDEM_CAPABILITIES), "dropping of capabilities"), (Int32(TANDEM_USER), "a separate user"),
        (Int32(TANDEM_OTHER_PROCESSES), "isolation from /proc"),
    ]

    /// Names of the contained parts, for messages.
    package var partNames: [String] { Self.names.filter { rawValue & $0.part != 0 }.map(\.name) }
}

/// Kernel features that the sandbox uses.
package enum KernelFeatures {
    /// Version of Landlock's ABI; 0 if Landlock isn't available.
    package static var landlockVersion: Int { Int(tandem_landlock_version()) }
}
