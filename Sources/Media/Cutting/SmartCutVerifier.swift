internal import Dispatch
internal import LibAV
internal import Locking

/// Verifies a finished smart cut before it is published: every timestamp, every copied packet, and the decoded frames
/// at the edges. Counts and times of a container may be correct even if frames are corrupt.
package struct SmartCutVerifier: Sendable {
    private let cut: SmartCut
    private let source: @Sendable (SmartCut.Part) throws -> Source
    private let evidence: CutEvidence
    private let isCancelled: @Sendable () -> Bool

    /// Source of a part's expected frames.
    private struct Source: Sendable {
        let asset: Asset
        let track: AssetTrack
        var settings = VideoOutputSettings()
        /// Frame duration of a composition; nil for a file.
        var unit: Rational?
    }

    /// Creates a verifier for a cut of one of the source's tracks. `evidence` contains the frames of its edges;
    /// `isCancelled` is called before every packet and frame.
    package init(
        cut: SmartCut, source: Asset, track: AssetTrack, evidence: CutEvidence = CutEvidence(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.evidence = evidence
        self.isCancelled = isCancelled
        self.cut = cut
        let only = Source(asset: source, track: track)
        self.source = { @Sendable _ in only }
    }

    /// Creates a verifier for a cut of a composition's clips.
    package init(
        cut: SmartCut, of packets: CompositionPackets, evidence: CutEvidence,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        let whole = Asset(.composition(packets.composition), environment: packets.environment)
        guard let canvas = packets.composition.canvas,
            let track = try whole.loadSynchronously().tracks.first(where: { $0.mediaType == .video })
        else { throw MediaError.internalError("the composition has no video") }
        let settings = VideoOutputSettings(
            generated: canvas, like: try packets.reference(of: cut).track.description)
        let generated = Source(
            asset: whole, track: track, settings: settings, unit: canvas.frameRate.inverted)
        self.evidence = evidence
        self.isCancelled = isCancelled
        self.cut = cut
        source = { @Sendable part in
            guard let index = part.clip else { return generated }
            let clip = try packets.clip(index)
            return Source(asset: clip.asset, track: clip.track)
        }
    }

    /// Returns a description of a problem; nil if the output is correct. `result` is the cut's track in the output.
    package func problem(output: Asset, track result: AssetTrack) throws -> String? {
        let offsets = cut.offsets
        let parts = try zip(cut.parts, offsets).enumerated().map { index, entry in
            let (part, offset) = entry
            let range = TimeRange(start: time(part.start), end: time(part.end))
            let source = try source(part)
            let scan =
                if let unit = source.unit {
                    CutScan(generated: range, every: unit, tick: cut.tick)
                } else {
                    try scan(source.asset, source.track, range, tick: cut.tick, part: index)
                }
            let next = index + 1 < offsets.count ? offsets[index + 1] : nil
            return CheckedPart(
                part: part, index: index, next: next, offset: offset, scan: scan, source: source)
        }
        let length = parts.map { $0.offset + $0.part.end - $0.part.start }.max() ?? 0
        let duration = max(result.timeRange.end, time(length))
        let outputScan = try scan(
            output, result,
            TimeRange(start: .zero, duration: duration + MediaTime(value: 1, timescale: 1)))
        // Timestamps of a transport stream can't be negative: all of them are shifted by the longest delay of its
        // encoders.
        let isMoved = try output.loadSynchronously().demuxer.hasArbitraryStart
        let origin = isMoved ? self.origin(parts, outputScan) : .zero
        if let problem = timeProblem(parts, outputScan, origin, clock: result.timeBase) { return problem }
        if let problem = packetProblem(parts, outputScan) { return problem }
        let seams = parts.flatMap { self.seams($0) }
        let problems = try DispatchQueue.concurrentMap(throwing: seams.count) { index in
            try frameProblem(seams[index], output: output, result: result, origin: origin)
        }
        return problems.lazy.compactMap(\.self).first
    }

    /// A part, and the source's packets around it.
    private struct CheckedPart {
        let part: SmartCut.Part
        let index: Int
        /// Position of the next part in the output, rounded if the parts have no common time base; nil for the last
        /// part.
        let next: Int64?
        /// Position of the part in the output.
        let offset: Int64
        let scan: CutScan
        let source: Source

        /// Presentation times of the part's frames in the output. A clip's first frame is presented from the clip's
        /// start, even if its timestamp is later.
        var outputTimes: [Int64] {
            var times = scan.shownTimes
            if part.clip != nil, let first = times.first, first > part.start { times[0] = part.start }
            return times.map { $0 - part.start + offset }
        }
    }

    private func scan(
        _ asset: Asset, _ track: AssetTrack, _ range: TimeRange, tick: Rational? = nil, part: Int = 0
    ) throws -> CutScan {
        guard case .file(let path) = asset.source else {
            throw MediaError.internalError("the source is not a media file")
        }
        return try CutScan.read(
            path: path, track: track, timeZero: try asset.loadSynchronously().timeZero, range: range,
            tick: tick, part: part, withDigests: true, environment: asset.environment.sources,
            isCancelled: isCancelled)
    }

    private func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: cut.tick) }

    /// Returns the delay of the output's first frame, if an encoder's delay can explain it (less than 0.25 s);
    /// otherwise 0.
    private func origin(_ parts: [CheckedPart], _ outputScan: CutScan) -> MediaTime {
        guard let first = outputScan.packets.map(\.pts).min(), let checked = parts.first,
            let expected = checked.outputTimes.first
        else { return .zero }
        let late = MediaTime(ticks: first, timeBase: outputScan.tick) - time(expected)
        return late > .zero && late < MediaTime(value: 1, timescale: 4) ? late : .zero
    }

    /// Returns a message about the first wrong timestamp; nil if all are correct. `clock` is the time base of the
    /// output.
    private func timeProblem(
        _ parts: [CheckedPart], _ outputScan: CutScan, _ origin: MediaTime, clock: Rational
    ) -> String? {
        let times = parts.flatMap(\.outputTimes)
        let found = outputScan.packets.map(\.pts).sorted()
        guard found.count == times.count else {
            return "it has \(found.count) frames instead of \(times.count)"
        }
        // A coarser time base than the source's, such as Matroska's, rounds times.
        let unit = outputScan.tick
        // The position of the first frame is rounded as well.
        let slack: Int64 = cut.tick.double < clock.double ? max(1, clock.rescale(1, to: unit)) : 0
        for (index, (actual, planned)) in zip(found, times).enumerated() {
            let expected = (time(planned) + origin).ticks(in: unit)
            guard abs(actual - expected) <= slack else {
                return
                    "frame \(index) is at \(MediaTime(ticks: actual, timeBase: unit)) s instead of \(time(planned)) s"
            }
        }
        return nil
    }

    private func packetProblem(_ parts: [CheckedPart], _ outputScan: CutScan) -> String? {
        var rest = outputScan.packets[...]
        for checked in parts {
            let (part, scanned) = (checked.part, checked.scan.packets)
            rest = rest.dropFirst(part.headFrames)
            if part.copiedFrames > 0 {
                guard
                    let first = scanned.firstIndex(where: { $0.pts == part.copyStart && $0.access != .none })
                else { return "the source's first copied frame is missing" }
                let packets = scanned[first...].lazy.filter { $0.pts >= part.copyStart }
                    .prefix(part.copiedFrames).map(\.digest)
                guard Array(packets) == rest.prefix(part.copiedFrames).map(\.digest) else {
                    return "copied packets differ from the source's"
                }
            }
            rest = rest.dropFirst(part.copiedFrames + part.tailFrames)
        }
        return nil
    }

    /// A section around an edge, on the source's time line.
    private struct Seam: Sendable {
        var from: Int64
        var until: Int64
        /// Presentation times of the section's frames.
        var times: [Int64]
        var part: SmartCut.Part
        var index: Int
        var source: Source
        /// Offset to subtract for times on the output's time line.
        var shift: Int64
        /// Position of the next part in the output; nil for the last part.
        var next: Int64?
        /// Whether another part precedes the section. The last frame of that part may stay on screen until the
        /// section's first.
        var hasPredecessor = false
        /// Whether decoding must start before the section, so that errors caused by earlier frames are detected.
        var isJoint = false
        /// Whether copied slices were rewritten.
        var isChanged = false
    }

    /// Number of copied frames checked after the head: wrong parameter sets corrupt the first ones.
    private static let framesAfterHead = 12

    /// Returns the sections to check: the head with the copied frames after it, and the last copied GOP with the tail.
    private func seams(_ checked: CheckedPart) -> [Seam] {
        let (scan, part) = (checked.scan, checked.part)
        let shown = scan.shownTimes
        func times(from: Int64, until: Int64) -> [Int64] { shown.filter { $0 >= from && $0 < until } }
        let shift = part.start - checked.offset
        let keys = scan.packets.filter { $0.isKey && $0.pts >= part.copyStart && $0.pts <= part.lastCopied }
            .map(\.pts).sorted()
        var seams: [Seam] = []
        // A part that begins with copied frames after another part is checked as well. If slices were rewritten, the
        // whole first GOP and the frames after it are checked.
        let isChanged =
            part.opensGroup && checked.source.track.format.codec == CutBitstream.Codec.h264.rawValue
        if part.headFrames > 0 || checked.offset > 0 || isChanged {
            // For generated frames of a composition, checking the first ones is sufficient.
            let generated = checked.source.unit == nil ? part.copyStart : part.start
            let group = isChanged ? keys.first { $0 > part.copyStart } ?? part.end : generated
            let copied = shown.filter { $0 >= group }.dropFirst(Self.framesAfterHead)
            let until = copied.first ?? part.end
            // Frames from an IDR frame on don't depend on earlier ones.
            let startsClean = part.headFrames == 0 && part.copiedFrames > 0 && !part.opensGroup
            seams.append(
                Seam(
                    from: part.start, until: until, times: times(from: part.start, until: until), part: part,
                    index: checked.index, source: checked.source, shift: shift,
                    next: checked.next, hasPredecessor: checked.offset > 0,
                    isJoint: checked.offset > 0 && !startsClean,
                    isChanged: isChanged))
        }
        if part.tailFrames > 0 {
            let from = keys.last ?? part.copyStart
            seams.append(
                Seam(
                    from: from, until: part.end, times: times(from: from, until: part.end), part: part,
                    index: checked.index, source: checked.source, shift: shift,
                    next: checked.next))
        }
        return seams
    }

    /// Maximum mean difference of encoded frames; a larger one indicates corruption rather than coding loss.
    private static let tolerance = 0.06

    private func frameProblem(
        _ seam: Seam, output: Asset, result: AssetTrack, origin: MediaTime
    ) throws -> String? {
        let original = try SourceFrames(self, seam)
        // Containers round times by at most half a tick.
        let isCoarse = cut.tick.double < result.timeBase.double
        let half = Rational(result.timeBase.num, result.timeBase.den * 2)
        let shift = isCoarse ? MediaTime(ticks: 1, timeBase: half) : .zero
        let (from, until) = (
            time(seam.from - seam.shift) + origin,
            time(min(seam.until - seam.shift, seam.next ?? .max)) + origin
        )
        // A first frame that is replaced within a tick is never displayed.
        let begins = seam.times.prefix(2).map { cut.tick.rescale($0 - seam.shift, to: result.timeBase) }
        let hasZeroDuration = isCoarse && begins.count == 2 && begins[0] == begins[1]
        // A joint is decoded from the frame before the boundary. Otherwise decoding starts at the first frame, which
        // may be later than the part's start.
        let first = seam.times.first.map { time($0 - seam.shift) + origin } ?? from
        let begin =
            seam.isJoint
            ? max(.zero, from - MediaTime(ticks: 1, timeBase: result.timeBase))
            : seam.hasPredecessor ? max(from, first) : from
        let generated = try decodedFrames(
            output, result, VideoOutputSettings(),
            TimeRange(start: begin > .zero && !seam.isJoint ? begin + shift : begin, end: until - shift))
        var (isFirst, skipsFirst) = (true, hasZeroDuration)
        while let expected = try original.next() {
            if skipsFirst {
                skipsFirst = false
                continue
            }
            let ticks = expected.time
            let at = time(ticks)
            let earliest = isFirst && seam.hasPredecessor ? time(ticks - seam.shift) + origin - shift : nil
            defer { isFirst = false }
            guard let actual = try Self.next(of: generated, from: earliest) else {
                return "the frame at \(at) s of the source can't be decoded"
            }
            guard
                case .some(.some(let difference)) = actual.withFrame({ expected.frame.difference(from: $0) })
            else {
                return "the frame at \(at) s of the source has another size or format"
            }
            let isCopied = ticks >= seam.part.copyStart && ticks <= seam.part.lastCopied
            if isCopied ? !difference.isNone : difference.mean > Self.tolerance {
                return "the frame at \(at) s of the source differs from the output's"
            }
        }
        return try generated.next() == nil ? nil : "there are additional frames at a seam"
    }

    /// The source's frames at an edge. Those that were encoded are kept from the cut; those that were copied are decoded
    /// again.
    private final class SourceFrames {
        private let tick: Rational
        /// Time of the first frame that is decoded again.
        private let first: Int64
        private var before: ArraySlice<CutEvidence.KeptFrame> = []
        private let samples: TrackSamples?
        private var after: ArraySlice<CutEvidence.KeptFrame> = []

        init(_ verifier: SmartCutVerifier, _ seam: Seam) throws {
            let part = seam.part
            tick = verifier.cut.tick
            var (from, until) = (seam.from, seam.until)
            let head = seam.times.filter { $0 < part.copyStart }
            if !head.isEmpty, let kept = verifier.evidence.frames(of: seam.index, at: head) {
                before = kept[...]
                from = part.copyStart
            }
            let tail = seam.times.filter { $0 >= part.copyEnd }
            if !tail.isEmpty, let kept = verifier.evidence.frames(of: seam.index, at: tail) {
                after = kept[...]
                until = max(from, part.copyEnd)
            }
            first = from
            // For correct frames of an open GOP, decoding of the source must start earlier.
            let earlier = seam.isChanged && from == part.copyStart && from > 0 ? from - 1 : from
            samples =
                from < until
                ? try verifier.decodedFrames(
                    seam.source.asset, seam.source.track, seam.source.settings,
                    TimeRange(start: verifier.time(earlier), end: verifier.time(until))) : nil
        }

        func next() throws -> CutEvidence.KeptFrame? {
            if let kept = before.popFirst() { return kept }
            while let sample = try samples?.next() {
                let time = sample.presentationTime.ticks(in: tick)
                if time < first { continue }
                guard let frame = sample.takeFrame() else { return nil }
                return CutEvidence.KeptFrame(frame, at: time)
            }
            return after.popFirst()
        }
    }

    /// Returns the next frame that isn't before `time`.
    private static func next(of samples: TrackSamples, from time: MediaTime?) throws -> SampleBuffer? {
        while let sample = try samples.next() {
            if let time, sample.presentationTime < time { continue }
            return sample
        }
        return nil
    }

    /// Starts decoding a range.
    private func decodedFrames(
        _ asset: Asset, _ track: AssetTrack, _ settings: VideoOutputSettings, _ range: TimeRange
    ) throws -> TrackSamples {
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(settings),
            extent: ReadingExtent(range),
            isCancelled: isCancelled)
        try samples.start()
        return samples
    }
}
