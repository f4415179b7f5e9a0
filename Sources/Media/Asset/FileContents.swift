package import LibAV

/// Size and digest of a small file that is read as a whole.
package struct FileContents: Codable, Hashable, Sendable {
    /// Size in bytes.
    package var size: Int64
    /// SHA-256 in lower-case hexadecimal.
    package var digest: String

    package init(size: Int64, digest: String) { (self.size, self.digest) = (size, digest) }

    /// Reads a file.
    package init(
        of path: String, limit: Int64, environment: SourceEnvironment
    ) throws(FileProblem) {
        let bytes = try Self.bytes(of: path, limit: limit, environment: environment)
        self.init(size: Int64(bytes.count), digest: SHA256Hasher.digest(of: bytes))
    }

    /// Whether the values are within limits. Checked for values from untrusted input.
    package func isValid(upTo limit: Int64) -> Bool {
        (0...limit).contains(size) && SHA256Hasher.isDigest(digest)
    }

    /// Throws if a file of at most `limit` bytes has other contents.
    package func check(
        path: String, limit: Int64, environment: SourceEnvironment
    ) throws(FileProblem) {
        let now = try FileContents(of: path, limit: limit, environment: environment)
        guard now == self else { throw .changed }
    }

    /// Returns the bytes of a file of at most `limit` bytes. `noun` names the expected file in messages.
    static func bytes(
        of path: String, limit: Int64, noun: String = "a file", environment: SourceEnvironment
    ) throws(FileProblem) -> [UInt8] {
        let source: FileSource
        do throws(InputError) {
            source = try environment.file(path)
        } catch {
            throw FileProblem(
                error.reason == .file(.directory) ? "is a directory, not \(noun)" : error.explanation,
                isMissing: error.reason == .file(.missing))
        }
        guard source.size <= limit else {
            throw FileProblem("the file has \(source.size) bytes; at most \(limit) are allowed")
        }
        guard let bytes = source.bytes(at: 0, Int(source.size)) else {
            throw FileProblem(
                source.failure.map { "can't be read: \($0.reason)" } ?? "it became shorter")
        }
        return bytes
    }
}

/// The reason why a cover or subtitle file can't be used, for messages.
package struct FileProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether no file is at the path.
    package let isMissing: Bool
    /// The content of the file is no longer the planned one.
    static let changed = FileProblem("the file changed after planning")

    init(_ description: String, isMissing: Bool = false) {
        (self.description, self.isMissing) = (description, isMissing)
    }
}
