internal import ExactStrings
internal import FileSystem
internal import LibAV
internal import Locking

/// SHA-256 digests of files, each of which is read once as long as it is unchanged.
final class SourceContents: Sendable {
    let environment: SourceEnvironment
    private let known = Guarded<[ExactString: (token: String, digest: String)]>([:])

    init(_ environment: SourceEnvironment) { self.environment = environment }

    /// Returns the digest of a file's bytes; nil if it can't be read, isn't a local file, or changes meanwhile. `stored` returns
    /// the digest that the state has for a change token.
    func digest(of path: String, stored: (_ token: String) -> String? = { _ in nil }) -> String? {
        guard !SourceLocation.isRemote(path), let token = FileIdentity.changeToken(path: path) else {
            return nil
        }
        if let known = known.withLock({ $0[path.exact] }), known.token == token { return known.digest }
        guard let digest = stored(token) ?? SHA256Hasher.digest(ofFile: path, in: environment),
            FileIdentity.changeToken(path: path) == token
        else { return nil }
        known.withLock { $0[path.exact] = (token, digest) }
        return digest
    }
}
