internal import Diagnostics
internal import Engine
internal import Glibc
internal import Locking

/// The standard streams.
enum Terminal {
    private static let firstLoss = Guarded<Int32?>(nil)

    /// Why standard output didn't take all; nil where it did. Who stops reading wants no more, which is no loss.
    static var loss: String? { firstLoss.withLock { $0 }.map { String(cString: strerror($0)) } }

    /// Writes to standard output.
    static func print(_ text: String) {
        guard let code = StreamWriting.write(text, to: STDOUT_FILENO), code != EPIPE else { return }
        firstLoss.withLock { $0 = $0 ?? code }
    }
    /// Writes to standard error.
    static func report(_ text: String) { StreamWriting.write(text, to: STDERR_FILENO) }

    /// Writes a line to standard error, whatever names and words of others it has in it.
    static func say(_ line: String) { report(SafeText.line(line) + "\n") }

    /// Standard error is a terminal that understands control sequences.
    static var isInteractive: Bool {
        isatty(STDERR_FILENO) == 1 && getenv("TERM").map { String(cString: $0) } != "dumb"
    }

    /// Colour is wanted: a terminal, and no `NO_COLOR`.
    static var usesColor: Bool { isInteractive && (getenv("NO_COLOR").map { $0[0] == 0 } ?? true) }

    /// Columns of the terminal.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Standard error, for the display of a run.
    static var console: Console {
        Console(
            isInteractive: isInteractive, usesColor: usesColor, width: { width }, write: { report($0) })
    }
}
