internal import Foundation

/// A temporary folder that is removed on deinitialization.
public final class Scratch: Sendable {
    /// Absolute path of the folder.
    public let path: String

    /// Creates an empty folder in `TANDEM_TEST_TMP`, or in the system's temporary folder.
    public init() throws {
        let base = ProcessInfo.processInfo.environment["TANDEM_TEST_TMP"] ?? NSTemporaryDirectory()
        path = (base as NSString).appendingPathComponent("tandem-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the absolute path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a text file, creating its folder, and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let target = file(name)
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: target))
        return target
    }

    /// Whether the file system supports unnamed files (`O_TMPFILE`).
    public var hasUnnamedFiles: Bool {
        let descriptor = open(path, 0o20_000_000 | O_DIRECTORY | O_RDWR, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Sorted paths of all files and folders, including hidden ones, without the `.tandem` folders.
    public var contents: [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).filter {
            !$0.split(separator: "/").contains(".tandem")
        }.sorted()
    }
}

/// Paths and settings of the test environment.
public enum TestPaths {
    /// Absolute path of the repository.
    public static let repository: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    /// Folder of real media files, from `TANDEM_TEST_MEDIA` or next to the repository; nil if it doesn't exist.
    public static let media: String? = {
        let candidates = [
            ProcessInfo.processInfo.environment["TANDEM_TEST_MEDIA"], repository + "/../shared/media",
        ].compactMap { $0 }
        return candidates.first { FileManager.default.fileExists(atPath: $0 + "/MANIFEST.tsv") }
    }()

    /// Sorted names of the files in `media`; empty without that folder.
    public static let mediaFiles: [String] = {
        guard let media, let names = try? FileManager.default.subpathsOfDirectory(atPath: media) else {
            return []
        }
        return names.sorted().filter { name in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: media + "/" + name, isDirectory: &isFolder)
            return exists && !isFolder.boolValue && !name.hasSuffix(".tsv")
        }
    }()

    /// Whether tests that take minutes are omitted (`TANDEM_SHORT`).
    public static let isQuick = ProcessInfo.processInfo.environment["TANDEM_SHORT"] != nil

    /// Path of an independent verification script in the media folder's parent; nil if it doesn't exist.
    public static let verificationScript: String? = media.map { $0 + "/../tools/judge.py" }.flatMap {
        FileManager.default.fileExists(atPath: $0) ? $0 : nil
    }

    /// Path of another program to test, such as one built with a sanitizer, which maps more memory than a worker may;
    /// nil for the debug build.
    public static let givenProgram = ProcessInfo.processInfo.environment["TANDEM_TEST_PROGRAM"]

    /// Path of the program under test.
    public static let tandem: String = givenProgram ?? builtProgram("tandem")

    /// Returns the path of a program of this package in the debug build.
    public static func builtProgram(_ name: String) -> String { repository + "/.build/debug/" + name }
}
