internal import Glibc
internal import LibAV
internal import Media
internal import FileSystem
internal import SystemPackage

/// The classification of errors as transient or permanent.
package enum TransientErrors {
    /// Transient errors of file servers and networks. ENOSPC, EPERM and errors caused by the data are not transient.
    private static let codes: Set<Int32> = [
        EAGAIN, ESTALE, ETIMEDOUT, ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ECONNREFUSED,
        EHOSTDOWN, EHOSTUNREACH,
    ]

    /// Returns whether an error is transient, so that the job can be retried.
    package static func isTransient(_ error: any Error) -> Bool {
        let number = (error as? MediaError)?.errnoValue ?? (error as? SystemError)?.code.rawValue
        guard let code = number else { return false }
        return codes.contains(code)
    }
}
