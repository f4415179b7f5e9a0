internal import Diagnostics

/// A job instance before it is decoded.
struct JobInstance: Sendable {
    /// Index of the job in the definition.
    let base: Int
    let combination: Matrix.Combination
    /// Values that distinguish the instance from others of its job. They are part of its id.
    var label: [String]
    var asset: AssetSpec
    var assetID: Located<String>?
    var properties: AssetProperties
    var index = 0
    var isTemplate = false
    /// Location of the pattern whose match the instance reads.
    var pattern: SourceRange?

    /// The jobs whose outputs the instance reads.
    var readJobs: [Located<String>] { asset.readJobs }
}

extension JobInstance {
    /// Returns the decoded job; nil after an error is reported, or if a value is not known yet. `tracks`
    /// returns the tracks of the source, and is nil while they are unknown.
    func decoded(
        of definition: BatchDefinition, reader: NodeReader, tracks: JobDecoder.Tracks? = nil
    ) -> JobSpec? {
        let job = definition.bases[base]
        var scope = definition.scope(ofJob: job.id.value, combination: combination, index: index)
        scope.asset = properties
        let name = InstanceName(base: job.id.value, label: label)
        return JobDecoder(
            reader: reader, definition: definition, scope: scope, asset: asset, assetID: assetID,
            id: Located(name.description, at: job.id.range), base: job.id.value,
            isTemplate: isTemplate, instance: self, tracks: tracks
        ).job(job.node)
    }
}
