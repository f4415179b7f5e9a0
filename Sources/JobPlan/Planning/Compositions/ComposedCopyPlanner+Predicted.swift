internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Copies of clips that other jobs publish. The compatibility of the clips is known only after publication; the job is
/// then planned again.
extension ComposedCopyPlanner {
    func predicted(_ track: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        let placements =
            track.mediaType == .video
            ? composition.clips.map(\.placement) : composition.audio.map(\.placement)
        guard let like = placements.lazy.compactMap({ self.track($0) }).first
        else {
            sink.error(
                .copyRange, "no clip of the composition has \(track.mediaType.rawValue) to copy", at: location
            )
            return nil
        }
        guard holds(like.codec, of: "the clips", into: &sink) else { return nil }
        return track.mediaType == .video
            ? frames(like, into: &sink)
            : audio(like, into: &sink)
    }

    /// Checks codec and size of video clips, which are known without their packets.
    private func frames(_ like: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        guard cut != .smartOrExact else { return .predicted(like) }
        for (index, clip) in composition.clips.enumerated() {
            guard let own = track(clip.placement) else { continue }
            let difference =
                own.codec != like.codec
                ? "its codec is \(own.codec), the others' is \(like.codec)"
                : Canvas(like: own).size != composition.canvas?.size
                    ? "its frames are \(Canvas(like: own).size), the composition's are \(composition.canvas?.size ?? Canvas(like: like).size)"
                    : nil
            guard let difference else { continue }
            sink.error(
                .copyRange, "clip \(index) can't be copied: \(difference)", at: location(ofClip: index),
                notes: [Diagnostic.Note("`copy` is here", at: location)],
                help: "use `cut: smart-or-exact` to re-encode what can't be copied")
        }
        return sink.hasErrors ? nil : .predicted(like)
    }

    /// Checks codec, sample rate and channels of audio items, which are known without their packets.
    private func audio(_ like: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        if let obstacle = composition.audioObstacle {
            return refuse(item: obstacle.item, obstacle.reason, into: &sink)
        }
        guard checkTimes(BitstreamTraits.of(like.codec).isCutAtSamples, into: &sink) else { return nil }
        for (index, item) in composition.audio.enumerated() {
            guard let own = track(item.placement) else { continue }
            if let difference = like.audioTraits.difference(of: own.audioTraits) ?? deviationFromSpec(own) {
                return refuse(item: index, difference, into: &sink)
            }
        }
        return .predicted(like)
    }

    /// Returns the track of a clip, predicted if it isn't published yet.
    private func track(_ placement: ClipPlacement) -> TrackDescription? {
        guard case .file(let path) = composition.sources[placement.source] else { return nil }
        return composed.descriptions[path.exact]?.tracks.first { $0.index == placement.track }
    }
}

extension TrackDescription {
    fileprivate var audioTraits: AudioTraits {
        AudioTraits(codec: codec, sampleRate: sampleRate, layout: channelLayout)
    }
}
