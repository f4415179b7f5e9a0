internal import Glibc
internal import LibAV
internal import Media
internal import FileSystem
internal import SystemPackage

/// Tells failures that can pass by themselves from those that another attempt would only repeat.
enum Transience {
    /// What a file server or a network says in a bad moment. Never ENOSPC, EPERM, or anything that data say.
    private static let codes: Set<Int32> = [
        EAGAIN, ESTALE, ETIMEDOUT, ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ECONNREFUSED,
        EHOSTDOWN, EHOSTUNREACH,
    ]

    /// Worth another attempt.
    static func isTransient(_ error: any Error) -> Bool {
        let told = (error as? MediaError)?.errnoValue ?? (error as? SystemError)?.code.rawValue
        guard let code = told else { return false }
        return codes.contains(code)
    }
}
