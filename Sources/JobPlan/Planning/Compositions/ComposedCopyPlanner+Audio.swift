internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// Audio items whose packets are copied into one track of a composition.
struct JoinedAudio {
    /// Track with the codec and the format of the output track.
    var like: TrackDescription
    /// Time range of the audio on the composition's time line.
    var timeRange: TimeRange
    /// Whether clips are cut exactly at samples.
    var isExact: Bool
    /// Notes about intervals in which the sources have no audio.
    var notes: [String]
}

/// Copies of a composition's audio: sequences of whole packets at their presentation times. Mixed audio and
/// audio with another volume or speed can't be copied.
extension ComposedCopyPlanner {
    /// Minimum gap between the audio of two items that is noted.
    private static var pause: MediaTime { MediaTime(value: 1, timescale: 10) }

    func joinedAudio(into sink: inout DiagnosticSink) -> Result? {
        if let obstacle = composition.audioObstacle {
            return refuse(item: obstacle.item, obstacle.reason, into: &sink)
        }
        do throws(SourceProblem) {
            return try joined(into: &sink)
        } catch {
            sink.error(.sourceUnreadable, "a clip can't be probed: \(error)", at: location)
            return nil
        }
    }

    private func joined(into sink: inout DiagnosticSink) throws(SourceProblem) -> Result? {
        var like: (track: TrackDescription, format: AudioPacketFormat)?
        var found: [SourceTrack: AudioPacketFormat?] = [:]
        var (start, end): (MediaTime?, MediaTime) = (nil, .zero)
        var isExact = true
        var notes: [String] = []
        for index in composition.audioOrder {
            let placement = composition.audio[index].placement
            guard case .file(let path) = composition.sources[placement.source] else { continue }
            let key = SourceTrack(placement.track, of: path)
            if found[key] == nil { found[key] = try prober.audioFormat(placement.track, of: path) }
            // The sources of a composition from the library's API haven't been probed yet.
            let known = composed.descriptions[path.exact]
            let source = if let known { known } else { try prober.description(of: path) }
            let track = source.tracks.first { $0.index == placement.track }
            guard let track, let format = found[key] ?? nil else {
                return refuse(item: index, "its track no longer exists", into: &sink)
            }
            if let other = deviationFromSpec(track) {
                return refuse(item: index, other, into: &sink)
            }
            if track.has(.changingHeaders) {
                return refuse(
                    item: index,
                    "its codec headers change within the file (concatenated files)",
                    into: &sink)
            }
            if let like, let difference = like.format.difference(of: format) {
                return refuse(item: index, difference, into: &sink)
            }
            like = like ?? (track, format)
            isExact = isExact && source.isCutAtSamples(track)
            let presented = track.timeRange.moved(by: placement)
            // PCM samples have no timestamps in most containers; the writer tolerates gaps of up to 10 ms.
            let slack = MediaTime(value: 1, timescale: 100)
            if isExact, track.isExact, start != nil, presented.start > end + slack {
                return refuse(
                    item: index,
                    "there is a gap from \(end) s to \(presented.start) s, which copied packets can't represent",
                    into: &sink)
            }
            if presented.start > end + Self.pause {
                notes.append(
                    "the copied audio has a gap from \(PlanText.time(end)) to \(PlanText.time(presented.start)), where the sources have no audio"
                )
            }
            start = min(start ?? presented.start, presented.start)
            end = max(end, presented.end)
        }
        guard let like, let start, end > start else {
            sink.error(.copyRange, "no clip of the composition has audio to copy", at: location)
            return nil
        }
        guard checkTimes(isExact, into: &sink) else { return nil }
        guard holds(like.track.codec, of: "the clips' audio", into: &sink) else { return nil }
        return .audio(
            JoinedAudio(
                like: like.track, timeRange: TimeRange(start: start, end: end), isExact: isExact,
                notes: notes))
    }

    /// Returns the difference between a track and the requested sample rate and channels; nil if there is none.
    func deviationFromSpec(_ track: TrackDescription) -> String? {
        if let requested = composed.spec?.sampleRate?.value, track.sampleRate != requested {
            return
                "its sample rate is \(track.sampleRate) Hz, the composition's is \(requested) Hz"
        }
        if let requested = composed.spec?.channels?.value.specified,
            track.channelLayout?.specified != requested
        {
            return
                "its channel layout is \(track.channelLayout ?? .stereo), the composition's is \(requested)"
        }
        return nil
    }

    /// Reports at the item's source location that an audio item can't be copied.
    func refuse(item: Int, _ why: String, into sink: inout DiagnosticSink) -> Result? {
        let locations = composed.audioLocations
        sink.error(
            .copyRange, "audio item \(item) can't be copied: \(why)",
            at: locations.indices.contains(item) ? locations[item] : location,
            notes: [Diagnostic.Note("`copy` is here", at: location)], help: "use `encode`")
        return nil
    }

    /// Returns false after an error is reported: audio that is cut between packets is not exact enough, or the
    /// container lacks the timestamps that a gap requires.
    func checkTimes(_ isExact: Bool, into sink: inout DiagnosticSink) -> Bool {
        if cut == .exact, !isExact {
            sink.error(
                .copyRange, "copied audio can't be cut to the sample where clips are joined", at: location,
                help: "use `encode`, or `cut: smart` to keep whole packets")
            return false
        }
        guard container.value.model.hasTimestamps || isExact else {
            sink.error(
                .copyRange,
                "packets are cut where clips are joined, which requires timestamps; \(container.value.name) has none",
                at: location,
                notes: [Diagnostic.Note("the container is determined here", at: container.range)],
                help: "use `encode`, or another container")
            return false
        }
        return true
    }
}

extension TimeRange {
    /// Returns the time range of a track's audio within a placement, on the composition's time line.
    fileprivate func moved(by placement: ClipPlacement) -> TimeRange {
        let first = max(start, placement.sourceRange.start)
        let last = max(first, min(end, placement.sourceRange.end))
        return TimeRange(start: placement.time(ofSource: first), end: placement.time(ofSource: last))
    }
}
