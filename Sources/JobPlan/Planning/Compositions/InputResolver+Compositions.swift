internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Compositions as inputs of jobs.
extension InputResolver {
    /// Resolves a composition of a job file; nil after an error.
    func compose(_ spec: CompositionSpec, into sink: inout DiagnosticSink) -> ResolvedInput? {
        let decision = CompositionPlanner(
            spec, prober: catalog.prober, keepsFullChroma: keepsFullChroma, fonts: catalog.fonts
        ) { asset, length, rate in
            find(asset, showing: length, rate)
        }.decide()
        sink.add(decision.reasons.diagnostics)
        guard var composed = decision.value else { return nil }
        composed.notes = decision.reasons.notes
        composed.notes += composed.awaited.map {
            "\($0.path.pathParts.last ?? $0.path) is the output of the job \($0.job); its description is predicted until that job has run"
        }
        return describe(composed, at: spec.range, into: &sink)
    }

    /// Returns a composition as an input; nil after an error. Sources that don't exist yet, because other jobs publish
    /// them, get an empty identity.
    func describe(
        _ composed: ComposedSource, at location: SourceRange, into sink: inout DiagnosticSink
    ) -> ResolvedInput? {
        let paths = Set(composed.awaited.map(\.path.exact))
        let identities = composed.composition.sources.map { source -> String? in
            if case .file(let path) = source, paths.contains(path.exact) { return "" }
            return source.identity(on: catalog.disk)
        }
        for (source, identity) in zip(composed.composition.sources, identities) where identity == nil {
            sink.error(
                .sourceUnreadable, "a source of the composition doesn't exist: \(source.name)", at: location)
        }
        do {
            let contents = try composed.composition.contents()
            guard identities.allSatisfy({ $0 != nil }) else { return nil }
            return ResolvedInput(
                .composition(composed.composition, identities: identities.compactMap(\.self)),
                SourceDescription(contents), composed: composed)
        } catch {
            sink.error(.invalidValue, "the composition is invalid: \(error)", at: location)
            return nil
        }
    }

    /// Returns the source of a clip, a layer or an audio item. An image is shown for `length`.
    private func find(
        _ asset: AssetSpec, showing length: MediaTime?, _ rate: Rational
    ) -> Decision<ResolvedSource> {
        var reasons = Reasons()
        let found = find(asset, showing: length, rate, into: &reasons.diagnostics)
        return Decision(found, reasons)
    }

    private func find(
        _ asset: AssetSpec, showing length: MediaTime?, _ rate: Rational, into sink: inout DiagnosticSink
    ) -> ResolvedSource? {
        if case .playlist(let path) = asset.source {
            sink.error(
                .notSupported, "a package can't be part of a composition; use a job that copies it to a file",
                at: path.range)
            return nil
        }
        if let language = asset.language {
            sink.warning(
                .notSupported, "`language` has no effect on parts of a composition", at: language.range,
                help: "set `language` in the track rule")
        }
        guard let input = resolve(asset, into: &sink) else { return nil }
        var description = input.description
        switch input.source {
        case .file(let path, _):
            // The next clip begins where this source ends, so a guessed duration is measured.
            if description.isDurationGuessed {
                guard let measured = catalog.description(of: path, .precise, at: asset.range, into: &sink)
                else { return nil }
                description = measured
            }
            guard description.demuxer.isImageFile, let track = description.tracks.first,
                track.mediaType == .video
            else {
                return ResolvedSource(
                    source: .file(path), description: description, isStill: false)
            }
            return still(path, length, rate, at: asset.range, into: &sink)
        case .pattern(let pattern):
            return ResolvedSource(
                source: .pattern(pattern), description: description, isStill: false)
        case .images(let sequence, _):
            return ResolvedSource(
                source: .images(sequence), description: description, isStill: sequence.numbers == nil)
        case .job(let instance, let path):
            guard case .job(_, _, let output) = asset.source else { return nil }
            return ResolvedSource(
                source: .file(path), description: description, isStill: false,
                awaited: JobOutput(job: instance, output: output?.value, path: path))
        case .composition: return nil
        }
    }

    /// Returns the source for one image, shown for `length` (1 s if nil).
    private func still(
        _ path: String, _ length: MediaTime?, _ rate: Rational, at location: SourceRange,
        into sink: inout DiagnosticSink
    ) -> ResolvedSource? {
        let sequence = ImageSequence(
            still: path, duration: length ?? MediaTime(value: 1, timescale: 1), frameRate: rate)
        do {
            var description = try catalog.prober.description(of: sequence)
            // The duration is exact; it isn't rounded to whole frames.
            description.duration = length ?? sequence.duration
            return ResolvedSource(
                source: .images(sequence), description: description, isStill: true)
        } catch {
            sink.error(.sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: location)
            return nil
        }
    }
}

extension JobSpec {
    /// Whether an output has 4:4:4 or RGB frames.
    var requestsFullChroma: Bool { outputs.contains { $0.tracks.contains(where: \.requestsFullChroma) } }
}

extension TrackRule {
    /// Whether the rule encodes frames as 4:4:4 or RGB.
    fileprivate var requestsFullChroma: Bool {
        guard case .encodeVideo(let spec) = action, let format = spec.pixelFormat?.value else { return false }
        return format.isRGB || format.chromaSubsampling == (1, 1) && !format.description.hasPrefix("gray")
    }
}
