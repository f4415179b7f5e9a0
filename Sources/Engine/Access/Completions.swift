internal import Diagnostics
internal import ExactStrings
internal import FileSystem
internal import FoundationEssentials
internal import Glibc
internal import JobSpec
internal import YAMLDocument

/// Words with which a shell completes a command line.
///
/// Job files are only parsed, up to a size that takes a few milliseconds: nothing is included, substituted or probed. All
/// words are identifiers, names of presets or printable names of files, which shells quote.
package enum Completions {
    /// Maximum size of a job file in bytes.
    private static let maxSize = 1 << 20
    /// Maximum number of job files that are read.
    private static let maxFiles = 8
    /// Maximum number of words.
    private static let maxWords = 1000

    /// Returns the ids of the jobs in the job files that a command line names, in their order.
    package static func jobs(in words: [String]) -> [String] {
        var ids: [String] = []
        var seen: Set<String> = []
        let files = words.map(unquoted).filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }
        for file in files.prefix(maxFiles) {
            guard let bytes = try? SystemSpecFiles().read(file, limit: maxSize) else { continue }
            var sink = DiagnosticSink()
            guard case .mapping(let keys)? = YAMLParser.parse(bytes, file: file, into: &sink)?.content,
                case .mapping(let jobs)? = keys.first(where: { $0.key == "jobs" })?.value.content
            else { continue }
            for job in jobs where Identifier.isValid(job.key) && seen.insert(job.key).inserted {
                ids.append(job.key)
            }
        }
        return Array(ids.prefix(maxWords))
    }

    /// Returns the names of the export presets and the files that begin with a text.
    package static func presetsAndFiles(_ prefix: String) -> [String] {
        let text = unquoted(prefix)
        return ExportPreset.names.filter { $0.hasPrefix(text) } + files(text)
    }

    /// Returns the files and folders whose paths begin with a text; folders end in `/`.
    private static func files(_ text: String) -> [String] {
        let folder = text.lastSlash.map { String(text[...$0]) } ?? ""
        let name = text.utf8.dropFirst(folder.utf8.count)
        guard let all = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
        else { return [] }
        let shown = all.lazy.filter { file in
            file.utf8.starts(with: name) && (file.utf8.first != UInt8(ascii: ".") || !name.isEmpty)
                && !file.unicodeScalars.contains(where: SafeText.isHidden)
        }
        return shown.prefix(maxWords).sorted().map { file in
            var status = stat()
            let isFolder = stat(folder + file, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            return folder + file + (isFolder ? "/" : "")
        }
    }

    /// Returns a word of a shell without quotes and backslashes.
    private static func unquoted(_ word: String) -> String {
        var text = ""
        var isEscaped = false
        for letter in word {
            if !isEscaped, letter == "\\" {
                isEscaped = true
            } else if isEscaped || letter != "\"" && letter != "'" {
                text.append(letter)
                isEscaped = false
            }
        }
        return text
    }
}
