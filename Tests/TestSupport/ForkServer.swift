internal import Foundation
internal import Glibc
internal import Locking

/// A running program that forks for each call, so that its libraries are loaded once per test process.
///
/// Loading ffmpeg or ffprobe takes 90 ms of processor time and tandem 40, several times as long as most of the tests'
/// thousands of calls. `Tests/ForkServer/fork-server.c` describes the mechanism; the program itself is unchanged.
final class ForkServer: Sendable {
    private static let servers = Guarded<[String: ForkServer?]>([:])

    private let socketName: String
    private let process: Process
    /// Standard input of the server, which exits when this end is closed, at the latest with the test process.
    private let lifeline: Pipe

    /// Programs with a server: a program that the environment names may be one of AddressSanitizer, which accepts no
    /// preloaded library.
    private static let programs =
        ["ffmpeg", "ffprobe"] + (TestPaths.givenProgram == nil ? [TestPaths.tandem] : [])

    /// Returns the server of a program, starting it on the first call; nil if it can't be started, for example without
    /// a C compiler, or if the added environment affects how libraries are loaded.
    static func of(_ program: String, environment: [String: String]) -> ForkServer? {
        guard programs.contains(program),
            !environment.keys.contains(where: { name in ["LD_", "MALLOC_"].contains(where: name.hasPrefix) })
        else { return nil }
        return servers.withLock { servers in
            if let known = servers[program] { return known }
            let server = try? ForkServer(program)
            servers[program] = .some(server)
            return server
        }
    }

    private init(_ program: String) throws {
        let scratch = try Scratch()
        let library = scratch.file("fork-server.so")
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "cc", "-shared", "-fPIC", "-O1", "-o", library,
            TestPaths.repository + "/Tests/ForkServer/fork-server.c",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw ProgramError(message: "cc failed") }
        socketName = "tandem-tests-\(UUID().uuidString)"
        lifeline = Pipe()
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process = Process()
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        guard let path = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw ProgramError(message: "\(program) is not installed")
        }
        process.executableURL = URL(filePath: path)
        process.environment = ProcessInfo.processInfo.environment.merging([
            "LD_PRELOAD": library, "FORK_SERVER_SOCKET": socketName, "SWIFT_BACKTRACE": "enable=no",
        ]) { $1 }
        process.standardInput = lifeline
        let ready = Pipe()
        process.standardOutput = ready
        try process.run()
        try ready.fileHandleForWriting.close()
        // The server writes a byte once it listens; the library may be removed afterwards. If the server exits instead,
        // the pipe is closed.
        guard ready.fileHandleForReading.readData(ofLength: 1).count == 1 else {
            throw ProgramError(message: "\(program): no fork server")
        }
    }

    /// Runs the program until it exits, with standard output and error redirected to existing files. Returns the wait
    /// status; nil if the server doesn't reply.
    func run(
        _ arguments: [String], directory: String, environment: [String: String], output: String,
        errors: String
    ) -> Int32? {
        let strings =
            ["\(arguments.count)", directory, output, errors] + arguments
            + environment.map { "\($0.key)=\($0.value)" }
        guard !strings.contains(where: { $0.utf8.contains(0) }), let connection = connect() else {
            return nil
        }
        defer { close(connection) }
        let body: [UInt8] = strings.flatMap { Array($0.utf8) + [0] }
        var request: [UInt8] = withUnsafeBytes(of: UInt32(body.count)) { Array($0) } + body
        while !request.isEmpty {
            let count = send(connection, request, request.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            request.removeFirst(count)
        }
        var status: Int32 = 0
        while true {
            let count = read(connection, &status, MemoryLayout<Int32>.size)
            if count < 0, errno == EINTR { continue }
            return count == MemoryLayout<Int32>.size ? status : nil
        }
    }

    /// Connects to the server's abstract socket; returns nil if the server doesn't listen.
    private func connect() -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path[0] = 0
            path[1...].copyBytes(from: socketName.utf8)
        }
        let length = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + 1 + socketName.utf8.count
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(length))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
