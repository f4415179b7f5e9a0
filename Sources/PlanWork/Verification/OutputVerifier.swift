internal import JobPlan
internal import LibAV
internal import Media

/// The verification of a finished output before it is published: the file is reopened and compared with the plan and
/// with the appended samples.
struct OutputVerifier {
    let task: OutputTask
    /// The plan of the output's kind.
    let media: MediaPlan
    let reports: [TrackReport]
    private var plan: OutputPlan { task.output }
    /// Evidence from creating the edges of smart cuts, by track; nil if there is none, so that they aren't compared with
    /// the source.
    let cutEvidence: [CutEvidence]?
    /// Time at which the output ends because of its size limit; nil if the limit wasn't reached.
    let stop: MediaTime?
    /// Environment in which the output and its source are opened.
    let environment: MediaEnvironment
    /// Polled during long checks; returning true cancels them.
    let isCancelled: @Sendable () -> Bool

    enum Verdict {
        /// The output matches the plan. `losses` are data of the source that the plan keeps and the output lacks, `tracks`
        /// the output's tracks as they were read back.
        case complete(losses: [String], tracks: [AssetTrack])
        /// The output differs from the plan; the value is the reason.
        case defective(String)
    }

    /// Reopens the output and verifies it.
    ///
    /// - Throws: `CancellationError` if the verification is cancelled.
    func verdict(path: String) throws -> Verdict {
        var (losses, tracks): ([String], [AssetTrack]) = ([], [])
        return try problem(path: path, losses: &losses, tracks: &tracks).map { .defective($0) }
            ?? .complete(losses: losses, tracks: tracks)
    }

    private func problem(
        path: String, losses: inout [String], tracks: inout [AssetTrack]
    ) throws -> String? {
        // Counting packets suffices for copies; for encoded audio, the exact end requires decoding.
        let isCopy = plan.tracks.allSatisfy { if case .copy = $0.action { true } else { false } }
        let output = Asset(
            .file(path), timing: .precise, environment: environment, discovery: isCopy ? .counting : .decoding
        )
        let contents: AssetContents
        do {
            contents = try output.loadSynchronously()
        } catch {
            return
                "the finished output can't be read back: \((error as? InputError)?.explanation ?? "\(error)")"
        }
        let readCover = { (indices: [Int]) in
            try? CoverArt.read(path: path, tracks: indices, environment: environment.sources).first
        }
        if let problem = problem(of: contents, cover: readCover, tracks: &tracks) { return problem }
        for (index, planned) in plan.tracks.enumerated() {
            if let problem = problem(planned, tracks[index], reports[index], "output track \(index)") {
                return problem
            }
            if case .smartCut(let cut) = planned.action, let evidence = cutEvidence?[index],
                let problem = cutProblem(cut, planned, output, tracks[index], evidence)
            {
                return "output track \(index), smart cut: \(problem)"
            }
            if let problem = try decodingProblem(planned, tracks[index], of: output) {
                return "output track \(index): \(problem)"
            }
        }
        let readBack = ReadBackComparison(plan: plan, media: media, contents: contents, tracks: tracks)
        if let problem = readBack.problem { return problem }
        losses = readBack.losses
        return nil
    }

    /// Returns the reason why the file's contents as a whole differ from the plan; nil if they don't. `tracks` are then
    /// the tracks that the plan lists. `readCover` returns the cover of a file with covers at the given track indices.
    func problem(
        of contents: AssetContents, cover readCover: (_ indices: [Int]) -> CoverArt?,
        tracks: inout [AssetTrack]
    ) -> String? {
        if contents.missingBytes > 0 {
            return "the output is truncated: \(contents.missingBytes) bytes missing"
        }
        tracks = contents.tracks.filter { !$0.isAttachedPicture }
        let files = tracks.count { $0.mediaType == .attachment }
        guard files == media.attachments.count else {
            return "the output has \(files) attachments instead of \(media.attachments.count)"
        }
        tracks.removeAll { $0.mediaType == .attachment }
        // For mp4 and mov, libavformat adds a text track for chapters and a track for the timecode.
        let added = (media.chapters.isEmpty ? 0 : 1) + (plan.timecode == nil ? 0 : 1)
        while tracks.count > plan.tracks.count, tracks.count <= plan.tracks.count + added,
            tracks.last?.mediaType == .data
        {
            tracks.removeLast()
        }
        if let expected = plan.timecode, expected != contents.timecode {
            return "the output's timecode is \(contents.timecode ?? "none") instead of \(expected)"
        }
        let covers = contents.tracks.filter(\.isAttachedPicture).map(\.index)
        let plannedCovers = media.covers.count + (media.cover == nil ? 0 : 1)
        guard covers.count == plannedCovers else {
            return "the output has \(covers.count) covers instead of \(plannedCovers)"
        }
        if let cover = media.cover {
            guard readCover(covers).map(cover.image.isSame) == true else {
                return "the output's cover is not the image of \(cover.path)"
            }
        }
        guard contents.chapters.count == media.chapters.count else {
            return
                "the output has \(contents.chapters.count) chapter\(contents.chapters.count == 1 ? "" : "s") instead of \(media.chapters.count)"
        }
        guard tracks.count == plan.tracks.count else {
            return "the output has \(tracks.count) tracks instead of \(plan.tracks.count)"
        }
        return nil
    }

    /// Returns the reason why the beginning or the last GOP of a track can't be decoded; nil if it can be, or if the
    /// same part of a copied source can't be decoded either.
    private func decodingProblem(
        _ planned: TrackPlan, _ track: AssetTrack, of output: Asset
    ) throws -> String? {
        let check = DecodingCheck(output, track: track, isCancelled: isCancelled)
        let isEncoded = if case .encode = planned.action { true } else { false }
        let groups: [DecodingCheck.Group] =
            track.mediaType == .video ? [.first, .last(notAfter: track.timeRange.end)] : [.first]
        for group in groups {
            do {
                guard let problem = try check.problem(of: group, isStrict: isEncoded),
                    try isEncoded || isIntact(planned, group)
                else { continue }
                return "its \(group.name) can't be decoded: \(problem)"
            } catch let error as CancellationError {
                throw error
            } catch {
                return "its \(group.name) can't be read back: \(error)"
            }
        }
        return nil
    }

    /// Returns whether the corresponding group of the source can be decoded: damage of a copied source is not an error
    /// of the output.
    private func isIntact(_ planned: TrackPlan, _ group: DecodingCheck.Group) throws -> Bool {
        guard case .file(let path, _) = task.input.source else { return true }
        let source = Asset(.file(path), timing: .fast, environment: environment)
        guard
            let original = try source.loadSynchronously().tracks.first(where: {
                $0.index == planned.source.index
            })
        else { return true }
        let start = task.input.range?.start ?? .zero
        let same: DecodingCheck.Group =
            switch group {
            case .first: start > .zero ? .last(notAfter: start) : .first
            case .last(let time): .last(notAfter: start + time)
            }
        return try DecodingCheck(source, track: original, isCancelled: isCancelled)
            .problem(of: same, isStrict: false) == nil
    }

    private func cutProblem(
        _ cut: SmartCut, _ planned: TrackPlan, _ output: Asset, _ track: AssetTrack, _ evidence: CutEvidence
    ) -> String? {
        do {
            if case .composition(let composition, _) = task.input.source {
                let packets = CompositionPackets(composition, environment: environment)
                return try SmartCutVerifier(
                    cut: cut, of: packets, evidence: evidence, isCancelled: isCancelled
                ).problem(output: output, track: track)
            }
            guard case .file(let sourcePath, _) = task.input.source else { return nil }
            let source = Asset(.file(sourcePath), timing: .fast, environment: environment)
            guard
                let original = try source.loadSynchronously().tracks.first(where: {
                    $0.index == planned.source.index
                })
            else { return "the source's track no longer exists" }
            return try SmartCutVerifier(
                cut: cut, source: source, track: original, evidence: evidence, isCancelled: isCancelled
            )
            .problem(output: output, track: track)
        } catch {
            return "it can't be read back: \((error as? InputError)?.explanation ?? "\(error)")"
        }
    }

    /// Returns the reason why a track of the output differs from its plan or from the appended samples; nil if it
    /// doesn't. Begins with `name`.
    func problem(
        _ planned: TrackPlan, _ track: AssetTrack, _ report: TrackReport, _ name: String
    ) -> String? {
        guard track.mediaType == planned.source.mediaType else {
            return "\(name) is \(track.mediaType.rawValue)"
        }
        if stop != nil, report.writtenPackets == 0, track.mediaType != .subtitle {
            return "\(name) would be empty: no sample fits into the limit"
        }
        // The number of subtitle events can't be predicted.
        if track.mediaType == .subtitle { return nil }
        let source = SourceVerifier(damagePolicy: task.input.damagePolicy)
        if stop == nil, let problem = source.problem(planned, report) { return problem }
        switch planned.action {
        case .copy:
            if report.hiddenSamples > 0, ContainerType.named(plan.container)?.hasEditLists == false {
                return
                    "source track \(planned.source.index) has \(report.hiddenSamples) frames that an edit list hides; \(plan.container) has no edit lists; use `encode`, or mp4 or mov"
            }
            if report.hiddenSamples > 0, media.fragmentInterval == nil, let shown = track.sampleCount,
                shown != report.appendedSamples - report.hiddenSamples
            {
                return
                    "\(name) shows \(shown) frames instead of \(report.appendedSamples - report.hiddenSamples): the source's edit list hides the others"
            }
            // Containers may merge or split audio packets, but never video frames.
            guard
                track.mediaType == .audio || track.sampleCount == nil
                    || report.writtenPackets == report.appendedSamples
            else {
                return "\(name) has \(report.writtenPackets) of \(report.appendedSamples) packets"
            }
        case .subtitle, .read: break
        case .smartCut(let cut):
            if let count = track.sampleCount, count != cut.frameCount {
                return "\(name) has \(count) frames instead of \(cut.frameCount)"
            }
        case .encode(let encoding):
            guard track.format.codec == encoding.writtenCodec else {
                return "\(name) is \(track.format.codec) instead of \(encoding.writtenCodec)"
            }
            if track.mediaType == .video, let count = track.sampleCount, count != report.appendedSamples {
                return "\(name) has \(count) frames instead of \(report.appendedSamples)"
            }
            if track.mediaType == .audio { return audioProblem(encoding, track, report, name) }
        }
        return nil
    }

    /// Returns the deviation if the length of audio isn't exact to the sample; nil if it is, or if the container
    /// doesn't store an exact length.
    private func audioProblem(
        _ encoding: TrackPlan.Encoding, _ track: AssetTrack, _ report: TrackReport, _ name: String
    ) -> String? {
        guard track.editEnd != nil || track.format.parameters.traits.isPCM else { return nil }
        let unit = Rational(1, max(1, encoding.encoder.sampleRate))
        let samples = track.timeRange.duration.ticks(in: unit)
        let expected = Int64(report.appendedSamples + report.filledSamples)
        // If timestamps are coarser than samples, as in Matroska (milliseconds), both ends are rounded.
        let tick = track.timeBase.rescale(2, to: unit)
        if let stop {
            // Without an edit list, audio can only be shortened by whole packets.
            let late = (track.timeRange.end - stop).ticks(in: unit)
            let early = track.editEnd == nil ? Int64(encoding.encoder.sampleRate) / 10 : 1
            return (-early...max(1, tick)).contains(late)
                ? nil : "\(name) ends at \(track.timeRange.end) s instead of \(stop) s"
        }
        guard abs(samples - expected) <= max(1, tick) else {
            return "\(name) has \(samples) samples instead of \(expected)"
        }
        return nil
    }
}
