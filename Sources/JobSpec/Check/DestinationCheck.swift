internal import Diagnostics
internal import ExactStrings
internal import YAMLDocument

/// Validation of destinations. Rejects expressions that other tools expand and Tandem doesn't (`$name`, `{{name}}`,
/// `%03d`, a leading `~`), and URLs, which would create folders such as `s3:`.
///
/// Only the text of the job file and of its variables is checked, and the scheme of a URL after substitution. A source's
/// name (`${asset.stem}`) may contain anything.
struct DestinationCheck {
    let scope: Scope
    let reader: NodeReader

    /// Checks the destination of a job or an output before substitution.
    func check(_ node: YAMLNode, as type: MappingType) {
        guard let destination = value("destination", of: node, as: type) else { return }
        guard
            let path = destination.text == nil
                ? value("path", of: destination, as: Language.destination) : destination,
            !path.isNull, let text = path.text
        else { return }
        checkPath(text, at: path)
    }

    private func value(_ key: String, of node: YAMLNode, as type: MappingType) -> YAMLNode? {
        guard case .mapping(let entries) = node.content else { return nil }
        return NodeReader.respelled(entries, as: type).first { $0.key == key }?.value
    }

    private func checkPath(_ text: String, at node: YAMLNode) {
        var rest = text[...]
        var isStart = true
        var start = Start()
        var offsets = Substitution.ScalarOffsets(text)
        while !rest.isEmpty {
            let dollar = rest.firstRange(ofASCII: "${")
            let literal = rest[..<(dollar?.lowerBound ?? rest.endIndex)]
            for problem in problems(of: literal, isStart: isStart) {
                report(problem, at: Substitution.location(node, from: problem.from, to: problem.to, &offsets))
            }
            if !literal.isEmpty { isStart = false }
            if let (scheme, length) = start.scheme(appending: literal) {
                let end = text.utf8.index(literal.startIndex, offsetBy: length)
                report(scheme, at: Substitution.location(node, from: text.startIndex, to: end, &offsets))
            }
            guard let dollar else { return }
            // `$${` is a literal `${`.
            guard literal.last != "$", let close = Substitution.closingBrace(of: rest[dollar.upperBound...])
            else {
                rest = rest[dollar.upperBound...]
                start.close()
                continue
            }
            let name = String(rest[dollar.upperBound..<close])
            let end = rest.index(after: close)
            func location() -> SourceRange {
                Substitution.location(node, from: dollar.lowerBound, to: end, &offsets)
            }
            if let value = scope.variables[name]?.text {
                for problem in problems(of: value[...], isStart: isStart) {
                    report(problem, at: location())
                }
                if !value.isEmpty { isStart = false }
            } else {
                isStart = false
            }
            if start.isOpen {
                if let value = try? scope.value(of: name), !value.isDeferred {
                    if let (scheme, _) = start.scheme(appending: value.text) {
                        report(scheme, at: location())
                    }
                } else {
                    start.close()
                }
            }
            rest = rest[end...]
        }
    }

    private func report(_ problem: Problem, at range: SourceRange) {
        reader.sink.error(.invalidValue, problem.message, at: range, help: problem.help)
    }

    private func report(_ scheme: URLScheme, at range: SourceRange) {
        reader.sink.error(
            .invalidValue, "a destination must be a local path, not a URL", at: range,
            help: scheme.helpForFile ?? "write it to a local path, and upload it after the run")
    }

    /// The start of a destination after substitution, until it can't contain a scheme any more.
    private struct Start {
        private var text = ""
        private(set) var isOpen = true

        /// Appends a section. If it completes a scheme, returns the scheme and its length in bytes within the section.
        mutating func scheme(appending section: some StringProtocol) -> (scheme: URLScheme, length: Int)? {
            guard isOpen else { return nil }
            let before = text.utf8.count
            text += section
            let scheme = URLScheme(startOf: text)
            isOpen = scheme == nil && URLScheme.canStart(with: text)
            return scheme.map { ($0, $0.text.utf8.count - before) }
        }

        mutating func close() { isOpen = false }
    }

    private struct Problem {
        let message: String
        let help: String
        let from: String.Index
        let to: String.Index
    }

    /// Returns the problems in a section of a path. `isStart` states whether the section is at the start of the path.
    private func problems(of text: Substring, isStart: Bool) -> [Problem] {
        guard text.utf8.contains(where: Self.special.contains) else { return [] }
        return (isStart ? [Self.home(in: text)].compactMap { $0 } : [])
            + Self.braces(in: text) + Self.facts(in: text)
            // With `images`, `ImagesCheck` reports a destination that lacks a placeholder for each still image.
            + (scope.makesImages ? [] : Self.numbers(in: text)) + Self.dollars(in: text)
    }

    /// The bytes of which each problem contains one.
    private static let special = Array("~{%$".utf8)

    /// Detects a leading `~`, which only a shell expands.
    private static func home(in text: Substring) -> Problem? {
        guard text.hasPrefix("~") else { return nil }
        let end = text.firstIndex(of: "/") ?? text.endIndex
        return Problem(
            message: "a destination can't start with `~`, which is not expanded",
            help: "use `${env.HOME}` for the home folder, or `./~…` for a file whose name starts with `~`",
            from: text.startIndex, to: end)
    }

    /// Detects `{{name}}`, the placeholder syntax of template languages.
    private static func braces(in text: Substring) -> [Problem] {
        var problems: [Problem] = []
        var rest = text
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}")
        {
            let name = text[open.upperBound..<close.lowerBound].filter { $0 != " " }
            problems.append(
                Problem(
                    message: "`{{\(name)}}` is not expanded in a destination", help: syntaxHelp(of: name),
                    from: open.lowerBound, to: close.upperBound))
            rest = rest[close.upperBound...]
        }
        return problems
    }

    /// Detects `{asset.stem}`, which lacks its `$`. Other names in braces may be part of a file name.
    private static func facts(in text: Substring) -> [Problem] {
        var problems: [Problem] = []
        var rest = text
        while let open = rest.firstIndex(of: "{") {
            let after = text.index(after: open)
            let name = text[after...].prefix { $0 != "{" && $0 != "}" }
            // `braces` reports names in double braces.
            let isDouble = open > text.startIndex && text[text.index(before: open)] == "{"
            if !isDouble, Scope.isQualifiedName(String(name)), text[name.endIndex...].first == "}" {
                problems.append(
                    Problem(
                        message: "`{\(name)}` is not expanded in a destination",
                        help: syntaxHelp(of: String(name)),
                        from: open, to: text.index(after: name.endIndex)))
            }
            rest = text[after...]
        }
        return problems
    }

    /// Detects `%03d`, with which ffmpeg numbers the files of an image sequence.
    private static func numbers(in text: Substring) -> [Problem] {
        for percent in text.indices where text[percent] == "%" {
            let digits = text[text.index(after: percent)...].prefix { $0.isASCII && $0.isNumber }
            guard text[digits.endIndex...].first == "d" else { continue }
            let end = text.index(after: digits.endIndex)
            // In `100%done`, `%d` is part of a word.
            guard !digits.isEmpty || text[end...].first?.isLetter != true else { continue }
            return [
                Problem(
                    message: "`\(text[percent..<end])` is not expanded in a destination",
                    help: "`${index}` numbers job instances, `${image.number}` the still images of `images`",
                    from: percent, to: end)
            ]
        }
        return []
    }

    /// Detects `$name` and `$(…)`, which a shell expands.
    private static func dollars(in text: Substring) -> [Problem] {
        var problems: [Problem] = []
        var rest = text
        while let dollar = rest.firstIndex(of: "$") {
            let after = text.index(after: dollar)
            let name = text[after...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            if let first = name.first, !first.isNumber {
                problems.append(
                    Problem(
                        message: "`$\(name)` is not expanded in a destination",
                        help: syntaxHelp(of: String(name)),
                        from: dollar, to: name.endIndex))
            } else if text[after...].first == "(" {
                problems.append(
                    Problem(
                        message: "`$(…)` is not expanded in a destination",
                        help: "use a variable, `${name}`, and set it by `--set name=value`",
                        from: dollar, to: text.index(after: after)))
            }
            rest = text[after...]
        }
        return problems
    }

    /// Returns a hint that shows the job file's syntax for a variable written in another tool's syntax.
    private static func syntaxHelp(of name: String) -> String {
        let isVariable = Identifier.isValid(name)
        let isEnvironment = isVariable && name.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" }
        if isEnvironment { return "write `${env.\(name)}`" }
        return isVariable || Scope.isQualifiedName(name)
            ? "write `${\(name)}`" : "write a variable as `${name}`"
    }
}
