internal import Diagnostics
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The search of `crf` for a target quality, and the measurement of finished files.
extension JobWork {
    private func targets(of input: Int) -> [(output: Int, quality: TargetQuality, track: Int)] {
        plan.outputs.indices.compactMap { index in
            guard plan.outputs[index].input == input, let found = plan.outputs[index].targetQuality else {
                return nil
            }
            return (index, found.quality, found.track)
        }
    }

    /// Encodes the windows of each output with a target quality until the search of `crf` ends. Throws if the target can't be
    /// reached.
    func search(_ input: Int) async throws {
        guard let scratch = order.scratch else {
            throw MediaError.internalError("probes without a scratch file")
        }
        let targets = targets(of: input)
        running.withLock { $0.rounds = (0, targets.count * QualityFit.maximumProbes) }
        for (number, target) in targets.enumerated() {
            let quality = try nearKeyFrames(target.quality, target.output, track: target.track)
            var fit = QualityFit(quality)
            while let next = fit.nextProbe {
                let windows = next.isPartial ? quality.fewWindows : quality.windows
                let value = try await probe(target.output, crf: next.crf, of: windows, in: scratch)
                fit.addProbe(QualityFit.Attempt(crf: next.crf, value: value, isPartial: next.isPartial))
                endRound()
            }
            running.withLock { $0.rounds.ended = (number + 1) * QualityFit.maximumProbes }
            if fit.isUnreachable, let nearest = fit.probes.map(\.value).max() {
                throw JobFailure(
                    plan.outputs[target.output].prefixed(
                        "`quality` of \(target.quality.description) can't be reached; the nearest value is \(target.quality.metric.text(nearest)) with crf \(ThousandthsText.text(target.quality.lowest)) (\(fit.text))"
                    ), at: target.quality.location, rule: .targetQuality)
            }
            qualityFits[target.output] = fit
        }
        scratch.empty()
    }

    /// Returns a target whose windows start near keyframes of the source where possible, so that few frames are decoded in
    /// addition. Frames of a converted rate aren't at the times of the source's.
    private func nearKeyFrames(
        _ quality: TargetQuality, _ output: Int, track: Int
    ) throws -> TargetQuality {
        let input = plan.inputs[plan.outputs[output].input]
        let planned = plan.outputs[output].tracks[track]
        guard !quality.windows.isEmpty, input.package == nil, planned.encoding?.video?.frameRate == nil,
            case .file(let path) = input.assetSource
        else { return quality }
        let contents = try Asset(input.assetSource, timing: .fast, environment: environment)
            .loadSynchronously()
        let keyFrames = try contents.keyFrameTimes(
            before: quality.windows.map(\.start), of: SessionBuilder.track(of: planned, in: contents),
            path: path,
            environment: environment.sources)
        var moved = quality
        moved.windows = TargetQuality.windows(
            quality.windows, near: keyFrames, in: input.extent.ranges)
        return moved
    }

    private func endRound() {
        running.withLock { running in
            running.session = nil
            running.rounds.ended += 1
        }
    }

    /// Encodes windows of an output to the scratch file and returns their similarity to the encoder's input.
    private func probe(
        _ output: Int, crf: Int, of windows: [TimeRange], in scratch: TemporaryFile
    ) async throws -> Double {
        guard let planned = plan.probe(of: output, crf: crf, in: windows) else {
            throw MediaError.internalError("a probe without a target quality")
        }
        scratch.empty()
        var builder = SessionBuilder(
            plan: planned, input: planned.outputs[output].input, environment: environment,
            sharesProcessors: order.sharesProcessors)
        builder.selected = [output]
        var files = order.outputs
        files[output] = scratch
        let session = try builder.build(files: files, loudness: [:], passes: [:]).session
        try await run(session, writing: builder)
        let settling = TargetQuality.settling(in: windows)
        return try measure(planned, output, track: 0, in: scratch, ignoring: settling)
    }

    /// Returns the similarity of a video track of a file to the frames that its encoder received. Frames in `ignored` aren't
    /// compared, unless there are no others.
    private func measure(
        _ planned: JobPlan, _ index: Int, track: Int, in file: TemporaryFile,
        ignoring ignored: [TimeRange] = []
    ) throws -> Double {
        let tracks = planned.outputs[index].tracks
        let input = planned.inputs[planned.outputs[index].input]
        guard let encoding = tracks[track].encoding, let target = encoding.targetQuality else {
            throw MediaError.internalError("a measurement without a target quality")
        }
        let source = Asset(input.assetSource, timing: .fast, environment: environment)
        let original = try SessionBuilder.track(of: tracks[track], in: source.loadSynchronously())
        let finished = Asset(.file(file.reopenPath), timing: .fast, environment: environment)
        let position = tracks[..<track].count { $0.source.mediaType == .video }
        let videos = try finished.loadSynchronously().tracks.filter { $0.mediaType == .video }
        guard videos.indices.contains(position) else {
            throw MediaError.internalError("the output has no video track")
        }
        let meter = try SimilarityMeter(
            source: source, sourceTrack: original, settings: encoding.video ?? VideoOutputSettings(),
            burnedSubtitles: encoding.burnedSubtitles, extent: input.extent, output: finished,
            track: videos[position], isCancelled: isCancelled)
        let outcome = try meter.measure(target.metric, pool: target.pool, ignoring: ignored)
        if isCancelled() { throw CancellationError() }
        switch outcome {
        case .value(let value):
            guard !value.isNaN else { throw MediaError.internalError("the similarity is not a number") }
            return max(0, min(value, target.metric.identity))
        case .counts(let source, let output) where source == output && !ignored.isEmpty:
            return try measure(planned, index, track: track, in: file)
        case .counts(let source, let output):
            throw JobFailure(
                "`quality` can't be measured: the encoder received \(counted(source, "frame")), the file has \(output)",
                at: target.location, rule: .targetQuality)
        }
    }

    /// Measures the outputs with a target quality, and encodes those that missed it again. Throws if an output is still below
    /// its target.
    func refine(_ input: Int) async throws {
        var waiting = targets(of: input)
        running.withLock { $0.rounds = (0, QualityFit.maximumEncodes) }
        while true {
            for target in waiting {
                guard let crf = qualityFits[target.output]?.nextEncode else { continue }
                let value = try measure(
                    plan, target.output, track: target.track, in: order.outputs[target.output])
                qualityFits[target.output]?.addEncode(QualityFit.Attempt(crf: crf, value: value))
            }
            endRound()
            waiting = waiting.filter { qualityFits[$0.output]?.nextEncode != nil }
            if waiting.isEmpty { break }
            var crfs: [Int: Int] = [:]
            for target in waiting {
                crfs[target.output] = qualityFits[target.output]?.nextEncode
                order.outputs[target.output].empty()
            }
            var builder = SessionBuilder(
                plan: plan.with(crfs: crfs), input: input, environment: environment,
                sharesProcessors: order.sharesProcessors)
            builder.selected = Set(crfs.keys)
            try await write(builder)
        }
        for target in targets(of: input) {
            guard let fit = qualityFits[target.output], fit.isInsufficient, let last = fit.encodes.last else {
                continue
            }
            throw JobFailure(
                plan.outputs[target.output].prefixed(
                    "`quality` of \(target.quality.description) is not reached: the file has \(target.quality.metric.text(last.value)) after \(counted(fit.encodes.count, "encode")) (\(fit.text))"
                ), at: target.quality.location, rule: .targetQuality)
        }
    }
}
