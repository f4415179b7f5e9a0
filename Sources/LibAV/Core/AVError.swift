internal import CFFmpeg
public import Errors
internal import Glibc

/// An error of FFmpeg's libraries: return code, failed operation, and explanation.
public struct AVError: TandemError, Hashable {
    /// The negative return code (`AVERROR(…)`).
    public var code: Int32
    /// Failed operation: the name of a C function, or a description.
    public var operation: String
    /// Explanation: the last error line that the library logged, or a message of this module; nil if there is none.
    public var detail: String?
    /// Whether the library read part of the data, so that reading can continue after the error.
    public internal(set) var isPartial = false

    /// Creates an error from a return code and the operation that returned it.
    public init(code: Int32, operation: String, detail: String? = nil) {
        self.code = code
        self.operation = operation
        self.detail = detail
    }

    /// FFmpeg's text for the code (`av_strerror`).
    public var reason: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) >= 0 else {
                return "error \(code)"
            }
            return String(cString: base)
        }
    }

    /// Description in one line: `detail` if there is one, `reason` and `operation`.
    public var description: String {
        if let detail, !detail.isEmpty { return "\(detail) (\(operation): \(reason))" }
        return "\(reason) (\(operation))"
    }

    /// Whether the data is invalid (`AVERROR_INVALIDDATA`).
    public var isInvalidData: Bool { code == tandem_invaliddata }
    /// The positive `errno` of the code; nil for error codes that FFmpeg defines.
    public var errnoValue: Int32? { code < 0 && code > -4096 ? -code : nil }

    /// The kind of the error, by its code.
    public var kind: ErrorKind {
        switch code {
        case tandem_exit: return .cancelled
        case tandem_invaliddata: return .damagedData
        case tandem_encoder_not_found: return .encoderNotAvailable
        case tandem_decoder_not_found, tandem_demuxer_not_found, tandem_muxer_not_found,
            tandem_protocol_not_found, tandem_patchwelcome, tandem_bsf_not_found:
            return .unsupportedFormat
        case tandem_option_not_found: return .invalidSettings
        case tandem_http_not_found: return .notFound
        default: break
        }
        switch errnoValue {
        case ENOMEM?: return .outOfMemory
        case ENOSPC?, EDQUOT?: return .diskFull
        case ENOENT?: return .notFound
        case EACCES?, EPERM?: return .accessDenied
        default: return .failed
        }
    }

    /// The error of an operation that another failure, or a cancellation, has ended.
    package static func ended(_ operation: String) -> AVError {
        AVError(code: -ECANCELED, operation: operation, detail: "it has been ended")
    }

    static func outOfMemory(_ operation: String) -> AVError {
        AVError(code: tandem_enomem, operation: operation)
    }
}

/// Returns a return code unless it is negative. Otherwise throws an error with the operation and the context's last
/// log line.
@discardableResult
func check(
    _ code: Int32, _ operation: StaticString, context: UnsafeMutableRawPointer? = nil
) throws(AVError) -> Int32 {
    if code >= 0 { return code }
    throw AVError(code: code, operation: "\(operation)", detail: LogBridge.takeLastLine(of: context))
}
