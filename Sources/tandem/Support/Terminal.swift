internal import Diagnostics
internal import Engine
internal import Glibc
internal import Locking

/// The standard output and error streams.
enum Terminal {
    private static let firstWriteError = Guarded<Int32?>(nil)

    /// First write error of standard output; nil if there was none. `EPIPE` doesn't count: the reader has closed the
    /// pipe.
    static var writeError: String? { firstWriteError.withLock { $0 }.map { String(cString: strerror($0)) } }

    /// Writes to standard output.
    static func print(_ text: String) {
        guard let code = StreamWriting.write(text, to: STDOUT_FILENO), code != EPIPE else { return }
        firstWriteError.withLock { $0 = $0 ?? code }
    }
    /// Writes to standard error.
    static func report(_ text: String) { StreamWriting.write(text, to: STDERR_FILENO) }

    /// Writes a line to standard error, with control characters of untrusted text escaped.
    static func reportLine(_ line: String) { report(SafeText.line(line) + "\n") }

    /// Whether standard error is a terminal that supports control sequences.
    static var isInteractive: Bool {
        isatty(STDERR_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Whether colors are used: on a terminal, unless `NO_COLOR` is set.
    static var usesColor: Bool { isInteractive && (getenv("NO_COLOR").map { $0[0] == 0 } ?? true) }

    /// Width of the terminal of a stream in columns; 80 if unknown.
    static func width(of stream: Int32) -> Int {
        var size = winsize()
        guard ioctl(stream, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Standard error as the console of a run.
    static var console: Console {
        Console(
            isInteractive: isInteractive, usesColor: usesColor, width: { width(of: STDERR_FILENO) },
            write: { report($0) })
    }
}
