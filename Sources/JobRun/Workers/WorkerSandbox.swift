internal import CSandbox
internal import Glibc

/// The confinement of a worker: its limits on system resources, and the paths to which it has access.
struct WorkerSandbox {
    private let arguments: WorkerMain.Arguments
    /// Whether only the process's own files in `/proc` are accessible.
    private let seesOwnThreadsAlone: Bool

    init(_ arguments: WorkerMain.Arguments, seesOwnThreadsAlone: Bool) {
        self.arguments = arguments
        self.seesOwnThreadsAlone = seesOwnThreadsAlone
    }

    /// System paths that encoders, decoders, Dispatch and the dynamic linker read.
    private static let readablePaths = [
        "/sys/devices/system/cpu", "/sys/devices/system/node", "/usr/lib", "/usr/lib64", "/usr/local/lib",
        "/lib",
        "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/fonts", "/usr/local/share/fonts",
        "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
        "/dev/null", "/dev/zero", "/dev/urandom",
    ]
    /// Additional system paths for fetching URLs: name resolution and certificates.
    private static let networkReadablePaths = [
        "/etc/ssl", "/usr/share/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
        "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    ]

    /// Range of unassigned user ids. Workers that root starts run under different ids of it.
    private static let userIDs: (first: UInt32, count: UInt32) = (61_184, 4_000)

    // MARK: Limits

    /// Sets the limits that don't depend on the arguments: core dumps and open files.
    static func applyFixedLimits() {
        limit(RLIMIT_CORE, to: 0)
        limit(RLIMIT_NOFILE, to: 512)
    }

    /// Limits the memory. The supervisor checks it only twice a second. This limit bounds the use in between:
    /// twice the allowed memory, and space for the threads' stacks.
    func limitMemory() {
        if arguments.memory > 0 {
            Self.limit(RLIMIT_DATA, to: rlim_t(clamping: arguments.memory &* 2 &+ 1 << 30))
        }
    }

    private static func limit(_ resource: __rlimit_resource, to value: rlim_t) {
        var bounds = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 else { return }
        bounds.rlim_max = min(bounds.rlim_max, value)
        bounds.rlim_cur = bounds.rlim_max
        setrlimit(__rlimit_resource_t(resource.rawValue), &bounds)
    }

    // MARK: Sandbox

    /// Enters the sandbox. Returns the parts that could not be enabled, as bits.
    func enter() -> Int32 {
        var user = geteuid() == 0 ? Self.userIDs.first + UInt32(getpid()) % Self.userIDs.count : 0
        var folder: UnsafeMutablePointer<CChar>?
        if !arguments.folder.isEmpty {
            folder = strdup("\(arguments.folder)/\(getpid())")
            guard let folder, mkdir(folder, 0o700) == 0 else {
                WorkerMain.printError(
                    "the folder for two passes can't be created: \(String(cString: strerror(errno)))")
                _exit(1)
            }
            // In a container without other users, root can't change the owner; the missing part is reported.
            if user != 0, chown(folder, user, user) != 0 { user = 0 }
        }
        defer { free(folder) }
        let paths =
            Self.readablePaths + [seesOwnThreadsAlone ? "/proc/self" : "/proc"]
            + (arguments.mayUseNetwork ? Self.networkReadablePaths : [])
        return Self.withPaths(paths) { readable in
            var wanted = tandem_sandbox()
            wanted.readable = readable
            wanted.folder = folder.map { UnsafePointer($0) }
            wanted.network = arguments.mayUseNetwork ? 1 : 0
            wanted.own_processes_only = seesOwnThreadsAlone ? 1 : 0
            wanted.user = user
            return tandem_enter_sandbox(&wanted)
        }
    }

    private static func withPaths<Result>(
        _ paths: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let texts = paths.map { strdup($0) }
        defer { for text in texts { free(text) } }
        return (texts.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
