internal import Diagnostics
internal import LibAV

/// Validation of `filters`: only the filters and options in `FilterCatalog` are accepted, and each value is parsed. The
/// filter graph is created from the parsed chain, one filter and one option at a time.
enum FilterCheck {
    /// Parses and validates a filter chain; nil after an error is reported.
    static func read(
        _ text: Located<String>, _ type: MediaType, into sink: inout DiagnosticSink
    ) -> Located<FilterChain>? {
        let written: [FilterText.Step]
        do throws(FilterText.Problem) {
            written = try FilterText.parse(text.value)
        } catch {
            sink.error(.filterChain, error.reason, at: text.range)
            return nil
        }
        var steps: [FilterStep] = []
        for step in written {
            guard let read = read(step, in: text, type, into: &sink) else { return nil }
            steps.append(read)
        }
        return Located(FilterChain(steps), at: text.range)
    }

    private static func read(
        _ step: FilterText.Step, in chain: Located<String>, _ type: MediaType, into sink: inout DiagnosticSink
    ) -> FilterStep? {
        let name = step.name
        let tables = FilterCatalog.tables(type)
        guard let table = tables[name], FilterInfo.exists(name) else {
            let isKnown = FilterInfo.exists(name)
            sink.error(
                .filterChain,
                isKnown
                    ? FilterRefusal.reason(name, for: type)
                    : "unknown filter `\(name)`", at: location(of: name, in: chain),
                help: Suggestion.help(for: name, among: tables.keys.sorted()))
            return nil
        }
        func refuse(_ message: String, at word: String, help: String? = nil) -> FilterStep? {
            sink.error(.filterChain, message, at: location(of: word, in: chain), help: help)
            return nil
        }
        var result = FilterStep(name)
        var positionalOptions = table.entries.makeIterator()
        var isNamed = false
        var seen: Set<String> = []
        for option in step.options {
            let entry: OptionTable.Entry?
            var key = option.name ?? ""
            if option.name != nil {
                isNamed = true
                entry = key == "enable" ? enableOption(name) : table[key]
            } else {
                guard !isNamed else {
                    return refuse(
                        "in `\(name)`, a positional value follows a named one", at: name)
                }
                entry = positionalOptions.next()
                key = entry?.names[0] ?? ""
            }
            guard let entry else {
                if key.isEmpty { return refuse("too many values for the filter `\(name)`", at: name) }
                let exists = FilterInfo.option(key, of: name) != nil
                return refuse(
                    exists
                        ? "the option `\(key)` of the filter `\(name)` can't be set in a job file"
                        : "the filter `\(name)` has no option `\(key)`", at: key,
                    help: Suggestion.help(for: key, among: table.names))
            }
            let declaration = key == "enable" ? nil : FilterInfo.option(key, of: name)
            if declaration == nil, key != "enable" {
                return refuse("the filter `\(name)` of this build has no option `\(key)`", at: name)
            }
            if let problem = entry.grammar.problem(option.value, declaration: declaration) {
                return refuse(
                    "`\(key)` of the filter `\(name)` can't be `\(option.value)`: \(problem)", at: name)
            }
            guard seen.insert(entry.names[0]).inserted else {
                return refuse("`\(key)` of the filter `\(name)` is set twice", at: name)
            }
            result.options.append(MetadataEntry(key: key, value: option.value))
        }
        // By default, `bwdif` outputs one frame per field (`send_field`), which doubles the number of frames.
        if name == "bwdif", !seen.contains("mode") {
            return refuse(
                "`bwdif` requires `mode=send_frame`, which keeps the number of frames; `deinterlace` does the same",
                at: name
            )
        }
        return result
    }

    /// Returns the `enable` option of a filter with timeline support; nil for others.
    private static func enableOption(_ filter: String) -> OptionTable.Entry? {
        FilterInfo.supportsTimeline(filter) ? OptionTable.Entry(names: ["enable"], grammar: .expression) : nil
    }

    private static func location(of name: String, in chain: Located<String>) -> SourceRange {
        let range = chain.range
        guard range.line == range.endLine, !name.isEmpty, let found = chain.value.firstRange(of: name) else {
            return range
        }
        let width = range.endColumn - range.column
        let length = chain.value.unicodeScalars.count
        guard width == length || width == length + 2 else { return range }
        let start =
            range.column + (width - length) / 2
            + chain.value.unicodeScalars.distance(from: chain.value.startIndex, to: found.lowerBound)
        var part = SourceRange(
            source: range.source, line: range.line, column: start, endLine: range.line,
            endColumn: start + name.unicodeScalars.count)
        part.context = range.context
        return part
    }
}
