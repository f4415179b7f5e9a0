internal import Glibc
internal import Locking
internal import Media

/// A private folder for what encoders note between two passes; gone with this object.
final class PassFiles: Sendable {
    private let folder: String
    /// Where such folders are made; a worker may write nowhere else.
    static let base = Guarded(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")

    init() throws {
        let base = Self.base.withLock { $0 }
        var template = Array("\(base)/tandem-pass-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw MediaError.system(operation: "a folder for two passes in \(base)", errno: errno)
        }
        folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Where the encoder of a track keeps its notes.
    func path(ofTrack position: Int) -> String { "\(folder)/\(position).log" }

    deinit {
        guard let stream = opendir(folder) else { return }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { unlink("\(folder)/\(name)") }
        }
        closedir(stream)
        rmdir(folder)
    }
}
