internal import ExactStrings

/// The key of a job in an invocation with several job files, because ids are unique only within a file. File names and
/// ids are compared by their bytes.
package struct JobKey: Hashable, Sendable {
    private let exactFile: ExactString
    private let exactID: ExactString

    /// Path of the job file, as given by the user.
    package var file: String { exactFile.text }
    /// Full id of the job instance, or id of the job in the file.
    package var id: String { exactID.text }

    package init(file: String, id: String) {
        (exactFile, exactID) = (file.exact, id.exact)
    }
}

extension JobKey: Comparable {
    package static func < (one: JobKey, other: JobKey) -> Bool {
        (one.exactFile, one.exactID) < (other.exactFile, other.exactID)
    }
}
