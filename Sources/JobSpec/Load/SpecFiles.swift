internal import ExactStrings
internal import FileSystem
internal import Glibc
internal import YAMLDocument

/// Access to job files, which tests can replace.
package protocol SpecFiles: Sendable {
    /// Returns the bytes of the file at an absolute path. Throws if it can't be read or has more than `limit` bytes.
    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8]
}

/// An error for a job file that can't be read.
package struct SpecFileError: Error, Sendable {
    /// The reason, as text for messages.
    package var reason: String
    package init(_ reason: String) { self.reason = reason }
}

/// Access to job files in the file system.
package struct SystemSpecFiles: SpecFiles {
    package init() {}

    /// Reads a regular file. Others are rejected.
    package func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        do throws(RegularFile.ReadingError) {
            return try RegularFile.contents(limit: limit) { open(path, $0) }
        } catch {
            switch error {
            case .system(let code): throw SpecFileError(String(cString: strerror(code)))
            case .notRegular: throw SpecFileError("not a regular file")
            case .tooLarge: throw SpecFileError("the file has more than \(limit) bytes")
            }
        }
    }

    /// Returns the absolute folder of a path with links resolved; the path's own folder if it doesn't exist.
    package static func folder(of path: String) -> String {
        let folder = path.parentFolder
        return RealPath.of(folder) ?? folder
    }
}
