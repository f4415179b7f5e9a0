internal import Diagnostics
internal import Glibc
internal import LibAV
package import Media
internal import YAMLDocument

/// An export with a preset through the library's API: the equivalent of a job file with one job.
package struct ExportRequest: Sendable {
    package var source: Asset.Source
    package var preset: ExportPreset
    /// The container's name.
    package var container: String
    package var destination: String
    /// Handling of a file at the destination that Tandem did not publish. Default: `fail`.
    package var ifExists = IfExists.fail
    /// The exported range; nil for the whole source.
    package var range: TimeRange?
    /// Whether a copied range may begin and end between keyframes, with the additional frames hidden by an edit list.
    /// Default: false.
    package var hidesFramesOfCuts = false
    /// The mix of audio tracks; nil for the preset's selection.
    package var audioMix: AudioMix?
    /// The composition of video tracks; nil for the preset's selection.
    package var videoComposition: VideoComposition?
    /// Tags to write in addition to the source's.
    package var metadata: [(key: String, value: String)] = []
    /// Whether the index is moved to the front of the file. Default: false.
    package var optimizesForNetwork = false
    /// Maximum size of the output in bytes; nil for no limit.
    package var sizeLimit: Int64?
    /// The name of the virtual job file, which owns the published outputs. Outputs with another owner are treated as
    /// foreign files.
    package var file = Self.name
    /// The method by which times and duration of the source are determined. Default: `fast`.
    package var timing = AssetTiming.fast

    /// Creates an export of the whole source.
    package init(source: Asset.Source, preset: ExportPreset, container: String, destination: String) {
        self.source = source
        self.preset = preset
        self.container = container
        self.destination = destination
    }

    /// Id of the job, and default name of the virtual job file.
    package static let name = "export"

    /// Returns the equivalent job file with its diagnostics.
    package func jobFile(options: SpecOptions = SpecOptions()) -> JobFileDecoder.Result {
        let location = SourceRange.argument(Self.name)
        var result = JobFileDecoder.decode(
            document(at: location), path: file, directory: Self.workingDirectory, options: options,
            after: DiagnosticSink())
        guard let file = result.file, let job = file.jobs.first else { return result }
        let asset = AssetSpec(source: assetSource(at: location), timing: timing, range: location)
        // Times and paths are inserted as values, so that their text is not parsed.
        let exact = JobSpec(
            id: job.id, base: job.base, asset: asset, assetID: nil,
            ranges: range.map { range in
                [
                    RangeSpec(
                        start: Located(.absolute(range.start), at: location),
                        end: Located(.absolute(range.end), at: location), duration: nil, range: location)
                ]
            } ?? [],
            cut: job.cut, onDamage: job.onDamage, needs: job.needs, scheduling: job.scheduling,
            outputs: job.outputs.map { output in
                var output = output
                output.tracks = output.tracks.map(combining)
                return output
            }, isTemplate: false,
            hidesFramesOfCuts: hidesFramesOfCuts)
        result.file?.jobs = [exact]
        return result
    }

    /// Returns a rule that combines the tracks of the request's mix or composition.
    private func combining(_ rule: TrackRule) -> TrackRule {
        var rule = rule
        let tracks: [Int]
        switch rule.action {
        case .encodeVideo where videoComposition != nil:
            rule.videoComposition = videoComposition
            tracks = videoComposition?.inputs.map(\.track) ?? []
        case .encodeAudio where audioMix != nil:
            rule.audioMix = audioMix
            tracks = audioMix?.inputs.map(\.track) ?? []
        default: return rule
        }
        rule.selection = TrackSelection(.indices(tracks), at: rule.selection.range)
        rule.isOptional = false
        return rule
    }

    private func assetSource(at location: SourceRange) -> AssetSpec.Source {
        switch source {
        case .file(let path) where SourceLocation.isRemote(path): .url(Located(path, at: location))
        case .file(let path): .file(Located(path, at: location))
        case .pattern(let pattern): .pattern(pattern)
        case .images(let sequence) where sequence.numbers == nil:
            .image(
                Located(sequence.path, at: location), duration: sequence.duration,
                frameRate: sequence.frameRate)
        case .images(let sequence):
            .images(Located(sequence.path, at: location), frameRate: sequence.frameRate)
        case .composition(let composition): .composed(composition)
        }
    }

    private static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    private func document(at location: SourceRange) -> YAMLNode {
        func text(_ value: String) -> YAMLNode {
            YAMLNode(.scalar(value.replacing("${", with: "$${"), .quoted), at: location)
        }
        func word(_ value: String) -> YAMLNode { YAMLNode(.scalar(value, .plain), at: location) }
        func mapping(_ entries: [(String, YAMLNode)]) -> YAMLNode {
            YAMLNode(
                .mapping(entries.map { YAMLNode.Entry(key: $0.0, keyRange: location, value: $0.1) }),
                at: location)
        }
        var job: [(String, YAMLNode)] = [
            ("asset", mapping([("path", word("./source"))])), ("export", word(preset.name)),
            ("container", word(container)),
            (
                "destination",
                mapping([
                    ("path", text(destination.hasPrefix("/") ? destination : "./" + destination)),
                    ("if_exists", word(ifExists.rawValue)),
                ])
            ),
        ]
        if optimizesForNetwork { job.append(("optimize_for_network", word("true"))) }
        if let sizeLimit { job.append(("limit", mapping([("size", word("\(sizeLimit)"))]))) }
        if !metadata.isEmpty {
            job.append(("metadata", mapping([("set", mapping(metadata.map { ($0.key, text($0.value)) }))])))
        }
        return mapping([
            ("version", word("1")), ("jobs", mapping([(Self.name, mapping(job))])),
        ])
    }
}
