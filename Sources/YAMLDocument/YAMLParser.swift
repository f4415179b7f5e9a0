internal import CLibYAML
package import Diagnostics
internal import Dispatch
internal import Synchronization

/// A YAML parser. The calling thread reads libyaml's events; a queue creates nodes from them concurrently.
package struct YAMLParser {
    private let file: String
    private let source: SourceFile
    private let limits: YAMLLimits

    /// Maximum number of batches that wait for the builder. The limit bounds memory, and ends the reading of a long
    /// document after an error at its beginning.
    private static let maxPendingBatches = 8

    private init(file: String, limits: YAMLLimits) {
        self.file = file
        source = SourceFile(file)
        self.limits = limits
    }

    /// Parses a file with one document. Returns nil if the document can't be read. Problems are added to the sink.
    package static func parse(
        _ bytes: [UInt8], file: String, limits: YAMLLimits = YAMLLimits(), into sink: inout DiagnosticSink
    ) -> YAMLNode? {
        document(bytes, file: file, limits: limits, into: &sink)?.root
    }

    /// Parses a file with one document. Returns its root and the scalars that contain `${`, with duplicates.
    package static func document(
        _ bytes: [UInt8], file: String, limits: YAMLLimits = YAMLLimits(), into sink: inout DiagnosticSink
    ) -> (root: YAMLNode, substituted: [String])? {
        guard bytes.count <= limits.fileSize else {
            sink.error(
                .yamlLimit, "the file has \(bytes.count) bytes; at most \(limits.fileSize) are allowed",
                at: .startOfFile(file))
            return nil
        }
        return YAMLParser(file: file, limits: limits).run(bytes, into: &sink)
    }

    private func run(_ bytes: [UInt8], into sink: inout DiagnosticSink) -> (
        root: YAMLNode, substituted: [String]
    )? {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            sink.error(.yamlSyntax, "out of memory", at: .startOfFile(file))
            return nil
        }
        defer { yaml_parser_delete(&parser) }
        let builder = NodeBuilder(source: source, limits: limits)
        let isComplete = bytes.withUnsafeBufferPointer { buffer in
            yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            return send(&parser, to: builder)
        }
        sink.add(builder.sink)
        if builder.hasStopped { return nil }
        guard isComplete else {
            reportSyntax(parser, bytes: bytes, into: &sink)
            return nil
        }
        return builder.root.map { ($0, builder.substituted) }
    }

    /// Sends all events to the builder, and waits until they are processed. Returns false if libyaml reports an
    /// error.
    private func send(_ parser: inout yaml_parser_t, to builder: NodeBuilder) -> Bool {
        let queue = DispatchQueue(label: "tandem.yaml")
        let carried = WorkCount.Captured()
        defer { queue.sync {} }
        var batch = YAMLEventBatch()
        var depth = 0
        while true {
            var event = yaml_event_t()
            let isFine = yaml_parser_parse(&parser, &event) == 1
            switch event.type {
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT: depth += 1
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: depth -= 1
            default: break
            }
            // Parsing stops at the depth limit, since libyaml's time is quadratic in the depth.
            let isTooDeep = depth > limits.depth
            let isLast = !isFine || isTooDeep || event.type == YAML_STREAM_END_EVENT
            batch.add(event)
            yaml_event_delete(&event)
            guard isLast || batch.isFull else { continue }
            builder.waiting.add(1, ordering: .relaxed)
            queue.async { @Sendable [batch] in
                carried.run { builder.take(batch) }
                builder.waiting.subtract(1, ordering: .relaxed)
            }
            if isLast { return isFine }
            if builder.waiting.load(ordering: .relaxed) >= Self.maxPendingBatches,
                queue.sync(execute: { builder.hasStopped })
            {
                return true
            }
            batch = YAMLEventBatch()
        }
    }

    // MARK: Syntax errors

    private func reportSyntax(_ parser: yaml_parser_t, bytes: [UInt8], into sink: inout DiagnosticSink) {
        let text = SourceText(bytes)
        var problem = parser.problem.map { String(cString: $0) } ?? "can't be parsed"
        if parser.context != nil { problem += " (\(String(cString: parser.context)))" }
        var location = range(parser.problem_mark)
        if parser.error == YAML_READER_ERROR {
            let (line, column) = text.location(ofByte: Int(parser.problem_offset))
            location = SourceRange(
                source: source, line: line, column: column, endLine: line, endColumn: column)
        }
        location.endColumn += 1
        var help: String?
        let lines = text.lines
        if location.line <= lines.count {
            let line = lines[location.line - 1]
            if line.contains("${"), line.contains("{ ") || line.contains("[") || line.contains(": {") {
                help = "a value with `${…}` inside `{ }` or `[ ]` needs quotes: \"${name}\""
            } else if problem.contains("while scanning an alias") {
                help = "`*` starts an alias in YAML; a pattern needs quotes, such as \"media/*.mp4\""
            } else if line.contains("\t"), problem.contains("cannot start any token") {
                help = "indent YAML with spaces, not tabs"
            } else if problem.contains("UTF-8") {
                help = "save the file in UTF-8"
            } else if let mark = Self.comment(in: lines, parser, to: location.line) {
                help = "` #` starts a comment in line \(mark); a value that contains it needs quotes"
            } else if location.line > 1, Self.isItemWithoutSpace(lines[location.line - 2]) {
                help = "an entry of a list needs a space after `-`"
            } else if problem.contains("cannot start any token") {
                help = "a value that starts with `@`, `%` or a backtick needs quotes"
            } else if !Self.isInside(parser, lines) {
                help = Self.help(line: line, column: location.column)
            }
        }
        var notes: [Diagnostic.Note] = []
        if parser.context != nil, parser.context_mark.line != parser.problem_mark.line {
            notes.append(
                Diagnostic.Note("the enclosing structure starts here", at: range(parser.context_mark)))
        }
        sink.error(.yamlSyntax, problem, at: location, notes: notes, help: help)
    }

    /// Returns whether libyaml was reading a flow collection or a quoted scalar, in which indentation has no meaning.
    private static func isInside(_ parser: yaml_parser_t, _ lines: [String]) -> Bool {
        let (line, column) = (Int(parser.context_mark.line), Int(parser.context_mark.column))
        guard parser.context != nil, lines.indices.contains(line) else { return false }
        return lines[line].unicodeScalars.dropFirst(column).first.map { "{[\"'".unicodeScalars.contains($0) }
            ?? false
    }

    /// Returns the number of the line in which a comment contains the end of the flow collection that libyaml was
    /// reading; nil if there is none.
    private static func comment(in lines: [String], _ parser: yaml_parser_t, to last: Int) -> Int? {
        let first = Int(parser.context_mark.line)
        guard isInside(parser, lines), first < last, last <= lines.count else { return nil }
        return (first..<last).first { index in
            lines[index].firstRange(of: " #").map { mark in
                lines[index][mark.upperBound...].contains { "}]".contains($0) }
            } ?? false
        }.map { $0 + 1 }
    }

    /// Returns whether a line looks like a list entry without a space after its `-`.
    private static func isItemWithoutSpace(_ line: String) -> Bool {
        let entry = line.drop { $0 == " " }
        return entry.first == "-" && entry.dropFirst().first?.isLetter == true && entry.contains(":")
    }

    /// Returns help for the probable mistake in the line at which libyaml reports an error; nil if it is unknown.
    private static func help(line: String, column: Int) -> String? {
        let before = String(line.unicodeScalars.prefix(max(0, column - 1)))
        let isAtColon = line.unicodeScalars.dropFirst(max(0, column - 1)).first == ":"
        // The error is at the second `: ` of a line.
        if isAtColon, let colon = before.firstRange(of: ": ") {
            let value = line[colon.upperBound...].trimmingPrefix { $0 == " " }
            let key = before[..<colon.lowerBound].trimmingPrefix { $0 == " " || $0 == "-" }
            return value.first.map { "\"'[{".contains($0) } == true || key.isEmpty
                ? nil : "a value that contains `: ` needs quotes: \(key): \"\(value)\""
        }
        // The error is at the beginning of a line, or at the first `: ` where a mapping can't begin.
        if before.allSatisfy({ $0 == " " }) || isAtColon {
            return "the indentation of this line doesn't match the lines before it"
        }
        return nil
    }

    private func range(_ mark: yaml_mark_t) -> SourceRange {
        SourceRange(source, from: YAMLEvent.Mark(mark), to: YAMLEvent.Mark(mark))
    }
}
