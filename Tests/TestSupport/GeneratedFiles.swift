internal import Foundation
internal import Locking

/// Files that ffmpeg has generated from filters alone, by its arguments, so that tests with the same source encode it once
/// per process.
final class GeneratedFiles: Sendable {
    static let shared = GeneratedFiles()

    /// Arrays, since LeakSanitizer doesn't find the storage of `Data` in a dictionary.
    private let files = Guarded<[[String]: [UInt8]]>([:])
    /// Formats of a single file that depends only on the arguments.
    private static let extensions: Set = [
        "mp4", "mov", "m4a", "mkv", "mka", "webm", "ts", "avi", "wav", "flac", "mp3", "ogg", "opus", "aac",
        "srt", "png",
    ]
    /// Maximum size of a stored file.
    private static let maxSize = 1 << 20

    /// Returns the arguments without the output's folder, as the key of a stored file; nil if the output may depend on
    /// anything else: inputs that aren't filters, other files, or further outputs.
    static func key(_ arguments: [String]) -> [String]? {
        guard let output = arguments.last, output.hasPrefix("/"), !output.contains("%"),
            extensions.contains((output as NSString).pathExtension), arguments.contains("-i"),
            !arguments.dropLast().contains(where: {
                $0.hasPrefix("/") || $0.contains("/tandem-test-") || $0 == "-pass"
            })
        else { return nil }
        for index in arguments.indices where arguments[index] == "-i" {
            guard index >= 2, arguments[index - 2] == "-f", arguments[index - 1] == "lavfi" else {
                return nil
            }
        }
        return arguments.dropLast() + [(output as NSString).pathExtension]
    }

    /// Writes a stored file to `path`, as a new file; returns false if there is none.
    func write(_ key: [String], to path: String) -> Bool {
        guard let bytes = files.withLock({ $0[key] }) else { return false }
        try? FileManager.default.removeItem(atPath: path)
        return FileManager.default.createFile(atPath: path, contents: Data(bytes))
    }

    /// Stores a file if it is small.
    func store(_ key: [String], from path: String) {
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int,
            size <= Self.maxSize,
            let data = FileManager.default.contents(atPath: path)
        else { return }
        files.withLock { $0[key] = [UInt8](data) }
    }
}
