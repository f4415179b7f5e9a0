internal import Dispatch
internal import LibAV
internal import Locking

/// Looks at a finished smart cut before it is published: every time stamp, every copied packet, and the decoded
/// pictures at the seams. A container's figures alone stay perfect where the pictures have become garbage.
public struct SmartCutVerifier: Sendable {
    private let cut: SmartCut
    private let source: Asset
    private let track: AssetTrack
    private let isCancelled: @Sendable () -> Bool

    /// A verifier of a cut of one of the source's tracks; `isCancelled` is asked before every packet and picture.
    public init(
        cut: SmartCut, source: Asset, track: AssetTrack,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.isCancelled = isCancelled
        self.cut = cut
        self.source = source
        self.track = track
    }

    /// Nil where all is as it should be. `result` is the cut's track in the output.
    public func problem(output: Asset, track result: AssetTrack) throws -> String? {
        let range = TimeRange(start: time(cut.start), end: time(cut.end))
        let wanted = try scan(source, track, range)
        let duration = max(result.timeRange.end, range.duration)
        let got = try scan(
            output, result,
            TimeRange(start: .zero, duration: duration + MediaTime(value: 1, timescale: 1)))
        if let problem = timeProblem(wanted, got) { return problem }
        if let problem = packetProblem(wanted, got) { return problem }
        let seams = seams(wanted)
        let problems = Guarded<[Int: Result<String?, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: seams.count) { @Sendable index in
            let problem = Result { try pictureProblem(seams[index], output: output, result: result) }
            problems.withLock { $0[index] = problem }
        }
        return try problems.withLock { found in try seams.indices.compactMap { try found[$0]?.get() }.first }
    }

    private func scan(_ asset: Asset, _ track: AssetTrack, _ range: TimeRange) throws -> CutScan {
        guard case .file(let path) = asset.source else { throw MediaError.misuse("only files have packets") }
        return try CutScan.read(
            path: path, track: track, timeZero: try asset.loadSynchronously().timeZero, range: range,
            withDigests: true, isCancelled: isCancelled)
    }

    private func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: cut.tick) }

    private func timeProblem(_ wanted: CutScan, _ got: CutScan) -> String? {
        let times = wanted.shownTimes.map { $0 - cut.start }
        let found = got.pictures.map(\.pts).sorted()
        guard found.count == times.count else {
            return "it has \(found.count) pictures instead of \(times.count)"
        }
        // Coarser ticks than the source's, as Matroska's, round.
        let unit = got.tick
        let slack: Int64 = cut.tick.double < unit.double ? 1 : 0
        for (index, (have, want)) in zip(found, times).enumerated() {
            let expected = cut.tick.rescale(want, to: unit)
            guard abs(have - expected) <= slack else {
                return
                    "picture \(index) is at \(MediaTime(ticks: have, timeBase: unit)) s instead of \(time(want)) s"
            }
        }
        return nil
    }

    private func packetProblem(_ wanted: CutScan, _ got: CutScan) -> String? {
        guard let first = wanted.pictures.firstIndex(where: { $0.pts == cut.copyStart && $0.access != .none })
        else { return "the source's first copied picture is gone" }
        let packets = wanted.pictures[first...].lazy.filter { $0.pts >= cut.copyStart }
            .prefix(cut.copiedPictures).map(\.digest)
        let copied = got.pictures.dropFirst(cut.headPictures).prefix(cut.copiedPictures).map(\.digest)
        return Array(packets) == copied ? nil : "copied packets are not the source's"
    }

    /// A stretch around a seam on the source's time line.
    private struct Seam: Sendable {
        var from: Int64
        var until: Int64
    }

    /// Copied pictures behind the head that are looked at: where the parameter sets are wrong, the first ones show it.
    private static let picturesBehindHead = 12

    /// The head with what is copied behind it, and the last copied group with the tail.
    private func seams(_ scan: CutScan) -> [Seam] {
        let keys = scan.pictures.filter { $0.isKey && $0.pts >= cut.copyStart && $0.pts <= cut.lastCopied }
            .map(\.pts).sorted()
        var seams: [Seam] = []
        if cut.headPictures > 0 {
            let copied = scan.shownTimes.filter { $0 >= cut.copyStart }.dropFirst(Self.picturesBehindHead)
            seams.append(Seam(from: cut.start, until: copied.first ?? cut.end))
        }
        if cut.tailPictures > 0 { seams.append(Seam(from: keys.last ?? cut.copyStart, until: cut.end)) }
        return seams
    }

    /// Encoded pictures further from the source than this are garbage, not loss.
    private static let tolerance = 0.06

    private func pictureProblem(
        _ seam: Seam, output: Asset, result: AssetTrack
    ) throws -> String? {
        let original = try pictures(
            source, track, TimeRange(start: time(seam.from), end: time(seam.until)))
        // Where the container rounds, a little later is certainly past the rounded time, and a little earlier before it.
        let isCoarse = cut.tick.double < result.timeBase.double
        let shift = isCoarse ? MediaTime(ticks: 1, timeBase: result.timeBase) : .zero
        let (from, until) = (time(seam.from - cut.start), time(seam.until - cut.start))
        let made = try pictures(
            output, result,
            TimeRange(start: from > .zero ? from + shift : from, end: until - shift))
        while let wanted = try original.next() {
            let at = wanted.presentationTime
            let ticks = at.ticks(in: cut.tick)
            guard let have = try made.next() else {
                return "the picture at \(at) s of the source can't be decoded"
            }
            let found = wanted.withFrame { one in have.withFrame { two in one.difference(from: two) } }
            guard case .some(.some(.some(let difference))) = found else {
                return "the picture at \(at) s of the source has another size or format"
            }
            let isCopied = ticks >= cut.copyStart && ticks <= cut.lastCopied
            if isCopied ? !difference.isNone : difference.mean > Self.tolerance {
                return "the picture at \(at) s of the source is not what is shown there"
            }
        }
        return try made.next() == nil ? nil : "there are pictures too many at a seam"
    }

    /// Decoded pictures of a stretch.
    private func pictures(_ asset: Asset, _ track: AssetTrack, _ range: TimeRange) throws -> TrackSamples {
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(VideoOutputSettings()),
            extent: ReadingExtent(range),
            isCancelled: isCancelled)
        try samples.start()
        return samples
    }
}
