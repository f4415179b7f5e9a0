internal import Diagnostics
internal import YAMLDocument

/// Gives every variable its value: variables may stand in variables, and not in a circle.
struct VariableResolver {
    private let written: [String: YAMLNode.Entry]
    private let overrides: [String: String]
    private let reader: NodeReader
    private var scope: Scope

    init(
        _ written: [String: YAMLNode.Entry], overrides: [String: String], environment: [String: String],
        reader: NodeReader
    ) {
        self.written = written
        self.overrides = overrides
        self.reader = reader
        scope = Scope(environment: environment)
    }

    /// All of them; what is wrong is reported and stands for an empty text.
    mutating func resolve() -> [String: Scope.Value] {
        for name in Scope.builtIn {
            guard let entry = written[name] else { continue }
            reader.sink.error(
                .invalidName, "`${\(name)}` stands for something by itself, so no variable can be called so",
                at: entry.keyRange)
        }
        for (name, text) in overrides { scope.variables[name] = Scope.Value(text: text) }
        for name in written.keys.sorted() where overrides[name] == nil { resolve(name) }
        return scope.variables
    }

    /// Depth first with a stack of its own, since chains can be as long as the file.
    private mutating func resolve(_ first: String) {
        var stack = [first]
        var open: Set<String> = [first]
        while let name = stack.last {
            guard scope.variables[name] == nil, let entry = written[name] else {
                stack.removeLast()
                open.remove(name)
                continue
            }
            guard let text = reader.text(entry.value, "the variable `\(name)`") else {
                scope.variables[name] = Scope.Value(text: "", range: entry.keyRange, isDeferred: true)
                continue
            }
            if let needed = Self.names(in: text.value).first(where: {
                scope.variables[$0] == nil && written[$0] != nil
            }) {
                if open.contains(needed), let at = stack.firstIndex(of: needed) {
                    report(Array(stack[at...]))
                    for name in stack[at...] {
                        scope.variables[name] = Scope.Value(
                            text: "", range: written[name]?.keyRange, isDeferred: true)
                    }
                } else {
                    stack.append(needed)
                    open.insert(needed)
                }
                continue
            }
            let node = Substitution(scope: scope, reader: reader).apply(to: entry.value)
            scope.variables[name] = Scope.Value(
                text: node.text ?? "", range: entry.value.range, isDeferred: node.isDeferred)
        }
    }

    private func report(_ circle: [String]) {
        guard let first = circle.first.flatMap({ written[$0] }) else { return }
        let names =
            circle.count > 20
            ? circle.prefix(20).joined(separator: " → ") + " → …"
            : (circle + circle.prefix(1)).joined(separator: " → ")
        reader.sink.error(
            .substitution, "variables stand for each other in a circle: \(names)", at: first.keyRange,
            notes: circle.prefix(10).compactMap { name in
                written[name].map { Diagnostic.Note("`\(name)` stands for this", at: $0.value.range) }
            })
    }

    private static func names(in text: String) -> [String] {
        var names: [String] = []
        var rest = text[...]
        while let dollar = rest.firstRange(of: "${"),
            let close = Substitution.close(of: rest[dollar.upperBound...])
        {
            if rest[..<dollar.lowerBound].last != "$" {
                let text = rest[dollar.upperBound..<close]
                names.append(String(text.firstRange(of: ":-").map { text[..<$0.lowerBound] } ?? text))
            }
            rest = rest[dollar.upperBound...]
        }
        return names
    }
}
