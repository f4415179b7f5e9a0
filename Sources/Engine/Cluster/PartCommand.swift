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

    /// Cache of outputs, with an absolute path; nil for none.
    package var cache: CacheSettings?

    /// Creates the command of a program with the given access and workers. `program`: its absolute path; nil for this
    /// program.
    /// - Throws: An environment error if the path of this program isn't known.
    package init(
        program: String?, root: String?, isUntrusted: Bool, allowsNetwork: Bool, workers: WorkerSettings
    ) throws(EngineError) {
        guard let path = program ?? ProgramFile.path else {
            throw EngineError(.environment, "the path of this program isn't known; state it by --program")
        }
        self.program = path
        self.root = root
        (self.isUntrusted, self.allowsNetwork) = (isUntrusted, allowsNetwork)
        (usesWorkers, isSandboxed) = (workers.usesWorkers, workers.isSandboxed)
        (requiresSandbox, workerMemory) = (workers.requiresSandbox, workers.memory)
    }

    /// Whether the paths are absolute and the numbers in range. Commands also come from the shared folder.
    package var isValid: Bool {
        program.hasPrefix("/") && root?.hasPrefix("/") != false
            && workerMemory.map { (16 << 20...1 << 50).contains($0) } ?? true && cache?.isValid != false
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
        if let cache { words += cache.arguments }
        return words
    }

    /// Returns the words of `tandem collect`, which writes reports into the folder.
    func collect(_ folder: String) -> [String] {
        var words = [program, "collect", folder]
        if let root { words += ["--root", root] }
        let (junit, reports) = Self.reports(in: folder)
        return words + reports.flatMap { ["--report", $0] } + ["--junit", junit]
    }

    /// Returns the paths of a batch's reports: JUnit XML, and HTML and JSON.
    static func reports(in folder: String) -> (junit: String, reports: [String]) {
        (folder + "/junit.xml", [folder + "/report.html", folder + "/report.json"])
    }
}
