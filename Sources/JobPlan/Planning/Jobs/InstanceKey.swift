internal import ExactStrings

/// The key of a job instance among the files of a call. A file that is listed twice has two indices, so the path is not
/// part of the key.
struct InstanceKey: Hashable {
    let file: Int
    let id: ExactString

    init(file: Int, id: String) { (self.file, self.id) = (file, id.exact) }
}
