internal import Diagnostics
internal import FileSystem
internal import JobSpec
internal import LibAV
internal import Media

/// The resolution of an asset of a job file to an input with its description.
struct InputResolver {
    let catalog: SourceCatalog
    let file: JobFile
    /// Outputs of other jobs that the job reads.
    let outputs: ReadOutputs
    /// Whether an output of the job has 4:4:4 or RGB frames, so that composing keeps full chroma.
    let keepsFullChroma: Bool

    /// Returns the input of a job. A source whose duration is guessed is measured where that would affect the job.
    /// Returns nil after an error.
    func input(of job: JobSpec, into sink: inout DiagnosticSink) -> ResolvedInput? {
        guard var input = resolve(job.asset, into: &sink) else { return nil }
        if case .file(let path, _) = input.source,
            EstimatedLength(source: input.description, job: job, prober: catalog.prober).isRelevant
        {
            guard
                let measured = catalog.description(
                    of: path, .precise, isPackage: input.package != nil, at: job.asset.range, into: &sink)
            else { return nil }
            input.description = measured
        }
        if let language = job.asset.language { input.description.setLanguage(language.value) }
        return input
    }

    /// Returns the input of an asset; nil after an error.
    func resolve(_ asset: AssetSpec, into sink: inout DiagnosticSink) -> ResolvedInput? {
        switch asset.source {
        case .pattern(let pattern): return signal(pattern, at: asset.range, into: &sink)
        case .images(let written, let rate):
            return catalog.images(written, of: file, frameRate: rate, into: &sink)
        case .image(let written, let duration, let rate):
            return catalog.image(written, of: file, duration: duration, frameRate: rate, into: &sink)
        case .composition(let spec): return compose(spec, into: &sink)
        case .composed(let composition):
            return describe(ComposedSource(composition), at: asset.range, into: &sink)
        case .glob: return nil
        case .job(let id, let instance, let output):
            switch outputs[instance, output?.value] {
            case .published(let path):
                return catalog.file(path, asset.timing, at: id.range, into: &sink)
            case .planned(let task):
                guard let path = task.output.destination else { break }
                return ResolvedInput(.job(id: instance, path: path), SourceDescription(predictedBy: task))
            // A reader of a skipped job is skipped as well, before its input is resolved.
            case .skipped, nil: break
            }
            sink.error(
                .sourceUnreadable, "the job `\(instance)`, whose output is the source, was rejected",
                at: id.range)
            return nil
        case .url(let url):
            guard
                let description = catalog.description(
                    of: url.value, asset.timing, at: url.range, into: &sink)
            else { return nil }
            // Only the process with network access requests the remote file; its identity is the file size in
            // the description.
            let identity = FileIdentity(remoteSize: description.fileSize)
            return ResolvedInput(.file(path: url.value, identity: identity), description)
        case .file(let written):
            return catalog.file(file.absolutePath(written), asset.timing, at: written.range, into: &sink)
        case .playlist(let written):
            return catalog.package(file.absolutePath(written), asset.timing, at: written.range, into: &sink)
        }
    }

    private func signal(
        _ pattern: TestPattern, at location: SourceRange, into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        do {
            return ResolvedInput(.pattern(pattern), SourceDescription(try pattern.contents()))
        } catch {
            sink.error(.sourceUnreadable, "the test signal can't be generated: \(error)", at: location)
            return nil
        }
    }
}
