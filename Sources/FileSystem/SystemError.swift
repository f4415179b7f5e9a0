public import Errors
internal import Glibc
package import SystemPackage

/// A system call on an output that failed.
public struct SystemError: TandemError, Hashable {
    /// The operation that failed, such as `opening the folder /out`.
    public let operation: String
    /// Error code of the system.
    package let code: Errno

    /// Creates an error from an operation and its `errno`.
    package init(_ operation: String, errno: CInt) {
        self.operation = operation
        code = Errno(rawValue: errno)
    }

    /// The system's error number (`errno`).
    public var errnoValue: Int32 { code.rawValue }

    /// The kind of the error, by its number.
    public var kind: ErrorKind {
        switch errnoValue {
        case ENOSPC, EDQUOT: .diskFull
        case EEXIST, ENOTEMPTY: .destinationExists
        case ENOENT, EACCES, EPERM, EROFS, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP: .destinationNotWritable
        case ENOMEM: .outOfMemory
        default: .failed
        }
    }

    /// The error in one line.
    public var description: String { "\(operation): \(code)" }
}
