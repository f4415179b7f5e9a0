internal import Glibc

/// Folders of the system.
package enum SystemFolders {
    /// Folder for temporary files: `TMPDIR`, or `/tmp` if the variable is unset or empty.
    package static var temporary: String { temporary(variable: getenv("TMPDIR").map { String(cString: $0) }) }

    /// Returns the folder for temporary files by the value of `TMPDIR`; nil if it is unset.
    package static func temporary(variable: String?) -> String {
        variable.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }
}
