internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Copies of clips that other jobs publish. Whether they fit together their packets tell, once they are there: the job is planned anew then.
extension CopyPlanner {
    func foretold(
        _ track: TrackDescription, of composition: Composition, _ composed: ComposedSource,
        into sink: inout DiagnosticSink
    ) -> Answer? {
        let placements =
            track.mediaType == .video
            ? composition.clips.map(\.placement) : composition.audio.map(\.placement)
        guard let like = placements.lazy.compactMap({ self.track($0, of: composition, composed) }).first
        else {
            sink.error(
                .copyRange, "no clip of the composition has \(track.mediaType.rawValue) to copy", at: place)
            return nil
        }
        guard container.value.canHold(codec: like.codec) else {
            sink.error(
                .containerCodec, "\(container.value.name) can't hold \(like.codec), which the clips have",
                at: place, notes: [Diagnostic.Note("the container comes from here", at: container.range)],
                help: "`encode` it, or choose another container")
            return nil
        }
        return .foretold(like)
    }

    /// A clip's track, as it is or will be.
    private func track(
        _ placement: ClipPlacement, of composition: Composition, _ composed: ComposedSource
    ) -> TrackDescription? {
        guard case .file(let path) = composition.sources[placement.source] else { return nil }
        let description = composed.foretold[path] ?? (try? prober.description(of: path))
        return description?.tracks.first { $0.index == placement.track }
    }
}
