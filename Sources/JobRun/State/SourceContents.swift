internal import ExactStrings
internal import FileSystem
internal import LibAV
internal import Locking

/// SHA-256 digests of files, each of which is read once as long as it is unchanged.
final class SourceContents: Sendable {
    private struct Known: Sendable {
        var token: String
        var digest: String
        /// Folders of the stores that have the digest.
        var folders: Set<StateFolder> = []
    }

    let environment: SourceEnvironment
    private let known = Guarded<[ExactString: Known]>([:])

    init(_ environment: SourceEnvironment) { self.environment = environment }

    /// Returns the digest of a file's bytes, which the stores keep; nil if it can't be read, isn't a local file, or changes
    /// meanwhile.
    func digest(of path: String, in stores: [StateStore]) -> String? {
        guard !SourceLocation.isRemote(path), let token = FileIdentity.changeToken(path: path) else {
            return nil
        }
        var entry = known.withLock { $0[path.exact] }
        if entry?.token != token { entry = nil }
        if entry == nil {
            for store in stores {
                guard let digest = store.results.content(path: path, identity: token) else { continue }
                entry = Known(token: token, digest: digest, folders: [store.folder])
                break
            }
        }
        if entry == nil {
            guard let digest = SHA256Hasher.digest(ofFile: path, in: environment),
                FileIdentity.changeToken(path: path) == token
            else { return nil }
            entry = Known(token: token, digest: digest)
        }
        guard var entry else { return nil }
        for store in stores where entry.folders.insert(store.folder).inserted {
            store.results.record(content: entry.digest, path: path, identity: token)
        }
        known.withLock { $0[path.exact] = entry }
        return entry.digest
    }
}
