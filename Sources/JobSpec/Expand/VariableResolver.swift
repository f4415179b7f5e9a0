internal import Diagnostics
internal import YAMLDocument

/// Resolution of all variables. Variables may refer to other variables, but not in a cycle.
struct VariableResolver {
    private let written: [String: YAMLNode.Entry]
    private let overrides: [String: String]
    private let reader: NodeReader
    private var scope: Scope

    init(
        _ written: [String: YAMLNode.Entry], overrides: [String: String], environment: [String: String]?,
        reader: NodeReader
    ) {
        self.written = written
        self.overrides = overrides
        self.reader = reader
        scope = Scope(environment: environment)
    }

    /// Returns all variables. Invalid ones are reported, and their values are empty.
    mutating func resolve() -> [String: Scope.Value] {
        for name in Scope.builtIn {
            guard let entry = written[name] else { continue }
            reader.sink.error(
                .invalidName, "`\(name)` is the name of a built-in variable",
                at: entry.keyRange)
        }
        for (name, text) in overrides { scope.variables[name] = Scope.Value(text: text) }
        for name in written.keys.sorted() where overrides[name] == nil { resolve(name) }
        return scope.variables
    }

    /// Resolves a variable depth-first with an explicit stack, because chains may be as long as the file.
    private mutating func resolve(_ first: String) {
        var stack = [first]
        var open: [String: Int] = [first: 0]
        // The names that each variable on the stack refers to, in reverse order.
        var needs: [[String]?] = [nil]
        func pop() {
            open[stack.removeLast()] = nil
            needs.removeLast()
        }
        while let name = stack.last {
            guard scope.variables[name] == nil, let entry = written[name] else {
                pop()
                continue
            }
            let last = stack.count - 1
            var names: [String] = []
            if needs[last] != nil {
                // Moves the array out to avoid copying it.
                swap(&names, &needs[last]!)
            } else {
                guard let text = reader.text(entry.value, "the variable `\(name)`") else {
                    scope.variables[name] = Scope.Value(text: "", range: entry.keyRange, isDeferred: true)
                    continue
                }
                names = Substitution.names(in: text.value).reversed()
            }
            while let next = names.last, scope.variables[next] != nil || written[next] == nil {
                names.removeLast()
            }
            let needed = names.last
            needs[last] = consume names
            if let needed {
                if let at = open[needed] {
                    report(Array(stack[at...]))
                    for name in stack[at...] {
                        scope.variables[name] = Scope.Value(
                            text: "", range: written[name]?.keyRange, isDeferred: true)
                    }
                } else {
                    open[needed] = stack.count
                    stack.append(needed)
                    needs.append(nil)
                }
                continue
            }
            let node = Substitution(scope: scope, reader: reader).apply(to: entry.value)
            scope.variables[name] = Scope.Value(
                text: node.text ?? "", range: entry.value.range, isDeferred: node.isDeferred)
        }
    }

    private func report(_ cycle: [String]) {
        guard let first = cycle.first.flatMap({ written[$0] }) else { return }
        let names =
            cycle.count > 20
            ? cycle.prefix(20).joined(separator: " → ") + " → …"
            : (cycle + cycle.prefix(1)).joined(separator: " → ")
        reader.sink.error(
            .substitution, "circular variables: \(names)", at: first.keyRange,
            notes: cycle.prefix(10).compactMap { name in
                written[name].map { Diagnostic.Note("`\(name)` is defined here", at: $0.value.range) }
            })
    }
}
