/// A value with a name that identifies it among others.
protocol NamedValue {
    associatedtype Name: Hashable, CustomStringConvertible
    var name: Name { get }
    var value: String { get }
}

/// The differences between two lists of named values.
struct PartChanges<Name: Hashable & CustomStringConvertible> {
    private var changes: [(name: Name, change: ValueChange)] = []

    init<Part: NamedValue>(from before: [Part], to after: [Part]) where Part.Name == Name {
        let was = Dictionary(before.map { ($0.name, $0.value) }, uniquingKeysWith: { a, _ in a })
        let now = Dictionary(after.map { ($0.name, $0.value) }, uniquingKeysWith: { a, _ in a })
        for part in after where was[part.name] != part.value {
            changes.append((part.name, ValueChange(from: was[part.name], to: part.value)))
        }
        for part in before where now[part.name] == nil {
            changes.append((part.name, ValueChange(from: part.value, to: nil)))
        }
    }

    /// The changed values with their names in words.
    var all: [(name: String, change: ValueChange)] { changes.map { ("\($0.name)", $0.change) } }
    var names: [Name] { changes.map(\.name) }
    var values: Set<ValueChange> { Set(changes.map(\.change)) }

    /// Returns the changes whose names satisfy a predicate, without those of the given values.
    func filter(without values: Set<ValueChange>, where isWanted: (_ name: Name) -> Bool) -> PartChanges {
        var copy = self
        copy.changes = changes.filter { !values.contains($0.change) && isWanted($0.name) }
        return copy
    }

    /// Descriptions of the changes, a line each.
    var lines: [String] { changes.map { "\($0.name): \($0.change.text)" } }
}

/// The change of a value; nil stands for no value.
struct ValueChange: Hashable {
    var from: String?
    var to: String?

    fileprivate var text: String {
        switch (from, to) {
        case (let from?, let to?): "\(from) → \(to)"
        case (nil, let to?): "added \(to)"
        case (let from?, nil): "removed \(from)"
        case (nil, nil): "unchanged"
        }
    }
}
