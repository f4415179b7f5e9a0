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
    ) throws(FileContentsProblem) {
        let bytes = try Self.bytes(of: path, limit: limit, environment: environment)
        self.init(size: Int64(bytes.count), digest: SHA256Hasher.digest(of: bytes))
    }

    /// Whether the values are within limits. Checked for values from untrusted input.
    package func isValid(upTo limit: Int64) -> Bool {
        (0...limit).contains(size) && SHA256Hasher.isDigest(digest)
    }

    /// Throws if a file has other contents.
    package func check(path: String, environment: SourceEnvironment) throws(FileContentsProblem) {
        let now = try FileContents(of: path, limit: max(size, 1), environment: environment)
        guard now == self else { throw FileContentsProblem("the file changed after planning") }
    }

    /// Returns the bytes of a file of at most `limit` bytes. `noun` names the expected file in messages.
    static func bytes(
        of path: String, limit: Int64, noun: String = "a file", environment: SourceEnvironment
    ) throws(FileContentsProblem) -> [UInt8] {
        let source: FileSource
        do throws(InputError) {
            source = try environment.file(path)
        } catch {
            throw FileContentsProblem(
                error.reason == .file(.directory) ? "is a directory, not \(noun)" : error.explanation,
                isMissing: error.reason == .file(.missing))
        }
        guard source.size <= limit else {
            throw FileContentsProblem("the file has \(source.size) bytes; at most \(limit) are allowed")
        }
        guard let bytes = source.bytes(at: 0, Int(source.size)) else {
            throw FileContentsProblem(
                source.failure.map { "can't be read: \($0.reason)" } ?? "it became shorter")
        }
        return bytes
    }
}

/// The reason why the bytes of a file can't be used, for messages.
package struct FileContentsProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether no file is at the path.
    package let isMissing: Bool
    init(_ description: String, isMissing: Bool = false) {
        (self.description, self.isMissing) = (description, isMissing)
    }
}
