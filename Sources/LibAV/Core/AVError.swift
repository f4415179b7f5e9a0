internal import CFFmpeg

/// An error of FFmpeg's libraries: the operation, its context, and the library's message.
public struct AVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The negative return code (`AVERROR(…)`).
    public var code: Int32
    /// Failed operation, as a C function or in plain words.
    public var operation: String
    /// Last line that the library logged about the error; nil if there is none.
    public var detail: String?
    /// Whether the library read part of the data, so that reading can continue after the error.
    public internal(set) var isPartial = false

    /// Creates an error from a return code and the operation that returned it.
    public init(code: Int32, operation: String, detail: String? = nil) {
        self.code = code
        self.operation = operation
        self.detail = detail
    }

    /// Text of the library for the code (`av_strerror`).
    public var reason: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) >= 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }

    /// Description in one line: the library's last log line if there is one, otherwise its text for the code.
    public var description: String {
        if let detail, !detail.isEmpty { return "\(detail) (\(operation): \(reason))" }
        return "\(reason) (\(operation))"
    }

    /// Whether the data is invalid (`AVERROR_INVALIDDATA`).
    public var isInvalidData: Bool { code == tandem_invaliddata }
    /// The positive `errno` of the code; nil if it isn't one.
    public var errnoValue: Int32? { code < 0 && code > -4096 ? -code : nil }

    static func outOfMemory(_ operation: String) -> AVError {
        AVError(code: tandem_enomem, operation: operation)
    }
}

/// Throws an error with the operation and the context's last log line if a return code is negative.
@discardableResult
func check(
    _ code: Int32, _ operation: StaticString, context: UnsafeMutableRawPointer? = nil
) throws(AVError) -> Int32 {
    if code >= 0 { return code }
    throw AVError(code: code, operation: "\(operation)", detail: LogBridge.takeLastLine(of: context))
}
