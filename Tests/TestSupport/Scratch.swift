internal import Foundation

/// A folder of a test's own, removed with it.
public final class Scratch: Sendable {
    /// The folder's absolute path.
    public let path: String

    /// Makes an empty folder in `TANDEM_TEST_TMP`, or where temporary files go.
    public init() throws {
        let base = ProcessInfo.processInfo.environment["TANDEM_TEST_TMP"] ?? NSTemporaryDirectory()
        path = (base as NSString).appendingPathComponent("tandem-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a text file and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let target = file(name)
        try FileManager.default.createDirectory(
            atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: target))
        return target
    }

    /// Its file system has files without a name (`O_TMPFILE`).
    public var hasUnnamedFiles: Bool {
        let descriptor = open(path, 0o20_000_000 | O_DIRECTORY | O_RDWR, 0o600)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Everything in it, hidden files included, sorted; without what runs remember.
    public var contents: [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).filter {
            !$0.split(separator: "/").contains(".tandem")
        }.sorted()
    }
}

/// Places that tests know.
public enum Places {
    /// The repository.
    public static let repository: String = {
        var url = URL(fileURLWithPath: #filePath)
        for _ in 0..<3 { url.deleteLastPathComponent() }
        return url.path
    }()

    /// Real files beside the repository; nil where they are not.
    public static let media: String? = {
        let candidates = [
            ProcessInfo.processInfo.environment["TANDEM_TEST_MEDIA"], repository + "/../shared/media",
        ].compactMap { $0 }
        return candidates.first { FileManager.default.fileExists(atPath: $0 + "/MANIFEST.tsv") }
    }()

    /// The files of `media`, by their names there, sorted; none where there are none.
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

    /// What takes minutes is left out (`scripts/test` without `--all`).
    public static let isQuick = ProcessInfo.processInfo.environment["TANDEM_SHORT"] != nil

    /// The independent judge beside the real files; nil where it is not.
    public static let judge: String? = media.map { $0 + "/../tools/judge.py" }.flatMap {
        FileManager.default.fileExists(atPath: $0) ? $0 : nil
    }

    /// A program that was made otherwise, with a sanitizer: it maps more memory than a worker may.
    public static let givenProgram = ProcessInfo.processInfo.environment["TANDEM_TEST_PROGRAM"]

    /// The program, built beside the tests.
    public static let tandem: String =
        givenProgram ?? repository + "/.build/debug/tandem"
}
