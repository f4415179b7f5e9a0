internal import ExactStrings

/// The names of job files by which editors and hooks recognize them.
package enum JobFileName {
    /// Patterns of names, as in catalogs of schemas (`schemas/schemastore-entry.json`).
    package static let patterns = ["tandem.yaml", "tandem.yml", "*.tandem.yaml", "*.tandem.yml"]

    /// Returns a name for the job file of a source, such as `talk.tandem.yaml`. It consists of ASCII letters, digits, `-`,
    /// `_` and `.`.
    package static func suggested(for source: String) -> String {
        let stem = (source.pathParts.last ?? "").nameParts.stem
        let plain = stem.unicodeScalars.map { scalar in
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain || "-_".unicodeScalars.contains(scalar) ? Character(scalar) : "-"
        }
        let name = String(plain.prefix(100)).drop { $0 == "-" }
        return name.isEmpty ? "tandem.yaml" : "\(name).tandem.yaml"
    }
}
