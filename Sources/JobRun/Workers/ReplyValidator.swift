internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing
internal import Streaming

/// The validation of a worker's replies: a hostile source may have compromised the worker.
enum ReplyValidator {
    private static let counts = 0...(1 << 50)

    /// Returns whether all values of a probe response are in the ranges that planning accepts.
    static func isValid(_ response: ProbeResponse) -> Bool {
        switch response {
        case .description(let description): isValid(description)
        case .presentationTimes: true
        case .order(.unordered(let time)), .order(.hiddenBetween(let time)):
            (minTime...maxTime).contains(time)
        case .order(nil), .audioFormat: true
        case .keyFrames(let times):
            times.count <= 100_000 && times.allSatisfy { (.zero...maxTime).contains($0) }
                && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
        case .frames(let frames):
            frames.positions.count <= 100_000 && (0...1 << 50).contains(frames.count)
                && frames.positions.allSatisfy { position in
                    guard let position else { return true }
                    return (.zero...maxTime).contains(position.start)
                        && position.end.map { (position.start...maxTime).contains($0) } != false
                }
        case .presence: true
        case .byteCount(let count): counts.contains(Int(count))
        case .activeArea(let rectangle):
            rectangle.map {
                (0...1 << 20).contains($0.x) && (0...1 << 20).contains($0.y)
                    && (1...1 << 20).contains($0.width) && (1...1 << 20).contains($0.height)
            } ?? true
        case .loudness(let blocks): blocks?.isValid ?? true
        case .cover(let image): image.isValid
        case .fileContents(let contents): contents.isValid(upTo: SubtitleFilePlan.maxBytes)
        case .cadence(let cadence):
            cadence.map { $0.frameRate.isPositive && (0...1 << 50).contains($0.omittedFrames) } ?? true
        case .cut(let possibilities): possibilities?.smart.map(isValid) ?? true
        case .verdict(.outputs(let format)):
            (1...1 << 20).contains(format.width) && (1...1 << 20).contains(format.height)
        case .verdict(.valid): true
        case .verdict(.ignored(let other)):
            other.actual.utf8.count <= 256
                && other.bitRate.map { (1...1 << 40).contains($0) } != false
        case .verdict(.problem(let text)): text.utf8.count <= 1 << 16
        }
    }

    private static func isValid(_ description: SourceDescription) -> Bool {
        description.tracks.count <= 10_000 && (.zero...maxTime).contains(description.duration)
            && counts.contains(Int(description.missingBytes)) && counts.contains(Int(description.fileSize))
            && (minTime...maxTime).contains(description.timeZero)
            && description.metadata.count <= 100_000 && description.chapters.count <= 100_000
            && description.chapters.allSatisfy {
                (minTime...maxTime).contains($0.timeRange.start)
                    && (minTime...maxTime).contains($0.timeRange.duration)
            }
            && description.tracks.allSatisfy { track in
                (0..<1 << 20).contains(track.index) && isValid(track.timeRange)
                    && (0...1 << 20).contains(track.width) && (0...1 << 20).contains(track.height)
                    && track.sampleRate >= 0 && track.timeBase.isPositive
                    && counts.contains(track.sampleCount ?? 0) && counts.contains(Int(track.bitRate))
                    && track.frameRate?.isPositive != false && track.pixelAspectRatio?.isPositive != false
                    && (0...Int(UInt16.max)).contains(track.channelLayout?.channels ?? 0)
                    && (track.cleanAperture.map { $0.width.isPositive && $0.height.isPositive } ?? true)
                    && track.tags.count <= 100_000 && track.sideData.count <= 10_000
            }
    }

    /// Maximum time in a source: 3000 years.
    private static let maxTime = MediaTime.longest
    private static let minTime = MediaTime.zero - maxTime

    private static func isValid(_ range: TimeRange) -> Bool {
        (.zero...maxTime).contains(range.start) && (.zero...maxTime).contains(range.duration)
    }

    private static func isValid(_ cut: SmartCut) -> Bool {
        cut.tick.isPositive && cut.parts.count <= 10_000
            && cut.parts.allSatisfy { part in
                [part.headFrames, part.copiedFrames, part.tailFrames, part.copiedGroups]
                    .allSatisfy { (0...1 << 40).contains($0) }
                    && [part.start, part.end, part.position ?? 0].allSatisfy {
                        (-1 << 50...1 << 50).contains($0)
                    }
            }
    }

    /// Returns the findings if they are valid for outputs with the given numbers of tracks; nil otherwise. An
    /// unrequested preview is dropped, and a requested one is limited in size.
    static func validated(_ outcome: WorkOutcome, tracks: [Int], makesPreview: Bool) -> WorkOutcome? {
        guard case .finished(var findings) = outcome else { return outcome }
        guard findings.outputs.count == tracks.count else { return nil }
        for (index, count) in tracks.enumerated() {
            let output = findings.outputs[index]
            guard isValid(output, tracks: count) else { return nil }
            findings.outputs[index].losses = output.losses.prefix(100).map { String($0.prefix(300)) }
            findings.outputs[index].isFromCache = false
            findings.outputs[index].preview = makesPreview ? output.preview?.sizeLimited : nil
        }
        return .finished(findings)
    }

    /// Times and sizes are validated again with the package (`StreamingPackage.validate`).
    private static func isValid(_ rendition: StreamingRendition) -> Bool {
        rendition.segments.count <= 100_000
            && rendition.segments.allSatisfy {
                (.zero...maxTime).contains($0.start) && (.zero...maxTime).contains($0.duration)
                    && (1...1 << 40).contains($0.size)
            }
    }

    private static func isValid(_ loudness: OutputResult.Normalization, tracks: Int) -> Bool {
        (0..<tracks).contains(loudness.track)
            && [loudness.before, loudness.after].allSatisfy { value in
                [value.integrated, value.truePeak].allSatisfy { !$0.isNaN && abs($0) < 1000 || $0.isInfinite }
            }
    }

    private static func isValid(_ findings: OutputFindings, tracks: Int) -> Bool {
        guard findings.tracks.count == tracks else { return false }
        for report in findings.tracks {
            let numbers = [
                report.appendedSamples, report.filledSamples, report.writtenPackets, report.droppedSamples,
                report.damage.skipped, report.damage.leading, report.hiddenSamples, report.droppedCaptions,
                report.chunks?.all ?? 0, report.chunks?.reused ?? 0,
            ]
            guard numbers.allSatisfy(counts.contains),
                [report.end, report.formatChange, report.interlacedFrom].allSatisfy({ time in
                    time.map { (minTime...maxTime).contains($0) } ?? true
                })
            else { return false }
        }
        guard findings.sizeAttempts.count <= SizeFit.maximumAttempts,
            findings.sizeAttempts.allSatisfy({
                (1...1 << 40).contains($0.bitRate) && (0...1 << 50).contains($0.size)
            }), findings.loudness.count <= tracks,
            findings.loudness.allSatisfy({ isValid($0, tracks: tracks) })
        else { return false }
        guard findings.quality?.isValid != false,
            findings.expectations.allSatisfy({ $0.similarity?.isValid != false })
        else { return false }
        guard findings.imageTimes.allSatisfy({ (minTime...maxTime).contains($0) }),
            findings.parts.count <= 100_000,
            findings.rendition.map(isValid) ?? true,
            findings.parts.allSatisfy({
                (0...1 << 50).contains($0.offset) && (1...1 << 40).contains($0.length)
            })
        else { return false }
        return findings.stop.map { $0 > .zero } ?? true
    }
}

extension JobPreview {
    /// The preview with all parts dropped that exceed the sizes a correct worker produces.
    var sizeLimited: JobPreview {
        func small(_ thumbnail: Thumbnail?) -> Thumbnail? {
            thumbnail.flatMap {
                $0.jpeg.count <= 1 << 16 && (1...1024).contains($0.width) && (1...1024).contains($0.height)
                    ? $0 : nil
            }
        }
        var preview = self
        preview.pairs = pairs.prefix(3).map { Pair(source: small($0.source), output: small($0.output)) }
        if let waveform, waveform.peaks.count > 240 || waveform.levels.count > 240 { preview.waveform = nil }
        if let bitRate, bitRate.bitRates.count > 200 { preview.bitRate = nil }
        preview.problems = problems.prefix(10).map { String($0.prefix(300)) }
        return preview
    }
}
