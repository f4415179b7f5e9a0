internal import CFFmpeg
internal import Glibc
internal import Locking

/// The most recent lines by context. Their number is limited, so that neither a file with many messages nor contexts
/// that the libraries create internally can exhaust memory. A line is retained until at least `capacity` other contexts
/// have logged.
struct RecentLines: Sendable {
    private let capacity: Int
    private var recent: [UInt: String] = [:]
    private var older: [UInt: String] = [:]

    init(capacity: Int) { self.capacity = capacity }

    mutating func put(_ line: String, of key: UInt) {
        if recent[key] == nil, recent.count >= capacity {
            older = recent
            recent = [:]
        }
        recent[key] = line
    }

    func has(_ key: UInt) -> Bool { recent[key] != nil || older[key] != nil }

    mutating func take(_ key: UInt) -> String? {
        guard !recent.isEmpty || !older.isEmpty else { return nil }
        let before = older.removeValue(forKey: key)
        return recent.removeValue(forKey: key) ?? before
    }
}

/// A log callback that replaces FFmpeg's output to the terminal. The last error line of each context is stored for
/// `AVError.detail`.
package enum LogBridge {
    private struct State: Sendable {
        /// The last error line of each context.
        /// All jobs of a process share the table: contexts of parallel jobs may log before an error is taken.
        var errors = RecentLines(capacity: 2048)
        /// The last error line of any context, with the thread that logged it.
        var lastLine: (thread: pthread_t, text: String)?
        /// The first warning of each context about an option that the encoder ignores or can't satisfy.
        var warnings = RecentLines(capacity: 2048)
        /// Beginnings of lines that are logged in several parts.
        var pieces = RecentLines(capacity: 256)
    }

    private static let state = Guarded(State())
    private static let ignoredOptionMessages = [
        "Error parsing option", "Unknown option", "Invalid value for", "Bad value for", levelLimit,
    ]
    /// Part of x264's warning if frame size, frame rate or buffer size exceed the level.
    static let levelLimit = "> level limit"

    /// Initializer that installs the log callback once (`av_log_set_callback`).
    private static let installed: Void = {
        av_log_set_level(AV_LOG_WARNING)
        av_log_set_callback { context, level, format, arguments in
            guard level <= AV_LOG_WARNING, let format, let arguments else { return }
            LogBridge.record(context: context, level: level, format: format, arguments: arguments)
        }
    }()

    /// Installs the log callback. Functions that create the first FFmpeg object of an operation call this function.
    package static func install() { installed }

    private static func record(
        context: UnsafeMutableRawPointer?, level: Int32, format: UnsafePointer<CChar>,
        arguments: CVaListPointer
    ) {
        let line = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer -> String in
            var printPrefix: Int32 = 0
            guard let base = buffer.baseAddress else { return "" }
            av_log_format_line2(context, level, format, arguments, base, Int32(buffer.count), &printPrefix)
            return String(cString: base)
        }
        let key = UInt(bitPattern: context)
        // Some lines are logged in several parts.
        let isWhole = line.utf8.last == 0x0a || line.utf8.last == 0x0d
        state.withLock { state in
            let text = tidied((state.pieces.take(key) ?? "") + line)
            guard isWhole else {
                state.pieces.put(String(text.prefix(500)), of: key)
                return
            }
            guard !text.isEmpty else { return }
            if level > AV_LOG_ERROR {
                // Encoders ignore invalid private options and only log a warning.
                guard ignoredOptionMessages.contains(where: { text.contains($0) }) else { return }
                if !state.warnings.has(key) { state.warnings.put(text, of: key) }
                return
            }
            state.errors.put(text, of: key)
            state.lastLine = (pthread_self(), text)
        }
    }

    /// Removes the line break, control characters and trailing spaces, so that an untrusted file can't control a
    /// terminal.
    private static func tidied(_ line: String) -> String {
        let printable = line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
        var text = String(String.UnicodeScalarView(printable))
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Removes and returns the last error line of a context; for a nil context, the last line that this thread
    /// logged.
    static func takeLastLine(of context: UnsafeMutableRawPointer?) -> String? {
        state.withLock { state in
            let last = state.lastLine
            let isOwn = last.map { pthread_equal($0.thread, pthread_self()) != 0 } ?? false
            if isOwn { state.lastLine = nil }
            if let context { return state.errors.take(UInt(bitPattern: context)) }
            return isOwn ? last?.text : nil
        }
    }

    /// Removes and returns the first warning of a context about an option that the encoder ignores or can't satisfy.
    static func takeIgnoredOption(of context: UnsafeMutableRawPointer?) -> String? {
        guard let context else { return nil }
        return state.withLock { $0.warnings.take(UInt(bitPattern: context)) }
    }

    /// Discards log lines of an earlier context at the same address, and returns the newly allocated context.
    /// Libraries free internal contexts without a notification.
    static func fresh<Context>(_ context: UnsafeMutablePointer<Context>?) -> UnsafeMutablePointer<Context>? {
        install()
        let key = UInt(bitPattern: context)
        state.withLock { state in
            _ = (state.errors.take(key), state.warnings.take(key), state.pieces.take(key))
        }
        return context
    }
}
