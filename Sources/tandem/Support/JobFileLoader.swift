internal import Diagnostics
internal import Glibc
internal import JobSpec
internal import YAMLDocument

/// Reads job files and keeps their texts for messages.
struct JobFileLoader {
    private(set) var files: [JobFile] = []
    private(set) var sink = DiagnosticSink()
    private var texts: [String: [String]] = [:]

    init(_ paths: [String]) {
        for path in paths { load(path) }
    }

    /// Renders messages with excerpts of the files.
    var renderer: TextRenderer { TextRenderer(sources: texts, usesColor: Terminal.usesColor) }

    private mutating func load(_ path: String) {
        guard let bytes = Self.read(path, into: &sink) else { return }
        var text = String(decoding: bytes, as: UTF8.self)
        if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
        texts[path] = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
        var own = DiagnosticSink()
        let root = YAMLParser.parse(bytes, file: path, into: &own)
        if let file = JobFileDecoder.decode(root, path: path, directory: Self.directory(of: path), into: &own)
        {
            files.append(file)
        }
        for diagnostic in own.diagnostics { sink.add(diagnostic) }
    }

    private static func directory(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let resolved = realpath(folder, nil) else { return folder }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func read(_ path: String, into sink: inout DiagnosticSink) -> [UInt8]? {
        func fail(_ why: String) -> [UInt8]? {
            sink.error(.fileUnreadable, why, at: .startOfFile(path))
            return nil
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            return fail("the job file can't be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return fail("the job file is no regular file")
        }
        let limit = YAMLLimits().fileSize
        guard status.st_size <= limit else { return fail("the job file has more than \(limit) bytes") }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            if got < 0 && errno == EINTR { continue }
            if got <= 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }
}
