internal import Diagnostics
internal import LibAV
internal import Media

/// What the container says of the job, without opening any media.
enum ContainerCheck {
    static func check(_ job: JobSpec, into sink: inout DiagnosticSink) {
        guard let place = job.container else { return }
        let container = place.value
        for rule in job.tracks {
            if !container.mediaTypes.contains(rule.mediaType) {
                sink.error(
                    .containerCodec, "\(container.name) can't hold \(rule.mediaType.rawValue)",
                    at: rule.selection.range,
                    notes: [Diagnostic.Note("the container comes from here", at: place.range)])
                continue
            }
            let codec: Located<CodecInfo>
            switch rule.action {
            case .copy(_, nil): continue
            case .encodeVideo(let spec), .copy(_, .encodeVideo(let spec)?): codec = spec.codec
            case .encodeAudio(let spec), .copy(_, .encodeAudio(let spec)?): codec = spec.codec
            case .copy(_, .copy?): continue
            }
            if !container.canHold(codec: codec.value.libavName) {
                let fitting = CodecCatalog.names(of: rule.mediaType).filter {
                    CodecCatalog.codec($0, of: rule.mediaType).map { container.canHold(codec: $0.libavName) }
                        ?? false
                }
                sink.error(
                    .containerCodec, "\(container.name) can't hold \(codec.value.name)", at: codec.range,
                    notes: [Diagnostic.Note("the container comes from here", at: place.range)],
                    help: fitting.isEmpty ? nil : "it can hold \(fitting.joined(separator: ", "))")
            }
        }
        if container.isSingleTrack, job.tracks.count > 1 {
            sink.error(
                .containerCodec, "\(container.name) holds one track alone", at: job.tracks[1].range,
                notes: [Diagnostic.Note("the first rule stands here", at: job.tracks[0].range)])
        }
        if let optimize = job.optimizeForNetwork, optimize.value, !container.canOptimizeForNetwork {
            sink.error(
                .containerSetting, "\(container.name) has no index that could go to the front",
                at: optimize.range)
        }
        if let keys = container.metadataKeys {
            for entry in job.metadata.set where !keys.contains(entry.key.value) {
                sink.error(
                    .containerSetting, "\(container.name) can't hold the tag `\(entry.key.value)`",
                    at: entry.key.range,
                    help: Suggestion.help(for: entry.key.value, among: keys.sorted())
                        ?? (keys.isEmpty
                            ? "it holds no tags" : "it holds \(keys.sorted().joined(separator: ", "))"))
            }
        }
    }
}
