internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Compositions as what a job reads.
extension BatchPlanner {
    /// A composition of a job file, each of whose sources is looked into once for all jobs.
    mutating func compose(
        _ spec: CompositionSpec, in index: Int, into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        var planner = self
        var own = DiagnosticSink()
        let decision = CompositionPlanner(spec, prober: prober, keepsFullChroma: keepsFullChroma) {
            asset, length, rate in
            planner.find(asset, showing: length, rate, in: index, into: &own)
        }.decide()
        // What was found of sources is found for other jobs too.
        (probed, images, finder) = (planner.probed, planner.images, planner.finder)
        let awaited = decision.value?.known.awaited ?? []
        sink.add(own)
        sink.add(decision.reasons.diagnostics)
        composed = decision.value?.known
        composed?.notes = decision.reasons.notes
        composed?.notes += awaited.map {
            "\($0.path.pathParts.last ?? $0.path) is what the job \($0.job) publishes, foretold until then"
        }
        guard let composition = decision.value?.composition, !own.hasErrors else { return nil }
        return describe(composition, awaiting: awaited, at: spec.range, into: &sink)
    }

    /// What a composition is, as a source.
    func describe(
        _ composition: Composition, awaiting awaited: [JobOutput] = [], at place: SourceRange,
        into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        let paths = Set(awaited.map(\.path.exact))
        let identities = composition.sources.map { source -> String? in
            if case .file(let path) = source, paths.contains(path.exact) { return "" }
            return source.identity
        }
        for (source, identity) in zip(composition.sources, identities) where identity == nil {
            sink.error(.sourceUnreadable, "a source of the composition is gone: \(source.name)", at: place)
        }
        do {
            let contents = try Asset(.composition(composition), environment: MediaEnvironment())
                .loadSynchronously()
            guard identities.allSatisfy({ $0 != nil }) else { return nil }
            return (
                .composition(composition, identities: identities.compactMap(\.self)),
                SourceDescription(contents)
            )
        } catch {
            sink.error(.invalidValue, "the composition can't be made: \(error)", at: place)
            return nil
        }
    }

    private mutating func find(
        _ asset: AssetSpec, showing length: MediaTime?, _ rate: Rational, in index: Int,
        into sink: inout DiagnosticSink
    ) -> CompositionPlanner.Found? {
        guard let (source, description) = source(asset, in: index, into: &sink) else {
            return nil
        }
        switch source {
        case .file(let path, _):
            var description = description
            // What follows begins where it ends: no guess will do.
            if description.isDurationGuessed {
                guard let measured = describe(path, .precise, at: asset.range, into: &sink) else {
                    return nil
                }
                description = measured
            }
            guard description.container.hasSuffix("_pipe"), let track = description.tracks.first,
                track.mediaType == .video
            else {
                return CompositionPlanner.Found(
                    source: .file(path), description: description, isStill: false)
            }
            return still(path, track, length, rate, at: asset.range, into: &sink)
        case .pattern(let pattern):
            return CompositionPlanner.Found(
                source: .pattern(pattern), description: description, isStill: false)
        case .images(let sequence, _):
            return CompositionPlanner.Found(
                source: .images(sequence), description: description, isStill: sequence.numbers == nil)
        case .job(let run, let path):
            guard case .job(_, _, let output) = asset.source else { return nil }
            return CompositionPlanner.Found(
                source: .file(path), description: description, isStill: false,
                awaited: JobOutput(job: run, output: output?.value, path: path))
        case .composition: return nil
        }
    }

    /// An image, shown for as long as it is asked for.
    private func still(
        _ path: String, _ track: TrackDescription, _ length: MediaTime?, _ rate: Rational,
        at place: SourceRange, into sink: inout DiagnosticSink
    ) -> CompositionPlanner.Found? {
        let sequence = ImageSequence(
            still: path, duration: length ?? MediaTime(value: 1, timescale: 1), frameRate: rate)
        do {
            var description = try prober.description(of: sequence)
            // It is shown to the moment, whatever its frames are.
            description.duration = length ?? sequence.duration
            return CompositionPlanner.Found(
                source: .images(sequence), description: description, isStill: true)
        } catch {
            sink.error(.sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: place)
            return nil
        }
    }
}

extension TrackRule {
    /// It encodes frames of 4:4:4, or of red, green and blue.
    var asksForFullChroma: Bool {
        guard case .encodeVideo(let spec) = action, let format = spec.pixelFormat?.value else { return false }
        return format.isRGB || format.chromaSubsampling == (1, 1) && !format.description.hasPrefix("gray")
    }
}

/// What a composition of a job file is, besides itself.
struct ComposedSource {
    /// What there is to say of it.
    var notes: [String] = []
    /// Where its clips of frames stand in the file.
    var clipPlaces: [SourceRange] = []
    /// Where its runs of audio stand in the file.
    var audioPlaces: [SourceRange] = []
    /// A chapter for each clip of the sequence.
    var chapters: [AssetChapter] = []
    /// What of it other jobs publish.
    var awaited: [JobOutput] = []
    /// What each of its files is, or will be once it is published, by its path.
    var descriptions: [String: SourceDescription] = [:]
    /// Tracks of its sources of which nothing is seen or heard.
    var left: [Left] = []

    /// A track that a clip, a layer or a run of audio leaves.
    struct Left {
        /// `clip 2, talk.mov`.
        var owner: String
        /// `track 1 (audio aac 48000 Hz stereo)`.
        var track: String
        var reason: String
        /// Nobody said that it is to be left.
        var isUnasked: Bool
        var place: SourceRange
    }
}
