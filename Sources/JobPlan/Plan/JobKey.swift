internal import ExactStrings

/// The key of a job among all files of a call, since ids are unique only within a file. Names are compared by their
/// bytes, because they come from files.
package struct JobKey: Hashable, Sendable {
    private let exactFile: ExactString
    private let exactID: ExactString

    /// The job file as the user named it.
    package var file: String { exactFile.text }
    /// Full id of the job instance, or id of the job in the file.
    package var id: String { exactID.text }

    package init(file: String, id: String) {
        (exactFile, exactID) = (file.exact, id.exact)
    }
}
