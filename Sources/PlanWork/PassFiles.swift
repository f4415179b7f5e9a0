internal import Glibc
internal import LibAV
package import Locking
internal import Media
internal import FileSystem

/// A private folder for encoders' two-pass statistics. `deinit` removes it.
package final class PassFiles: Sendable {
    private let folder: String
    /// Folder in which the folders are created; the only one in which a worker can write.
    package static let base = Guarded(SystemFolders.temporary)

    init() throws {
        let base = Self.base.withLock { $0 }
        var template = Array("\(base)/tandem-pass-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError("creating a folder for two passes in \(base)", errno: errno)
        }
        folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Returns the path of a track's statistics.
    func path(of track: TrackIndex) -> String { "\(folder)/\(track.output)-\(track.track).log" }

    /// Throws if the statistics of a track are incomplete, since encoders don't detect write errors.
    func check(_ track: TrackIndex, encoder: String, frames: Int) throws {
        // Other encoders keep their statistics in memory.
        guard EncoderModel.named(encoder)?.keepsStatisticsInFile == true else { return }
        guard let stream = fopen(path(of: track), "re") else {
            throw SystemError("reading the statistics of the first pass", errno: errno)
        }
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 4096)
        var (count, isWhole) = (0, true)
        while fgets(&line, Int32(line.count), stream) != nil {
            let length = strlen(line)
            // A line longer than the buffer is read in several parts.
            if isWhole, strncmp(line, "in:", 3) == 0 { count += 1 }
            isWhole = length > 0 && line[length - 1] == 0x0a
        }
        guard ferror(stream) == 0, isWhole, count == frames else {
            throw SystemError(
                "the statistics of the first pass contain \(count) of \(frames) frames", errno: ENOSPC)
        }
    }

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
