internal import ExactStrings

/// What names a job among all files of a call: ids are unique within one file only. Names that look the same are two where
/// their bytes are: they come from those of files.
package struct JobKey: Hashable, Sendable {
    private let exactFile: ExactString
    private let exactID: ExactString

    /// The job file as the user named it.
    package var file: String { exactFile.text }
    /// The job's id: the run's full one, or the one that the file has.
    package var id: String { exactID.text }

    /// Names a job.
    package init(file: String, id: String) {
        (exactFile, exactID) = (file.exact, id.exact)
    }
}
