internal import LibAV

/// The differences between two lists of named values.
struct PartChanges {
    private struct Change: Hashable {
        var from: String?
        var to: String?
    }
    private var changes: [(name: PartName, change: Change)] = []

    init(from before: [MetadataEntry], to after: [MetadataEntry]) {
        let was = Dictionary(before.map { ($0.key, $0.value) }, uniquingKeysWith: { a, _ in a })
        let now = Dictionary(after.map { ($0.key, $0.value) }, uniquingKeysWith: { a, _ in a })
        for part in after where was[part.key] != part.value {
            changes.append((PartName(part.key), Change(from: was[part.key], to: part.value)))
        }
        for part in before where now[part.key] == nil {
            changes.append((PartName(part.key), Change(from: part.value, to: nil)))
        }
    }

    var isEmpty: Bool { changes.isEmpty }
    var names: [PartName] { changes.map(\.name) }
    /// The changed values with their names; nil for a value that was added or removed.
    var all: [(name: PartName, from: String?, to: String?)] {
        changes.map { ($0.name, $0.change.from, $0.change.to) }
    }

    /// Adds changes that aren't included yet. The same change under another name counts as included.
    mutating func add(_ other: PartChanges, where isWanted: (_ name: PartName) -> Bool) {
        let known = Set(changes.map(\.change))
        changes += other.changes.filter { !known.contains($0.change) && isWanted($0.name) }
    }

    /// Descriptions of the changes, a line each.
    var lines: [String] {
        changes.map { name, change in
            switch (change.from, change.to) {
            case (let from?, let to?): "\(name.text): \(from) → \(to)"
            case (nil, let to?): "\(name.text): added \(to)"
            case (let from?, nil): "\(name.text): removed \(from)"
            case (nil, nil): name.text
            }
        }
    }
}
