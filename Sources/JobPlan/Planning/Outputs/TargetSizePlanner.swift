internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of `target_size`: computes the bit rate of the video track from the duration, the other tracks and the
/// container's overhead.
struct TargetSizePlanner {
    /// Tracks of the output, one of which has the target size.
    let tracks: [TrackPlan]
    let container: ContainerType
    let source: InputPlan.Source
    /// Size of the tags and covers that the plan knows, in bytes.
    let fixedBytes: Int64
    let fragmentInterval: MediaTime?
    let prober: any SourceProber
    /// Sizes of copied tracks that were measured. All packets are read for each.
    let measured: MeasuredValues
    /// Location of the source in the job file.
    let sourceLocation: SourceRange
    var reasons = Reasons()

    /// Minimum bits per pixel and frame: 104 kb/s at 1920x1080 and 25 frames a second.
    static let minimumBitsPerPixel = 0.002
    /// Bits per pixel of uncompressed 4:2:0 frames of 8 bits, above which no rate is of use.
    static let maximumBitsPerPixel = 12.0
    /// Samples in a packet of AAC; other codecs have a similar number.
    private static let samplesOfPacket = 1024
    /// Minimum bit rate in bits per second; encoders count in kilobits.
    static let minimumRate = 8000.0

    /// Tracks with their bit rates.
    struct Fitted {
        let tracks: [TrackPlan]
        /// Predicted size of the file in bytes.
        let size: Int64
        /// Bits per pixel and frame of the video.
        let bitsPerPixel: Double
    }

    /// Returns the tracks with the bit rate of the video; nil if no track has a target size, or after an error.
    consuming func decide() -> Decision<Fitted> {
        guard let first = tracks.firstIndex(where: { $0.encoding?.targetSize != nil }),
            let target = tracks[first].encoding?.targetSize
        else { return Decision(nil) }
        let others = tracks.indices.filter { $0 != first }.compactMap { predicted(tracks[$0], target) }
        guard !reasons.hasErrors else { return Decision(nil, reasons) }
        return Decision(planned(first, target, beside: others), reasons)
    }

    private mutating func planned(
        _ index: Int, _ target: TargetSize, beside others: [PredictedTrack]
    ) -> Fitted? {
        guard case .encode(var encoding) = tracks[index].action else { return nil }
        let track = tracks[index]
        let seconds = track.expected.timeRange.duration.seconds
        guard seconds > 0 else {
            reasons.error(
                .targetSize, "`target_size` requires a source with a known duration", at: target.location)
            return nil
        }
        let encoder = encoding.encoder
        let rate = (encoder.frameRate ?? track.source.frameRate)?.double ?? 25
        let frames = track.expected.frames.map(Double.init) ?? seconds * rate
        let pixels = Double(encoder.width) * Double(encoder.height)
        let lowest = max(Self.minimumRate, pixels * frames / seconds * Self.minimumBitsPerPixel)
        var highest = max(lowest, pixels * frames / seconds * Self.maximumBitsPerPixel)
        if let bound = encoder.model?.rate.maximumBitRate { highest = min(highest, Double(bound)) }
        if let bound = encoder.maxBitRate { highest = min(highest, Double(bound)) }
        highest = min(highest, 2e9)

        func bytes(at rate: Double) -> Double {
            let video = PredictedTrack(mediaType: .video, packets: frames, bytes: rate * seconds / 8)
            let all = [video] + others
            let fragments = fragmentInterval.map { seconds / max(0.001, $0.seconds) } ?? 0
            return all.reduce(Double(fixedBytes)) { $0 + $1.bytes }
                + container.overhead(of: all, seconds: seconds, fragments: fragments)
        }
        // The size is linear in the rate.
        let slope = (bytes(at: 2e6) - bytes(at: 1e6)) / 1e6
        let best = (Double(target.aim) - bytes(at: 0)) / slope
        guard best >= lowest else {
            refuse(target, smallest: bytes(at: lowest), lowest, beside: bytes(at: 0))
            return nil
        }
        let chosen = Int64(min(best, highest))
        encoding.take(bitRate: chosen)
        encoding.targetSize?.minimumRate = Int64(lowest)
        encoding.targetSize?.maximumRate = Int64(highest)
        note(chosen, target, others: others.reduce(0) { $0 + $1.bytes }, whole: bytes(at: Double(chosen)))
        if best > highest {
            reasons.note(
                "`target_size` exceeds what the maximum bit rate of \(chosen / 1000) kb/s can fill: about \(PlanText.bytes(Int64(bytes(at: highest))))"
            )
        }
        var result = tracks
        result[index].action = .encode(encoding)
        return Fitted(
            tracks: result, size: Int64(bytes(at: Double(chosen))),
            bitsPerPixel: Double(chosen) * seconds / (pixels * frames))
    }

    private mutating func note(_ rate: Int64, _ target: TargetSize, others: Double, whole: Double) {
        let video = whole - others - Double(fixedBytes)
        reasons.note(
            "`target_size` \(PlanText.bytes(target.bytes)): \(rate / 1000) kb/s of video, aimed at \(PlanText.bytes(target.aim)); video and container \(PlanText.bytes(Int64(video))), other tracks \(PlanText.bytes(Int64(others)))"
        )
    }

    private mutating func refuse(_ target: TargetSize, smallest: Double, _ lowest: Double, beside: Double) {
        // The aim is 98.5 % of the size.
        let kilobytes = Int64((smallest / 0.985 / 1000).rounded(.up)) + 1
        reasons.error(
            .targetSize,
            "`target_size` of \(PlanText.bytes(target.bytes)) can't be reached; the smallest size is \(kilobytes)kB",
            at: target.location,
            help:
                "video of its size and frame rate requires \(Int64(lowest / 1000)) kb/s; other tracks and the container take \(PlanText.bytes(Int64(beside)))"
        )
    }

    /// Returns the prediction of a track beside the video; nil after an error.
    private mutating func predicted(_ track: TrackPlan, _ target: TargetSize) -> PredictedTrack? {
        let seconds = track.expected.timeRange.duration.seconds
        guard let bytes = bytes(of: track, seconds) else {
            reasons.error(
                .targetSize,
                "`target_size` requires the size of \(track.label), which isn't known in advance",
                at: target.location, notes: [Diagnostic.Note("the track is here", at: track.location)],
                help: "`encode` it with a `bitrate`")
            return nil
        }
        return PredictedTrack(
            mediaType: track.source.mediaType, packets: packets(of: track, seconds), bytes: bytes)
    }

    private func packets(of track: TrackPlan, _ seconds: Double) -> Double {
        switch track.source.mediaType {
        case .audio:
            let rate = track.encoding?.encoder.sampleRate ?? track.source.sampleRate
            return seconds * Double(max(8000, rate)) / Double(Self.samplesOfPacket)
        case .video: return seconds * (track.source.frameRate?.double ?? 25)
        default: return seconds
        }
    }

    /// Returns the size of a track in bytes: of encoded audio by its bit rate, of copied packets as measured; nil if it
    /// isn't known.
    private mutating func bytes(of track: TrackPlan, _ seconds: Double) -> Double? {
        guard case .copy = track.action else {
            return SizeEstimate.bytes(of: [track]).map { Double($0) }
        }
        if track.source.mediaType == .subtitle { return SizeEstimate.bytes(of: [track]).map { Double($0) } }
        let declared = track.source.bitRate > 0 ? Double(track.source.bitRate) * seconds / 8 : nil
        // The job is planned again when its source exists.
        if case .job = source {
            return declared ?? 8000 * Double(track.source.channelLayout?.channels ?? 2) * seconds
        }
        guard case .file(let path, _) = source, !SourceLocation.isRemote(path) else { return declared }
        do throws(SourceProblem) {
            let whole = Double(
                try measured.value(of: track.source.index) { index throws(SourceProblem) in
                    try prober.byteCount(index, of: path)
                })
            // Of a range, the average is taken; the run measures the packets.
            let duration = track.source.timeRange.duration.seconds
            return duration > 0 ? whole * min(1, seconds / duration) : whole
        } catch {
            reasons.error(.sourceUnreadable, "\(path): \(error)", at: sourceLocation)
            return 0
        }
    }
}
