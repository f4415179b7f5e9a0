package import BinaryCoding
internal import Diagnostics
internal import LibAV
internal import Media

/// A value that an output depends on, with its path in the encoded form of the task. Digests are computed from these
/// values, so that each difference between two digests can be reported by its name.
package struct RecipeValue: Codable, Hashable, NamedValue, Sendable {
    package var name: RecipeName
    package var value: String

    /// Returns the values of a task's recipe, in an order that doesn't depend on the order of properties, options and
    /// tags.
    static func all(of task: OutputTask, by identification: SourceIdentification) throws -> [RecipeValue] {
        try leaves(of: task, by: identification).map { (line: $0.line, value: $0) }
            .sorted { $0.line < $1.line }.map(\.value)
    }

    /// Returns the lines of a value that isn't part of a recipe, such as an expectation.
    static func lines(of value: some Encodable) throws -> String {
        try LeafEncoder().leaves(of: value).map { RecipeValue($0).line }.joined()
    }

    private static func leaves(
        of task: OutputTask, by identification: SourceIdentification
    ) throws -> [RecipeValue] {
        var encoder = LeafEncoder()
        encoder.userInfo[.omitsAnnotations] = true
        encoder.substitute = { ($0 as? any RecipeConvertible)?.recipe(by: identification) }
        return try encoder.leaves(of: task).map(RecipeValue.init)
    }

    /// The value with its path as one line for a digest. Texts from outside are preceded by their lengths, so that
    /// different values have different lines.
    var line: String {
        let path = name.path
        let entry = path.entry.map { " \($0.utf8.count):\($0)" } ?? ""
        return "\(path.keys.joined(separator: "."))\(entry) = \(value.utf8.count):\(value)\n"
    }
}

extension RecipeValue {
    private init(_ leaf: LeafEncoder.Leaf) {
        self.init(name: RecipeName(path: leaf.path), value: leaf.value)
    }
}

/// The name of a value that an output depends on: its path in the encoded form of an `OutputTask`.
package struct RecipeName: Codable, Hashable, Sendable, CustomStringConvertible {
    package var path: LeafEncoder.Path

    /// The part of a task that a value belongs to.
    enum Subject: Hashable {
        /// The source and its description.
        case source
        /// The range that is read.
        case range
        /// The cover from an image file.
        case cover
        /// A track of the output, by its index.
        case track(Int, TrackPart)
        /// A track of a rendition.
        case rendition(TrackPart)
        case other
    }

    /// The part of a track that a value belongs to.
    enum TrackPart: Hashable {
        /// The description of the source track.
        case source
        /// A setting of the encoding, which changes with the keys of `encode`, or the content of a subtitle file.
        case setting
        case other
    }

    var subject: Subject { OutputTask.subject(of: path.keys[...]) }

    /// Name for the user, such as `track 0 encoder width`.
    package var description: String {
        let words = path.keys.filter { !Self.silent.contains($0) }.map { Self.names[$0] ?? Self.words($0) }
        return (words + (path.entry.map { [$0] } ?? [])).joined(separator: " ")
    }

    /// Keys of job files that correspond to parts of a plan.
    private static let names = [
        "optimizesForNetwork": "optimize_for_network", "fragmentInterval": "fragment",
        "sizeLimit": "limit size", "targetSize": "target_size", "targetQuality": "quality",
        "joinedRanges": "range", "attachments": "attachment", "covers": "cover", "chapters": "chapter",
        "tracks": "track", "hasTwoPasses": "two passes", "transform": "orientation",
    ]
    /// Path components that names for the user omit.
    private static let silent: Set<String> = ["_0", "action", "encode", "settings", "input", "output"]

    /// Returns `sampleRate` as `sample rate`. A key with characters other than letters is returned unchanged.
    private static func words(_ key: String) -> String {
        guard key.utf8.allSatisfy({ (65...90).contains($0) || (97...122).contains($0) }),
            key.first?.isLowercase == true
        else { return key }
        return key.reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
    }
}
