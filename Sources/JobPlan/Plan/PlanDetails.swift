internal import BinaryCoding
internal import Diagnostics
internal import LibAV

/// The decomposition of a plan into named lines, one for each value that the output depends on. Digests are computed
/// from these lines, so that each difference between two digests can be reported by its name.
enum PlanDetails {
    /// Returns the lines of an output's recipe, without empty values.
    static func of(_ task: OutputTask, by identification: SourceIdentification) throws -> [MetadataEntry] {
        var leaves = LeafEncoder()
        leaves.userInfo[.omitsAnnotations] = true
        leaves.substitute = { ($0 as? any RecipeConvertible)?.recipe(by: identification) }
        var keys: [[String]: String] = [:]
        var seen: [String: Int] = [:]
        var lines: [MetadataEntry] = []
        for leaf in try leaves.leaves(of: task) {
            let entry = Array(leaf.path.dropLast())
            if leaf.path.last == "key" {
                keys[entry] = leaf.value
                continue
            }
            let line: MetadataEntry
            if leaf.path.last == "value", let key = keys[entry] {
                // Options and tags are identified by their keys; their order has no meaning.
                line = MetadataEntry(key: "\(name(entry.dropLast())) \(key)", value: leaf.value)
            } else {
                guard !leaf.value.isEmpty else { continue }
                line = MetadataEntry(key: name(leaf.path), value: text(leaf.value, at: leaf.path.last ?? ""))
            }
            seen[line.key, default: 0] += 1
            let count = seen[line.key] ?? 1
            lines.append(
                MetadataEntry(key: count == 1 ? line.key : "\(line.key) (\(count))", value: line.value))
        }
        return lines.sorted { ($0.key, $0.value) < ($1.key, $1.value) }
    }

    /// Returns all leaves of a value in one line.
    static func line(of value: some Encodable) throws -> String {
        try LeafEncoder().leaves(of: value).map { "\($0.path.joined(separator: ".")) \($0.value)" }
            .joined(separator: ", ")
    }

    /// Returns a value as text, times in seconds: `1/1` becomes `1 s`.
    private static func text(_ value: String, at key: String) -> String {
        guard
            ["start", "duration", "end"].contains(key) || key.hasSuffix("Interval")
                || key.hasSuffix("Duration")
        else { return value }
        return (value.hasSuffix("/1") ? String(value.dropLast(2)) : value) + " s"
    }

    /// Keys of job files that correspond to parts of a plan.
    private static let names = [
        "optimizesForNetwork": "optimize_for_network", "fragmentInterval": "fragment",
        "sizeLimit": "limit size",
        "joinedRanges": "range", "attachments": "attachment", "covers": "cover", "chapters": "chapter",
        "tracks": "track", "hasTwoPasses": "two passes", "transform": "orientation",
    ]
    /// Path components that names for the user omit.
    private static let silent: Set<String> = ["_0", "action", "encode", "settings", "input", "output"]

    private static func name(_ path: some Sequence<String>) -> String {
        path.filter { !silent.contains($0) }.map { names[$0] ?? words($0) }.joined(separator: " ")
    }

    /// Returns `sampleRate` as `sample rate`. A key with characters other than letters is returned unchanged.
    private static func words(_ key: String) -> String {
        guard key.utf8.allSatisfy({ (65...90).contains($0) || (97...122).contains($0) }),
            key.first?.isLowercase == true
        else { return key }
        return key.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
    }
}
