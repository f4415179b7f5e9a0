internal import Diagnostics
internal import YAMLDocument

/// Decoding of a job's `package`, which applies to the outputs without a destination.
extension JobDecoder {
    /// Checks the references to variables in the destination of a package, before substitution.
    func checkPackageDestination(_ parts: OutputNodes, _ scope: Scope) {
        guard let package = parts.job[key: "package"] else { return }
        DestinationCheck(scope: scope, reader: reader).check(package, as: Language.package)
    }

    /// Reports a `package` without `outputs`. One from `defaults` applies only to jobs with `outputs`. Returns whether it
    /// is an error.
    func refusePackage(_ entry: YAMLNode.Entry) -> Bool {
        guard !entry.keyRange.isDefault, !isPartial else {
            PackageDecoder(reader: reader, entry: entry, outputs: []).check {
                decoder(nil, scope).destinations.folder($0)
            }
            return false
        }
        reader.sink.error(
            .missingKey, "`package` requires `outputs`, which describe its renditions", at: entry.keyRange,
            help: "write `outputs: { video: { tracks: […] }, audio: { tracks: […] } }`, without `destination`"
        )
        return true
    }

    /// Returns the package of a job as an output; nil after an error is reported.
    func package(
        _ entry: YAMLNode.Entry, of outputs: [YAMLNode.Entry], _ renditions: [OutputSpec]
    ) -> OutputSpec? {
        if let other = outputs.first(where: { $0.key == PackageDecoder.id }) {
            reader.sink.error(
                .conflictingKeys, "the id `\(PackageDecoder.id)` is that of the job's `package`",
                at: other.keyRange,
                notes: [Diagnostic.Note("`package` is here", at: entry.keyRange)])
            return nil
        }
        if renditions.isEmpty {
            reader.sink.error(
                .conflictingKeys, "every output has a `destination`, so the `package` has no rendition",
                at: entry.keyRange, help: "remove `destination` from the outputs that belong to the package")
            return nil
        }
        return PackageDecoder(reader: reader, entry: entry, outputs: outputs).output(renditions) {
            decoder(nil, scope).destinations.folder($0)
        }
    }
}
