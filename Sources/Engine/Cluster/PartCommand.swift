internal import Glibc

/// The command line that runs a part, and the one that collects the results.
package struct PartCommand: Codable, Hashable, Sendable {
    /// Absolute path of the program, which every machine has there.
    package var program: String
    /// Value of `--root`; nil if none is given.
    package var root: String?
    package var isUntrusted = false
    package var allowsNetwork = false
    package var usesWorkers = true
    package var isSandboxed = true
    package var requiresSandbox = false
    /// Memory limit of a worker in bytes; nil for the default.
    package var workerMemory: Int64?

    /// Creates the command of a program with the given access and workers.
    package init(
        program: String, root: String?, isUntrusted: Bool, allowsNetwork: Bool, workers: WorkerSettings
    ) {
        self.program = program
        self.root = root
        (self.isUntrusted, self.allowsNetwork) = (isUntrusted, allowsNetwork)
        (usesWorkers, isSandboxed) = (workers.usesWorkers, workers.isSandboxed)
        (requiresSandbox, workerMemory) = (workers.requiresSandbox, workers.memory)
    }

    /// Returns the path of this program.
    /// - Throws: An environment error if it isn't known.
    package static func thisProgram() throws(EngineError) -> String {
        var path = [CChar](repeating: 0, count: 4097)
        let length = readlink("/proc/self/exe", &path, 4096)
        guard length > 0, path[0] == CChar(bitPattern: UInt8(ascii: "/")) else {
            throw EngineError(.environment, "the path of this program isn't known; state it by --program")
        }
        return String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the paths are absolute and the numbers in range. Commands also come from the shared folder.
    package var isValid: Bool {
        program.hasPrefix("/") && root?.hasPrefix("/") != false
            && workerMemory.map { (16 << 20...1 << 50).contains($0) } ?? true
    }

    /// Returns the words of `tandem run` for a part of the plan in a folder, without `--shard`.
    func run(_ folder: String) -> [String] {
        var words = [program, "run", "--plan", folder, "--quiet"]
        if let root { words += ["--root", root] }
        if isUntrusted { words.append("--untrusted") }
        if allowsNetwork { words.append("--allow-network") }
        if !usesWorkers { words += ["--isolation", "none"] }
        if !isSandboxed { words.append("--no-sandbox") }
        if requiresSandbox { words.append("--require-sandbox") }
        if let workerMemory { words += ["--worker-memory", "\(workerMemory >> 10)KiB"] }
        return words
    }

    /// Returns the words of `tandem collect`, which writes reports into the folder.
    func collect(_ folder: String) -> [String] {
        var words = [program, "collect", folder]
        if let root { words += ["--root", root] }
        return words + [
            "--report", folder + "/report.html", "--report", folder + "/report.json", "--junit",
            folder + "/junit.xml",
        ]
    }
}
