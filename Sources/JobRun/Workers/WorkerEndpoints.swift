internal import CLinux
internal import FileSystem
internal import Glibc

/// A started worker: its process id, and the supervisor's ends of its channel and of its standard error.
struct WorkerEndpoints: Sendable {
    var process: pid_t
    var channel: Int32
    var errorOutput: Int32

    /// Starts this executable as a worker in its own process group, so that Ctrl-C in a terminal reaches only
    /// the supervisor. The worker inherits neither the environment nor other descriptors.
    static func spawn() throws -> WorkerEndpoints {
        var (pair, errorPipe): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard tandem_open_worker_line(&pair, &errorPipe) == 0 else {
            throw SystemError("opening the connection to a worker", errno: errno)
        }
        defer {
            close(pair[1])
            close(errorPipe[1])
        }
        do {
            let process = try spawn(socket: pair[1], errors: errorPipe[1])
            return WorkerEndpoints(process: process, channel: pair[0], errorOutput: errorPipe[0])
        } catch {
            close(pair[0])
            close(errorPipe[0])
            throw error
        }
    }

    private static func spawn(socket: Int32, errors: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        posix_spawn_file_actions_adddup2(&actions, socket, WorkerMain.descriptor)
        // Closes descriptors that this process inherited or that lack close-on-exec.
        let refusal = tandem_spawn_without(&actions, WorkerMain.descriptor + 1)
        guard refusal == 0 else { throw SystemError("starting a worker", errno: refusal) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var nothing = sigset_t()
        sigemptyset(&nothing)
        posix_spawnattr_setsigmask(&attributes, &nothing)
        var handled = sigset_t()
        sigemptyset(&handled)
        for number in [SIGINT, SIGTERM, SIGPIPE, SIGXFSZ] { sigaddset(&handled, number) }
        posix_spawnattr_setsigdefault(&attributes, &handled)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | Int32(POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let texts = ["tandem", WorkerMain.argument].map { (word: String) in strdup(word) }
        defer { for text in texts { free(text) } }
        var process: pid_t = 0
        let code = posix_spawn(
            &process, "/proc/self/exe", &actions, &attributes, texts + [nil], tandem_worker_environment())
        guard code == 0 else { throw SystemError("starting a worker", errno: code) }
        return process
    }
}
