internal import Diagnostics
internal import JobSpec
internal import Media
internal import Publishing

/// The planner of each kind of output.
extension JobPlanner {
    /// Returns the plan of an output with its input; nil if the output has no destination or no container.
    func decide(
        _ output: OutputSpec, from input: ResolvedInput, at destination: DestinationPath?,
        with files: AddedFiles
    ) -> Decision<(input: InputPlan, output: OutputPlan)>? {
        func planner(_ product: OutputPlanner.Product) -> OutputPlanner? {
            guard let written = output.destination, let destination, let container = output.container else {
                return nil
            }
            return OutputPlanner(
                job: job, output: output, product: product, container: container, input: input,
                destination: destination, as: written, prober: catalog.prober, files: files)
        }
        switch output.kind {
        case .media: return planner(.media)?.decide()
        case .images(let spec): return planner(.images(spec))?.decide()
        case .waveform(let spec): return planner(.waveform(spec))?.decide()
        case .check(let spec):
            return CheckPlanner(job: job, output: output, spec: spec, input: input, prober: catalog.prober)
                .decide()
        case .package(let spec):
            guard let written = output.destination, let destination else { return nil }
            return PackagePlanner(
                job: job, output: output, spec: spec, input: input, destination: destination,
                written: written, prober: catalog.prober, files: files
            ).decide()
        }
    }
}

extension OutputSpec.Kind {
    /// Returns whether the output depends on the end of the source, which was guessed. `isOpen` is whether the job reads the
    /// source to its end.
    func dependsOnEnd(at guess: MediaTime, isOpen: Bool) -> Bool {
        switch self {
        case .media(let media): media.durationLimit?.value.countsFromEnd ?? false
        case .images(let images): isOpen && images.selection.dependsOnEnd(at: guess)
        case .waveform, .check, .package: false
        }
    }
}

extension OutputPlanner {
    /// Product of the selected tracks.
    enum Product {
        case media
        case images(ImagesSpec)
        case waveform(WaveformSpec)
    }

    /// Completes the plan of an output whose tracks are planned.
    mutating func finish(_ plan: inout OutputPlan, _ extent: PlannedExtent) {
        switch product {
        case .media: break
        case .images(let images): plan.setImages(stills(images, of: plan.tracks, extent))
        case .waveform(let waveform): setWaveform(waveform, of: &plan)
        }
    }
}

extension OutputPlanner.Product {
    /// The product of an output of a kind; nil for kinds that have other planners.
    init?(_ kind: OutputSpec.Kind) {
        switch kind {
        case .media: self = .media
        case .images(let spec): self = .images(spec)
        case .waveform(let spec): self = .waveform(spec)
        case .check, .package: return nil
        }
    }

    var isMedia: Bool { if case .media = self { true } else { false } }

    /// Returns a rule adapted to a track and the product.
    func rule(_ rule: TrackRule, for track: TrackDescription) -> TrackRule {
        switch self {
        case .media, .waveform: rule
        case .images(let images): images.rule(rule, for: track)
        }
    }
}
