internal import CFFmpeg
internal import Glibc
internal import Locking

/// Keeps FFmpeg's log off the terminal and remembers the last error line of each context, for `AVError.detail`.
package enum LogBridge {
    private struct State: Sendable {
        /// The last error line of each context.
        var errors = RecentLines()
        /// The last error line of all, and the thread that said it.
        var lastLine: (thread: pthread_t, text: String)?
        /// What an encoder said of an option that it left out or can't keep to.
        var warnings = RecentLines()
        /// Lines that have no end yet.
        var pieces = RecentLines()
    }

    /// Lines by context, the latest of them: a file of many messages, or the contexts that the libraries make for
    /// themselves and free unheard, can't eat memory.
    private struct RecentLines: Sendable {
        private static let capacity = 256
        private var recent: [UInt: String] = [:]
        private var older: [UInt: String] = [:]

        mutating func put(_ line: String, of key: UInt) {
            if recent.count >= Self.capacity {
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

    private static let state = Guarded(State())
    private static let unheeded = [
        "Error parsing option", "Unknown option", "Invalid value for", "Bad value for", levelLimit,
    ]
    /// What x264 says where frames, their rate or their buffer are more than a level has.
    static let levelLimit = "> level limit"

    /// Installed once, on first use of the library (`av_log_set_callback`).
    private static let installed: Void = {
        av_log_set_level(AV_LOG_WARNING)
        av_log_set_callback { context, level, format, arguments in
            guard level <= AV_LOG_WARNING, let format, let arguments else { return }
            LogBridge.record(context: context, level: level, format: format, arguments: arguments)
        }
    }()

    /// Routes the libraries' log here; called by every entry point of this module.
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
        // Some lines are said in several pieces.
        let isWhole = line.utf8.last == 0x0a || line.utf8.last == 0x0d
        state.withLock { state in
            let text = tidied((state.pieces.take(key) ?? "") + line)
            guard isWhole else {
                state.pieces.put(String(text.prefix(500)), of: key)
                return
            }
            guard !text.isEmpty else { return }
            if level > AV_LOG_ERROR {
                // Encoders go on without an option of their own that they don't understand, and only warn.
                guard unheeded.contains(where: { text.contains($0) }) else { return }
                if !state.warnings.has(key) { state.warnings.put(text, of: key) }
                return
            }
            state.errors.put(text, of: key)
            state.lastLine = (pthread_self(), text)
        }
    }

    /// The line without its end and control characters, so that a hostile file can't write to a terminal.
    private static func tidied(_ line: String) -> String {
        let printable = line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
        var text = String(String.UnicodeScalarView(printable))
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The last error line that a context logged, forgotten once taken. Of nil, the last one that this thread saw.
    static func takeLastLine(of context: UnsafeMutableRawPointer?) -> String? {
        state.withLock { state in
            let last = state.lastLine
            let isOwn = last.map { pthread_equal($0.thread, pthread_self()) != 0 } ?? false
            if isOwn { state.lastLine = nil }
            if let context { return state.errors.take(UInt(bitPattern: context)) }
            return isOwn ? last?.text : nil
        }
    }

    /// The first thing that a context said of an option that it left out or can't keep to, forgotten once taken.
    static func takeUnheededOption(of context: UnsafeMutableRawPointer?) -> String? {
        guard let context else { return nil }
        return state.withLock { $0.warnings.take(UInt(bitPattern: context)) }
    }

    /// A context just allocated, of which nothing was said yet: another one may have been at its address, also one that
    /// a library made for itself.
    static func fresh<Context>(_ context: UnsafeMutablePointer<Context>?) -> UnsafeMutablePointer<Context>? {
        install()
        let key = UInt(bitPattern: context)
        state.withLock { state in
            _ = (state.errors.take(key), state.warnings.take(key), state.pieces.take(key))
        }
        return context
    }
}
