internal import CFFmpeg
internal import Locking

/// Keeps FFmpeg's log off the terminal and remembers the last error line of each context, for `AVError.detail`.
public enum LogBridge {
    private struct State: Sendable {
        var lastLines: [UInt: String] = [:]
        var lastLine: String?
        /// What an encoder said of an option that it left out.
        var warnings: [UInt: String] = [:]
        /// Lines that have no end yet.
        var pieces: [UInt: String] = [:]
    }

    private static let state = Guarded(State())
    private static let unheeded = [
        "Error parsing option", "Unknown option", "Invalid value for", "Bad value for",
    ]
    /// More contexts than ever fail at once; a bound, so that a noisy file can't eat memory.
    private static let capacity = 256

    /// Installed once, on first use of the library (`av_log_set_callback`).
    private static let installed: Void = {
        av_log_set_level(AV_LOG_WARNING)
        av_log_set_callback { context, level, format, arguments in
            guard level <= AV_LOG_WARNING, let format, let arguments else { return }
            LogBridge.record(context: context, level: level, format: format, arguments: arguments)
        }
    }()

    /// Routes the libraries' log here; called by every entry point of this module.
    public static func install() { installed }

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
            let text = tidied((state.pieces.removeValue(forKey: key) ?? "") + line)
            guard isWhole else {
                if state.pieces.count >= capacity { state.pieces.removeAll(keepingCapacity: true) }
                state.pieces[key] = String(text.prefix(500))
                return
            }
            guard !text.isEmpty else { return }
            if level > AV_LOG_ERROR {
                // Encoders go on without an option of their own that they don't understand, and only warn.
                guard unheeded.contains(where: { text.contains($0) }) else { return }
                if state.warnings.count >= capacity { state.warnings.removeAll(keepingCapacity: true) }
                state.warnings[key] = text
                return
            }
            if state.lastLines.count >= capacity { state.lastLines.removeAll(keepingCapacity: true) }
            state.lastLines[key] = text
            state.lastLine = text
        }
    }

    /// The line without its end and control characters, so that a hostile file can't write to a terminal.
    private static func tidied(_ line: String) -> String {
        let printable = line.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
        var text = String(String.UnicodeScalarView(printable))
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The last error line that a context logged, forgotten once taken.
    static func takeLastLine(of context: UnsafeMutableRawPointer?) -> String? {
        state.withLock { state in
            defer { state.lastLine = nil }
            if let context { return state.lastLines.removeValue(forKey: UInt(bitPattern: context)) }
            return state.lastLine
        }
    }

    /// What a context said of an option that it left out, forgotten once taken.
    static func takeUnheededOption(of context: UnsafeMutableRawPointer?) -> String? {
        guard let context else { return nil }
        return state.withLock { $0.warnings.removeValue(forKey: UInt(bitPattern: context)) }
    }

    /// Forgets what was logged about a context that is about to be freed: its address may come again.
    static func forget(_ context: UnsafeMutableRawPointer?) {
        state.withLock { state in
            state.lastLines.removeValue(forKey: UInt(bitPattern: context))
            state.warnings.removeValue(forKey: UInt(bitPattern: context))
        }
    }
}
