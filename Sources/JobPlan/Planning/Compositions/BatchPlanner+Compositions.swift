internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Compositions as sources of jobs.
extension BatchPlanner {
    /// Resolves a composition of a job file. Each of its sources is probed once for all jobs.
    mutating func compose(
        _ spec: CompositionSpec, in index: Int, into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        var planner = self
        var own = DiagnosticSink()
        let decision = CompositionPlanner(spec, prober: prober, keepsFullChroma: keepsFullChroma) {
            asset, length, rate in
            planner.find(asset, showing: length, rate, in: index, into: &own)
        }.decide()
        // Keeps the probed sources for other jobs.
        (probed, images, finder) = (planner.probed, planner.images, planner.finder)
        let awaited = decision.value?.known.awaited ?? []
        sink.add(own)
        sink.add(decision.reasons.diagnostics)
        composed = decision.value?.known
        composed?.notes = decision.reasons.notes
        composed?.notes += awaited.map {
            "\($0.path.pathParts.last ?? $0.path) is the output of the job \($0.job); its description is predicted until that job has run"
        }
        guard let composition = decision.value?.composition, !own.hasErrors else { return nil }
        return describe(composition, awaiting: awaited, at: spec.range, into: &sink)
    }

    /// Loads a composition and returns it as an input with its description; nil after an error is reported. Files in
    /// `awaited` don't exist yet and have an empty identity.
    func describe(
        _ composition: Composition, awaiting awaited: [JobOutput] = [], at location: SourceRange,
        into sink: inout DiagnosticSink
    ) -> (InputPlan.Source, SourceDescription)? {
        let paths = Set(awaited.map(\.path.exact))
        let identities = composition.sources.map { source -> String? in
            if case .file(let path) = source, paths.contains(path.exact) { return "" }
            return source.identity
        }
        for (source, identity) in zip(composition.sources, identities) where identity == nil {
            sink.error(
                .sourceUnreadable, "a source of the composition doesn't exist: \(source.name)", at: location)
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
            sink.error(.invalidValue, "the composition is invalid: \(error)", at: location)
            return nil
        }
    }

    private mutating func find(
        _ asset: AssetSpec, showing length: MediaTime?, _ rate: Rational, in index: Int,
        into sink: inout DiagnosticSink
    ) -> CompositionPlanner.ResolvedSource? {
        guard let (source, description) = source(asset, in: index, into: &sink) else {
            return nil
        }
        switch source {
        case .file(let path, _):
            var description = description
            // The next clip begins where this source ends, so a guessed duration is measured.
            if description.isDurationGuessed {
                guard let measured = describe(path, .precise, at: asset.range, into: &sink) else {
                    return nil
                }
                description = measured
            }
            guard description.container.hasSuffix("_pipe"), let track = description.tracks.first,
                track.mediaType == .video
            else {
                return CompositionPlanner.ResolvedSource(
                    source: .file(path), description: description, isStill: false)
            }
            return still(path, track, length, rate, at: asset.range, into: &sink)
        case .pattern(let pattern):
            return CompositionPlanner.ResolvedSource(
                source: .pattern(pattern), description: description, isStill: false)
        case .images(let sequence, _):
            return CompositionPlanner.ResolvedSource(
                source: .images(sequence), description: description, isStill: sequence.numbers == nil)
        case .job(let run, let path):
            guard case .job(_, _, let output) = asset.source else { return nil }
            return CompositionPlanner.ResolvedSource(
                source: .file(path), description: description, isStill: false,
                awaited: JobOutput(job: run, output: output?.value, path: path))
        case .composition: return nil
        }
    }

    /// Returns a source that shows an image for `length`, or for 1 s if it is nil.
    private func still(
        _ path: String, _ track: TrackDescription, _ length: MediaTime?, _ rate: Rational,
        at location: SourceRange, into sink: inout DiagnosticSink
    ) -> CompositionPlanner.ResolvedSource? {
        let sequence = ImageSequence(
            still: path, duration: length ?? MediaTime(value: 1, timescale: 1), frameRate: rate)
        do {
            var description = try prober.description(of: sequence)
            // The duration is exact; it isn't rounded to whole frames.
            description.duration = length ?? sequence.duration
            return CompositionPlanner.ResolvedSource(
                source: .images(sequence), description: description, isStill: true)
        } catch {
            sink.error(.sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: location)
            return nil
        }
    }
}

extension TrackRule {
    /// Whether the rule encodes frames as 4:4:4 or RGB.
    var requestsFullChroma: Bool {
        guard case .encodeVideo(let spec) = action, let format = spec.pixelFormat?.value else { return false }
        return format.isRGB || format.chromaSubsampling == (1, 1) && !format.description.hasPrefix("gray")
    }
}

/// Data about a composition of a job file that `Composition` doesn't contain.
struct ComposedSource {
    /// Notes for the plan.
    var notes: [String] = []
    /// Source locations of the video clips, by their index in the composition.
    var clipLocations: [SourceRange] = []
    /// Source locations of the audio items, by their index in the composition.
    var audioLocations: [SourceRange] = []
    /// One chapter for each clip of the sequence.
    var chapters: [AssetChapter] = []
    /// Sources that other jobs publish.
    var awaited: [JobOutput] = []
    /// Descriptions of the source files by path, predicted for those that are not published yet.
    var descriptions: [String: SourceDescription] = [:]
    /// Tracks of the sources that the composition doesn't use.
    var left: [UnusedTrack] = []

    /// A track that a clip, a layer or an audio item doesn't use.
    struct UnusedTrack {
        /// Clip, layer or audio item, such as `clip 2, talk.mov`.
        var owner: String
        /// Description of the track, such as `track 1 (audio aac 48000 Hz stereo)`.
        var track: String
        var reason: String
        /// Whether no key of the job file omits the track explicitly.
        var isUnstated: Bool
        var location: SourceRange
    }
}
