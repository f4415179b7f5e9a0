internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import FileSystem

/// What jobs read.
extension BatchPlanner {
    mutating func source(
        _ asset: AssetSpec, in index: Int, foreseen: InputPlan.Source?, into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        switch asset.source {
        case .pattern(let pattern):
            do {
                return (
                    .pattern(pattern),
                    SourceDescription(
                        try Asset(.pattern(pattern), environment: MediaEnvironment()).loadSynchronously())
                )
            } catch {
                sink.error(.sourceUnreadable, "the test signal can't be made: \(error)", at: asset.range)
                return nil
            }
        case .glob: return nil
        case .job(let id, let run, let output):
            if case .file(let path, _)? = foreseen, let foreseen {
                return describe(path, asset.timing, at: id.range, into: &sink).map { (foreseen, $0) }
            }
            if let path = settled[Key(file: index, id: run)]?.destination(of: output?.value) {
                guard let description = describe(path, asset.timing, at: id.range, into: &sink),
                    let identity = FileIdentity(path: path)
                else { return nil }
                return (.file(path: path, identity: identity), description)
            }
            let tasks = plans[Key(file: index, id: run)].map { order[$0].tasks } ?? []
            guard let needed = tasks.first(where: { $0.output.id == output?.value }) else {
                sink.error(
                    .sourceUnreadable,
                    "the job `\(run)`, whose output this one reads, can't be carried out", at: id.range)
                return nil
            }
            return (.job(id: run, path: needed.output.destination), SourceDescription(foretoldBy: needed))
        case .url(let url):
            guard let description = describe(url.value, asset.timing, at: url.range, into: &sink) else {
                return nil
            }
            // Nobody asks the server but who may fetch: what was said of the file tells how long it is.
            let identity = FileIdentity(remoteSize: description.fileSize)
            return (.file(path: url.value, identity: identity), description)
        case .file(let written):
            let path = files[index].absolutePath(written)
            guard let description = describe(path, asset.timing, at: written.range, into: &sink),
                let identity = FileIdentity(path: path)
            else { return nil }
            return (.file(path: path, identity: identity), description)
        }
    }

    static func look(
        at path: String, _ timing: AssetTiming, _ prober: any SourceProber
    ) -> Swift.Result<SourceDescription, SourceProblem> {
        Swift.Result { () throws(SourceProblem) in try prober.description(of: path, timing) }
    }

    private mutating func describe(
        _ path: String, _ timing: AssetTiming, at place: SourceRange, into sink: inout DiagnosticSink
    ) -> SourceDescription? {
        let key = Self.probeKey(path, timing)
        let result = probed[key] ?? Self.look(at: path, timing, prober)
        probed[key] = result
        switch result {
        case .success(let description): return description
        case .failure(let error):
            let name = path.pathParts.last ?? path
            sink.error(
                .sourceUnreadable, "\(name): \(error)", at: place,
                notes: [Diagnostic.Note("the path is \(path)")])
            return nil
        }
    }
}
