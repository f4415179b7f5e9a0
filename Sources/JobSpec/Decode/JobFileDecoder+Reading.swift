package import Diagnostics
internal import Dispatch
internal import YAMLDocument

extension JobFileDecoder {
    /// Reads, decodes and validates a job file. A read error becomes a diagnostic. The result contains the texts of the
    /// file and of its includes.
    package static func decode(contentsOf path: String, options: SpecOptions) -> Result {
        var sink = DiagnosticSink()
        let bytes: [UInt8]
        do throws(SpecFileError) {
            bytes = try options.files.read(path, limit: YAMLLimits().fileSize)
        } catch {
            sink.error(
                .fileUnreadable, "can't read the job file: \(error.reason)", at: .startOfFile(path),
                help: isAssignment(path) ? "each variable needs its own `--set`: `--set \(path)`" : nil)
            return Result(file: nil, sink: sink)
        }
        if isBinary(bytes) {
            sink.error(
                .yamlSyntax, "the file is binary; a job file must be text (YAML)", at: .startOfFile(path),
                help:
                    "`tandem probe FILE` describes a media file, and `tandem init FILE` writes a job file for it"
            )
            return Result(file: nil, sink: sink)
        }
        let document = YAMLParser.document(bytes, file: path, into: &sink)
        let root = document?.root
        var result = decode(
            root, path: path, directory: SystemSpecFiles.folder(of: path), options: options, after: sink)
        var texts = SourceTexts()
        texts.add(bytes, of: path)
        texts.add(result.texts)
        result.texts = texts
        result.references.add(document?.substituted ?? [])
        // Deallocates up to a million nodes on another thread.
        if let root { DispatchQueue.global().async { @Sendable in withExtendedLifetime(root) {} } }
        return result
    }
}

extension JobFileDecoder {
    /// Returns whether a path has the form of a variable's assignment, `name=value`.
    private static func isAssignment(_ path: String) -> Bool {
        guard let equal = path.firstIndex(of: "=") else { return false }
        return Identifier.isValid(String(path[..<equal]))
    }

    /// Returns whether the first 1024 bytes contain a NUL byte and there is no UTF-16 byte order mark.
    private static func isBinary(_ bytes: [UInt8]) -> Bool {
        let isUTF16 = bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff])
        return !isUTF16 && bytes.prefix(1024).contains(0)
    }
}

extension SpecOptions {
    /// Reports variables of the command line that no file defines. `known` contains the variables of all files.
    package func checkVariables(known: Set<String>, at location: SourceRange, into sink: inout DiagnosticSink)
    {
        for name in variables.keys.sorted() where !known.contains(name) {
            sink.error(
                .unusedVariable, "unknown variable `\(name)`: no job file defines it", at: location,
                help: Suggestion.help(for: name, among: known.sorted()))
        }
    }
}
