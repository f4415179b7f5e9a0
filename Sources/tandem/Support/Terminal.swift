internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import Locking

/// The standard streams.
enum Terminal {
    private static let firstLoss = Guarded<Int32?>(nil)

    /// Why standard output didn't take all; nil where it did. Who stops reading wants no more, which is no loss.
    static var loss: String? { firstLoss.withLock { $0 }.map { String(cString: strerror($0)) } }

    /// Writes to standard output.
    static func print(_ text: String) {
        guard let code = write(text, to: STDOUT_FILENO), code != EPIPE else { return }
        firstLoss.withLock { $0 = $0 ?? code }
    }
    /// Writes to standard error.
    static func report(_ text: String) { write(text, to: STDERR_FILENO) }

    /// Writes a line to standard error, whatever names and words of others it has in it.
    static func say(_ line: String) { report(SafeText.line(line) + "\n") }

    /// Writes to a descriptor; what it doesn't take is lost, and why is returned.
    @discardableResult
    static func write(_ text: String, to descriptor: Int32) -> Int32? {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let put = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            if put > 0 { done += put } else if errno != EINTR { return errno }
        }
        return nil
    }

    /// Why a file can't be written or read, in a few words.
    static func reason(_ error: any Error) -> String {
        if let error = error as? CocoaError, let code = error.underlying as? POSIXError {
            return String(cString: strerror(code.code.rawValue))
        }
        return "\(error)"
    }

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
}
