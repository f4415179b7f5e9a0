internal import ExactStrings
internal import Diagnostics

/// The variables that `${…}` can refer to at one location.
struct Scope: Sendable {
    struct Value: Sendable {
        var text: String
        /// The value's location; nil if it isn't from a file.
        var range: SourceRange?
        /// Whether the value is unknown until patterns are expanded; the text is then incomplete.
        var isDeferred = false
    }

    /// Values of `vars` and `--set`, after substitution.
    var variables: [String: Value] = [:]
    /// Environment variables; nil if they are not available.
    var environment: [String: String]? = [:]
    /// Matrix values of this job instance.
    var matrix: [(key: String, value: Value)] = []
    /// Whether the job's matrix is invalid, so that its keys have no values.
    var isMatrixUnknown = false
    /// The job's id.
    var job: String?
    /// The number of the job instance, from 1.
    var index: Int?
    /// The output's id; nil outside of `outputs`.
    var output: String?
    /// Whether the output is `images`, whose destination may contain `${image.number}` and `${image.time}`.
    var makesImages = false
    /// The values of `asset.id`, `asset.stem` and so on.
    var asset: AssetProperties?
    /// The values of `track.index`, `track.language` and `track.codec`; nil outside of outputs with one of these in the
    /// destination.
    var track: TrackValues?

    /// The values of `${track.…}`.
    enum TrackValues: Sendable {
        /// The source isn't opened yet.
        case unknown
        case known(TrackDivision.Track)

        var isUnknown: Bool { if case .unknown = self { true } else { false } }
    }

    /// The names that are defined, for suggestions.
    var names: [String] {
        variables.keys.sorted() + matrix.map { "matrix.\($0.key)" }
            + (job == nil ? [] : ["job", "index"])
            + (output == nil ? [] : ["output"])
            + (makesImages ? ["image.number", "image.time"] : [])
            + (asset == nil ? [] : ["asset.id", "asset.stem", "asset.ext", "asset.dir"])
            + (track == nil ? [] : Self.trackNames)
    }

    enum Failure: Error {
        case undefined(String, help: String?, isMissing: Bool = false)
    }

    /// Variables of a track.
    static let trackNames = ["track.index", "track.language", "track.codec"]

    /// Built-in names, which variables can't have.
    static let builtIn = ["job", "index", "output"]

    /// Returns the value of the text between `${` and `}`: a name, optionally followed by `:-` and a default.
    func value(of text: String) throws(Failure) -> Value {
        guard let mark = text.firstRange(ofASCII: ":-") else { return try named(text) }
        let (name, other) = (String(text[..<mark.lowerBound]), String(text[mark.upperBound...]))
        if other.contains("${") {
            throw .undefined(
                "the default of `\(name)` can't contain `${`",
                help: "define a variable: `vars: { \(Self.exampleName(name)): … }`")
        }
        do throws(Failure) {
            let value = try named(name)
            return value.text.isEmpty && !value.isDeferred ? Value(text: other) : value
        } catch {
            // A default applies only to undefined names, not to invalid ones.
            guard case .undefined(_, _, let isMissing) = error, isMissing else { throw error }
            return Value(text: other)
        }
    }

    /// Returns whether a name refers to an asset, a track, the matrix, the environment or an image.
    static func isQualifiedName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && ["asset", "track", "matrix", "env", "image"].contains(parts[0])
            && Identifier.isValid(String(parts[1]))
    }

    private func named(_ name: String) throws(Failure) -> Value {
        if let value = variables[name] { return value }
        if name.hasPrefix("env.") { return try environmentValue(String(name.dropFirst(4))) }
        if name.hasPrefix("matrix.") {
            let key = name.dropFirst(7)
            if let found = matrix.first(where: { $0.key == key }) { return found.value }
            if isMatrixUnknown { return Value(text: "", isDeferred: true) }
            throw .undefined(
                matrix.isEmpty ? "the job has no `matrix` with `\(key)`" : "the matrix has no key `\(key)`",
                help: Suggestion.help(for: String(key), among: matrix.map(\.key)), isMissing: true)
        }
        if name == "job", let job { return Value(text: job) }
        if name == "index", let index { return Value(text: "\(index)") }
        if name == "output" {
            if let output { return Value(text: output) }
            throw .undefined("`${output}` is available only inside `outputs`", help: nil, isMissing: true)
        }
        if name.hasPrefix("image.") {
            let placeholder = "${\(name)}"
            guard [ImagesSpec.Placeholder.number, ImagesSpec.Placeholder.time].contains(placeholder) else {
                throw .undefined("unknown variable `\(name)`", help: "expected image.number or image.time")
            }
            // Replaced later, for each image.
            if makesImages { return Value(text: placeholder) }
            throw .undefined("`${\(name)}` is available only in the destination of `images`", help: nil)
        }
        if name.hasPrefix("asset.") {
            guard let asset else {
                throw .undefined("`${\(name)}` is available only inside a job, after its asset", help: nil)
            }
            return try asset.value(of: String(name.dropFirst(6)))
        }
        if name.hasPrefix("track.") { return try trackValue(name) }
        if ["job", "index"].contains(name) {
            throw .undefined("`${\(name)}` is available only inside a job", help: nil)
        }
        throw .undefined(
            "unknown variable `\(name)`",
            help: (Self.withoutDelimiters(name) ?? qualified(name)).map { "write it as `${\($0)}`" }
                ?? Suggestion.help(
                    for: name, among: names)
                ?? "define it: `vars: { \(Self.exampleName(name)): … }`",
            isMissing: Identifier.isValid(name))
    }

    private func trackValue(_ name: String) throws(Failure) -> Value {
        guard Self.trackNames.contains(name) else {
            throw .undefined(
                "unknown variable `\(name)`",
                help: Suggestion.help(for: name, among: Self.trackNames)
                    ?? "expected track.index, track.language or track.codec")
        }
        switch track {
        case nil:
            throw .undefined(
                "`${\(name)}` is available only in the `destination`, and beside it in `language`, `title` and `metadata`, of an output with `tracks`",
                help: nil)
        case .unknown: return Value(text: "*", isDeferred: true)
        case .known(let track):
            switch name {
            case "track.index": return Value(text: "\(track.index)")
            case "track.language": return Value(text: track.language)
            default: return Value(text: track.codec)
            }
        }
    }

    /// Returns a name with the prefix that it lacks: `matrix.crf`, `asset.stem`, `env.HOME`; nil if it lacks none.
    private func qualified(_ name: String) -> String? {
        if matrix.contains(where: { $0.key == name }) { return "matrix.\(name)" }
        if asset != nil, ["stem", "ext", "dir"].contains(name) { return "asset.\(name)" }
        return environment?[name] == nil
            || variables.keys.contains(where: { $0.lowercased() == name.lowercased() })
            ? nil : "env.\(name)"
    }

    /// Returns a name without surrounding spaces and braces, as in the syntax of other tools; nil if there are none.
    private static func withoutDelimiters(_ name: String) -> String? {
        func isAround(_ letter: Character) -> Bool { " {}\t".contains(letter) }
        let inner = name.drop(while: isAround)
        let unwrapped = String(inner.prefix { !isAround($0) })
        guard inner.dropFirst(unwrapped.count).allSatisfy(isAround) else { return nil }
        return unwrapped != name && Identifier.isValid(unwrapped.replacing(".", with: "_"))
            ? unwrapped : nil
    }

    private func environmentValue(_ name: String) throws(Failure) -> Value {
        guard Identifier.isValid(name), !name.contains("-") else {
            throw .undefined("`\(name)` is not a valid name of an environment variable", help: nil)
        }
        guard let environment else {
            throw .undefined(
                "the environment variable `\(name)` is not available with `--untrusted`",
                help: "set a default: `${env.\(name):-value}`, or a variable by `--set`", isMissing: true)
        }
        if let value = environment[name] { return Value(text: value) }
        throw .undefined(
            "the environment variable `\(name)` is not set", help: "set a default: `${env.\(name):-value}`",
            isMissing: true)
    }

    private static func exampleName(_ name: String) -> String {
        Identifier.isValid(name) ? name : "name"
    }
}

/// The values of `${asset.…}`.
struct AssetProperties: Sendable {
    var id: String?
    var path: String?
    /// Whether the path depends on matches of patterns that are not known yet.
    var isPattern = false
    /// The paths and patterns of which one includes the source, in place of `path`; empty for a single one.
    var alternatives: [String] = []
    var what = "the asset"
    /// Whether the asset couldn't be decoded. The values of all its properties are then deferred.
    var isUnknown = false

    /// Properties of an asset that couldn't be decoded.
    static var unknown: AssetProperties {
        var properties = AssetProperties()
        properties.isUnknown = true
        return properties
    }

    func value(of property: String) throws(Scope.Failure) -> Scope.Value {
        if isUnknown, ["id", "stem", "ext", "dir"].contains(property) {
            return Scope.Value(text: "", isDeferred: true)
        }
        switch property {
        case "id":
            if let id { return Scope.Value(text: id) }
            throw .undefined(
                "an inline asset has no id", help: "use `${asset.stem}` for its name")
        case "stem", "ext", "dir":
            if !alternatives.isEmpty { return part(property, ofEach: alternatives) }
            guard let path else {
                if property == "stem", let id { return Scope.Value(text: id) }
                throw .undefined("`asset.\(property)` is not available: \(what) has no path", help: nil)
            }
            return part(property, of: path)
        default:
            throw .undefined(
                "unknown variable `asset.\(property)`",
                help: Suggestion.help(for: property, among: ["id", "stem", "ext", "dir"])
                    ?? "expected asset.id, asset.stem, asset.ext or asset.dir")
        }
    }

    /// Returns a part that all paths have in common; a wildcard, which is deferred, if they differ.
    private func part(_ property: String, ofEach paths: [String]) -> Scope.Value {
        let values = paths.map { part(property, of: $0) }
        guard let first = values.first, values.allSatisfy({ $0.text.exact == first.text.exact }) else {
            return Scope.Value(text: "*", isDeferred: true)
        }
        return first
    }

    private func part(_ property: String, of path: String) -> Scope.Value {
        let slash = path.lastSlash
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let parts = name.nameParts
        let text =
            switch property {
            case "stem": parts.stem
            case "ext": parts.ending ?? ""
            default: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            }
        return Scope.Value(text: text, isDeferred: isPattern && GlobPattern.isPattern(text))
    }
}
