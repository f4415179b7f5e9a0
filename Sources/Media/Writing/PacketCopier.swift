internal import LibAV

/// Copies the packets of a track: moves their times to the output's time line, and processes them by the stages that the
/// codec and the container require.
final class PacketCopier: InputStage {
    let timeBase: Rational
    /// Parameters of the copied track.
    let parameters: CodecParameters
    private let source: CodecParameters
    private let mediaType: MediaType
    private let container: ContainerType
    private let isFragmented: Bool
    private let isSegmented: Bool
    private let reference: TrackReference
    /// Called when a value of `ending` changes, before the packet that changes it is written: the header of segments is
    /// written after the packets of the first one.
    private let record: (TrackEnding) -> Void
    /// Stages that process the packets, in order.
    private let stages: [any PacketStage]
    /// The stage of HEVC that finds parameter sets in packets.
    private let sampleEntry: HEVCSampleEntry?
    /// Whether samples are contiguous regardless of packet times: true for PCM in movies, and for any audio in files
    /// without timestamps.
    private let isGapless: Bool
    private var hasCopied = false
    private var hasNotedSets = false
    private var copiedEnd: Int64?
    private var delay: (delay: Int64, padding: Int64)?

    /// Creates a copier of packets with the given parameters and time base. With `isPart`, codec headers with properties
    /// of the whole stream are rewritten.
    init(
        _ source: CodecParameters, timeBase: Rational, _ mediaType: MediaType, in container: ContainerType,
        isFragmented: Bool, isSegmented: Bool, isPart: Bool, reference: TrackReference,
        record: @escaping (TrackEnding) -> Void
    ) throws {
        (self.source, self.timeBase, self.mediaType, self.container) = (
            source, timeBase, mediaType, container
        )
        (self.isFragmented, self.isSegmented, self.reference) = (isFragmented, isSegmented, reference)
        self.record = record
        isGapless = container.model.requiresContiguousSamples(of: source.traits)
        var stages: [any PacketStage] = []
        if source.traits.storesLengthInHeader, isPart || !FLACRenumbering.storesLength(source.extradata) {
            stages += FLACRenumbering(header: source.extradata).map { [$0] } ?? []
        }
        stages += try container.model.packetStages(source, reference)
        self.stages = stages
        sampleEntry = stages.lazy.compactMap { $0 as? HEVCSampleEntry }.first
        let parameters = try stages.reduce(source) { try $1.parameters(of: $0) }
        // For HE-AAC in a movie with the time base of the core codec, readers expect edit lists in the same unit;
        // with the output's rate, FFmpeg 5.1 doubles the number of hidden samples.
        let isOfCore =
            container.hasEditLists && parameters.traits.mayDoubleRate && timeBase.num == 1
            && timeBase.den.multipliedReportingOverflow(by: 2) == (parameters.sampleRate, false)
        self.parameters = isOfCore ? try parameters.with(sampleRate: timeBase.den) : parameters
    }

    var droppedFrames: Int { 0 }

    var ending: TrackEnding {
        TrackEnding(delay: delay, hasOtherParameterSets: sampleEntry?.hasOtherSets == true)
    }

    func check(_ sample: borrowing SampleBuffer, start: MediaTime, end: MediaTime?) throws(MediaError) {
        guard isHidden(sample), isFragmented || !container.hasEditLists else { return }
        let name = (isFragmented ? "fragmented " : "") + container.name
        if let end, sample.presentationTime >= end {
            throw MediaError.endsInsideGroup(track: reference, container: name, end: end)
        }
        let pts = sample.timeBase.rescale(sample.pts, to: timeBase) - start.ticks(in: timeBase)
        guard !hasCopied, start > .zero, pts < 0 else { return }
        throw MediaError.startsBetweenKeyFrames(
            track: reference, container: name, keyFrame: sample.presentationTime, start: start)
    }

    private func isHidden(_ sample: borrowing SampleBuffer) -> Bool {
        mediaType == .video && sample.withPacket { $0.isDiscarded } == true
    }

    func append(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        let offset = start.ticks(in: timeBase)
        let unit = sample.timeBase
        let (pts, dts) = (
            unit.rescale(sample.pts, to: timeBase) - offset, unit.rescale(sample.dts, to: timeBase) - offset
        )
        var duration = unit.rescale(sample.duration, to: timeBase)
        if let end = end.map({ ($0 - start).ticks(in: timeBase) }) {
            if pts >= end, !isHidden(sample) { return }
            if pts < end { duration = min(duration, end - pts) }
        }
        guard let packet = sample.takePacket() else { return }
        if isGapless { try checkContinuity(pts, duration) }
        if !hasCopied, let found = delayOfFirst(packet, pts) {
            if isSegmented {
                throw MediaError.invalidArgument(
                    "\(reference): copied audio with an encoder delay that begins after the session's start isn't supported in segments; encode it"
                )
            }
            delay = found
            record(ending)
        }
        hasCopied = true
        packet.pts = pts
        packet.dts = dts
        packet.duration = duration
        try push(packet, from: 0, into: sink)
    }

    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws {
        for index in stages.indices {
            try stages[index].finish { packet in try push(packet, from: index + 1, into: sink) }
        }
    }

    /// Throws if contiguous samples have a gap before a packet.
    private func checkContinuity(_ pts: Int64, _ duration: Int64) throws {
        // The source's time base may be coarser than a sample (Matroska's milliseconds), and a range may begin
        // within a packet.
        let slack = Rational(1, 100).rescale(1, to: timeBase)
        let end = copiedEnd ?? (container.model.requiresContiguousSamples ? 0 : pts)
        if pts - end > (copiedEnd == nil ? max(slack, duration) : slack) {
            throw MediaError.gap(
                track: reference, container: container.name, from: MediaTime(ticks: end, timeBase: timeBase),
                to: MediaTime(ticks: pts, timeBase: timeBase))
        }
        copiedEnd = pts + duration
    }

    /// Returns the encoder delay of the first packet of a track that begins late; nil without one. For a track that
    /// begins at zero, the muxer hides the delay.
    private func delayOfFirst(_ packet: borrowing Packet, _ pts: Int64) -> (delay: Int64, padding: Int64)? {
        guard pts > 0 else { return nil }
        let skipped = packet.skippedSamples
        // Matroska stores the delay as DiscardPadding that covers the entire packet.
        let isHidden = source.frameSize > 0 && skipped.end >= source.frameSize
        // Decoders of Opus read the delay from the header, and packets aren't marked.
        let start =
            source.traits.hasDelayInHeader ? max(skipped.start, source.initialPadding) : skipped.start
        let padding = Rational(1, max(1, source.sampleRate))
            .rescale(Int64(isHidden ? skipped.end : start), to: timeBase)
        return padding > 0 ? (pts + padding, padding) : nil
    }

    private func push(
        _ packet: consuming Packet, from index: Int, into sink: (consuming Packet) throws(AVError) -> Void
    ) throws {
        guard index < stages.count else {
            if !hasNotedSets, sampleEntry?.hasOtherSets == true {
                hasNotedSets = true
                record(ending)
            }
            return try sink(packet)
        }
        try stages[index].push(packet) { packet in try push(packet, from: index + 1, into: sink) }
    }
}
