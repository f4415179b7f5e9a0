internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobRun
internal import LibAV

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Reports what this machine's sandbox prevents: a sandboxed worker attempts what it must not be able to do.",
        discussion: """
            Nothing is guessed: each line is something that a worker tried from inside. Exit status 0 where nothing worked, 4 \
            otherwise; `--require-sandbox` asks for the same parts.
            """)

    @OptionGroup var workers: WorkerArguments

    @Option(help: "How it is printed.")
    var format: ProbeFormat = .text

    @Flag(help: "Asks a worker that may fetch by URL.")
    var allowNetwork = false

    private struct Report: Encodable {
        struct Attempt: Encodable {
            let attempt: String
            let isClosed: Bool
            let reason: String?
        }
        let version = 1
        let ffmpeg: String
        let kernel: String
        let landlock: Int
        let isRoot: Bool
        let lacking: [String]
        /// In a word for people.
        let sandbox: String
        let attempts: [Attempt]
        enum CodingKeys: CodingKey {
            case version, ffmpeg, kernel, landlock, isRoot, lacking, sandbox, attempts
        }
    }

    func run() throws {
        let access = CommandAccess(
            sources: SourceEnvironment(allowsNetwork: allowNetwork), isUntrusted: false)
        guard let pool = try workers.pool(in: nil, access) else {
            throw ValidationError("doctor asks a worker; --isolation none has none")
        }
        defer { pool.close() }
        var template = Array("/tmp/tandem-doctor-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        guard file >= 0 else {
            Terminal.say("error: a file in /tmp can't be made: \(String(cString: strerror(errno)))")
            throw ExitCode.environment
        }
        // Everybody may: only the sandbox can stand against it.
        fchmod(file, 0o666)
        defer {
            close(file)
            unlink(path)
        }
        guard let findings = pool.escape(from: path, network: allowNetwork),
            let lacking = pool.lacking(within: 10)
        else {
            Terminal.say("error: no worker can be started, or it died")
            throw ExitCode.environment
        }
        let report = Report(
            ffmpeg: LibraryVersions.ffmpeg, kernel: Self.kernel, landlock: KernelFeatures.landlockVersion,
            isRoot: geteuid() == 0, lacking: lacking,
            sandbox: !workers.sandbox
                ? "off" : lacking.isEmpty ? "whole" : "without " + lacking.joined(separator: ", "),
            attempts: findings.map {
                Report.Attempt(attempt: $0.attempt, isClosed: $0.isClosed, reason: $0.reason)
            })
        switch format {
        case .json:
            Terminal.print(try JSONForm.text(of: report))
        case .text: Terminal.print(Self.text(report))
        }
        let isOpen = findings.contains { !$0.isClosed && !(allowNetwork && $0.isForNetwork) }
        if isOpen || !lacking.isEmpty { throw ExitCode.environment }
    }

    private static func text(_ report: Report) -> String {
        var lines = [
            "FFmpeg     \(report.ffmpeg)", "kernel     Linux \(report.kernel)",
            "Landlock   \(report.landlock == 0 ? "none" : "version \(report.landlock)")",
            "user       \(report.isRoot ? "root; each worker is another one" : "not root; workers are the same one")",
            "sandbox    \(report.sandbox)",
            "attempts of a worker to",
        ]
        for attempt in report.attempts {
            let mark = attempt.isClosed ? "  denied   " : "  ALLOWED  "
            lines.append(mark + attempt.attempt + (attempt.reason.map { " (\($0))" } ?? ""))
        }
        return lines.map { TextRenderer.printable($0) + "\n" }.joined()
    }

    private static var kernel: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "unknown" }
        return withUnsafePointer(to: &name.release) {
            $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
        }
    }
}
