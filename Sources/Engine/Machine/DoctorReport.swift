internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
package import JobRun
internal import LibAV

/// The suitability of this machine for runs: libraries, encoders and space, and the protection by the sandbox, which is
/// tested by a worker that attempts to escape.
package struct DoctorReport: Encodable, Sendable {
    /// The result of an action that a sandboxed worker must not be able to perform.
    package struct Attempt: Encodable, Sendable {
        let attempt: String
        let isClosed: Bool
        let reason: String?
    }
    let version = 1
    let ffmpeg: String
    let kernel: String
    /// Version of Landlock's ABI; 0 if the kernel doesn't support it.
    let landlock: Int
    let isRoot: Bool
    /// Parts of the sandbox that could not be enabled.
    let lacking: [String]
    /// State of the sandbox as text: `off`, `whole`, `without …` or `not tested: …`.
    let sandbox: String
    let attempts: [Attempt]
    let machine: MachineReport
    /// Whether the sandbox is complete, and all forbidden actions were denied.
    private let isClosed: Bool
    /// Whether nothing is missing that every run requires.
    package var isSufficient: Bool { isClosed && machine.problems.isEmpty }

    private enum CodingKeys: CodingKey {
        case version, ffmpeg, kernel, landlock, isRoot, lacking, sandbox, attempts, machine
    }

    /// Describes the machine, and runs the attempts in a worker of a pool that `openPool` creates, and that is closed. If no worker
    /// can be started, the report states the reason.
    package init(
        state: StateLocation, isSandboxed: Bool, allowsNetwork: Bool,
        _ openPool: () throws(EngineError) -> WorkerPool
    ) {
        let folder = FileManager.default.currentDirectoryPath
        machine = MachineReport(
            state: state.folder.map { StateFolder(path: $0).absolute }, in: folder)
        (ffmpeg, kernel, landlock) = (
            LibraryVersions.ffmpeg, Self.kernelVersion, KernelFeatures.landlockVersion
        )
        isRoot = geteuid() == 0
        do throws(EngineError) {
            let pool = try openPool()
            defer { pool.close() }
            let (findings, lacking) = try Self.test(pool, allowsNetwork: allowsNetwork)
            self.lacking = lacking
            sandbox =
                !isSandboxed
                ? "off" : lacking.isEmpty ? "whole" : "without " + lacking.joined(separator: ", ")
            attempts = findings.map {
                Attempt(attempt: $0.attempt, isClosed: $0.isClosed, reason: $0.reason)
            }
            isClosed =
                lacking.isEmpty
                && findings.allSatisfy { $0.isClosed || (allowsNetwork && $0.isForNetwork) }
        } catch {
            (lacking, attempts, isClosed) = ([], [], false)
            sandbox = "not tested: \(error.message)"
        }
    }

    /// Attempts what a sandboxed worker must not be able to do. Returns the results, and the parts of the sandbox that this machine
    /// lacks.
    /// - Throws: An environment error if no worker can be started.
    private static func test(
        _ pool: WorkerPool, allowsNetwork: Bool
    ) throws(EngineError) -> (findings: [SandboxFinding], lacking: [String]) {
        var template = Array("/tmp/tandem-doctor-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        guard file >= 0 else {
            throw EngineError(
                .environment, "can't create a file in /tmp: \(String(cString: strerror(errno)))")
        }
        // With mode 0666, only the sandbox can deny access to the file.
        fchmod(file, 0o666)
        defer {
            close(file)
            unlink(path)
        }
        guard let findings = pool.testSandbox(from: path, network: allowsNetwork),
            let lacking = pool.missingSandboxParts(within: 10)
        else { throw EngineError(.environment, "can't start a worker, or it ended unexpectedly") }
        return (findings, lacking)
    }

    /// Text output of the report.
    package var text: String {
        var lines = [
            "FFmpeg     \(ffmpeg)"
        ]
        lines += machine.lines
        lines += [
            "kernel     Linux \(kernel)",
            "Landlock   \(landlock == 0 ? "none" : "version \(landlock)")",
            "user       \(isRoot ? "root; each worker runs as its own user" : "not root; workers run as the same user")",
            "sandbox    \(sandbox)",
        ]
        if !attempts.isEmpty { lines.append("operations that a sandboxed worker attempted:") }
        for attempt in attempts {
            let mark = attempt.isClosed ? "  denied   " : "  ALLOWED  "
            lines.append(mark + attempt.attempt + (attempt.reason.map { " (\($0))" } ?? ""))
        }
        return lines.map { TextRenderer.printable($0) + "\n" }.joined()
    }

    private static var kernelVersion: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        return withUnsafePointer(to: &name.release) {
            $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
        }
    }
}
