internal import CFFmpeg

/// A failed call of FFmpeg's libraries: what was tried, on what, and what the library said.
public struct AVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The negative return code (`AVERROR(…)`).
    public var code: Int32
    /// The operation that failed, by its C name or in plain words.
    public var operation: String
    /// The last line that the library logged about it, if any.
    public var detail: String?
    /// What the library understood can be read on after it.
    public internal(set) var isPartial = false

    /// Makes an error from a return code and the operation that returned it.
    public init(code: Int32, operation: String, detail: String? = nil) {
        self.code = code
        self.operation = operation
        self.detail = detail
    }

    /// What the code means, in the library's words (`av_strerror`).
    public var reason: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) >= 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }

    /// One line for people: the library's last words where there are some, its reason otherwise.
    public var description: String {
        if let detail, !detail.isEmpty { return "\(detail) (\(operation): \(reason))" }
        return "\(reason) (\(operation))"
    }

    /// The data can't be understood (`AVERROR_INVALIDDATA`).
    public var isInvalidData: Bool { code == tandem_invaliddata }
    /// The positive `errno` behind the code, where it is one.
    public var errnoValue: Int32? { code < 0 && code > -4096 ? -code : nil }

    static func outOfMemory(_ operation: String) -> AVError {
        AVError(code: tandem_enomem, operation: operation)
    }
}

/// Turns a return code into an error that carries the operation and the context's last log line.
@discardableResult
func check(
    _ code: Int32, _ operation: StaticString, context: UnsafeMutableRawPointer? = nil
) throws(AVError) -> Int32 {
    if code >= 0 { return code }
    throw AVError(code: code, operation: "\(operation)", detail: LogBridge.takeLastLine(of: context))
}
