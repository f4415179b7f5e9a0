internal import Glibc
internal import LibAV

/// A private temporary file for a library that reads text only by file name. The file is removed when the value is
/// destroyed.
struct ScratchFile: ~Copyable {
    let path: String

    private init(path: String) { self.path = path }

    /// Writes text to a new file in a folder.
    static func make(_ text: String, in folder: String) throws(AVError) -> ScratchFile {
        var template = Array("\(folder)/tandem-script-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else {
            throw AVError(code: -errno, operation: "creating a temporary file in \(folder)")
        }
        let scratch = ScratchFile(path: template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
        let bytes = Array(text.utf8)
        var (offset, problem) = (0, Int32(0))
        bytes.withUnsafeBytes { bytes in
            while offset < bytes.count, problem == 0 {
                let count = write(file, bytes.baseAddress! + offset, bytes.count - offset)
                if count > 0 { offset += count } else if errno != EINTR { problem = errno }
            }
        }
        close(file)
        guard problem == 0 else {
            throw AVError(code: -problem, operation: "writing a temporary file in \(folder)")
        }
        return scratch
    }

    deinit { unlink(path) }
}
