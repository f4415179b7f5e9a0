internal import LibAV

/// Producer of a smart cut's packets: for each part the encoded head, the copied packets, and the encoded tail. Times
/// of a single range are on the asset's time line, those of several ranges on the output's. The input of a part is
/// opened when the previous part begins.
///
/// Decoding times are the presentation times in ascending order, delayed by the largest reordering of any part, so
/// they are continuous.
final class SmartCutProducer: SampleProducer {
    private let cut: SmartCut
    private let evidence: CutEvidence
    private let input: (SmartCut.Part) throws -> CutInput
    private let codec: CutBitstream.Codec
    private let lengthSize: Int
    private let parameterSets: [[UInt8]]
    private let offsets: [Int64]

    private enum Stage {
        case head
        case middle
        case tail
        case done
    }
    private var index = 0
    private var stage = Stage.head
    private var hasBegun = false
    /// Whether the part's first frame was returned.
    private var hasShown = false
    private var head: CutEdge?
    private var tail: CutEdge?
    private var current: Opened?
    /// The next part; if opening it failed, the error is thrown when the part begins.
    private var ahead: Result<Opened, any Error>?
    private var packets: PacketSource?
    private var copied = 0
    /// Whether copied packets contain parameter sets.
    private var carriesSets: Bool
    /// Rewriter of H.264 parts that begin at a recovery point; nil if no part does.
    private var opening: AVCOpening?
    private var clock: DTSGenerator
    let droppedSamples = 0

    /// Creates a producer. `track` is one of the tracks whose packets are copied; all of them have the same format.
    init(
        cut: SmartCut, track: AssetTrack, evidence: CutEvidence,
        input: @escaping (SmartCut.Part) throws -> CutInput
    ) throws {
        self.cut = cut
        offsets = cut.offsets
        self.evidence = evidence
        self.input = input
        let parameters = track.format.parameters
        guard let bitstream = CutBitstream(parameters) else { throw SmartCut.Obstacle.headers }
        codec = bitstream.codec
        carriesSets = bitstream.framing == .startCodes
        let nominal = track.nominalFrameRate.map { $0.inverted.rescale(1, to: cut.tick) } ?? 1
        // Leading frames of an open GOP are re-encoded with the head.
        clock = DTSGenerator(delay: cut.reorderDelay, step: max(1, nominal), hasLeadingFrames: false)
        switch bitstream.codec {
        case .h264:
            let headers = try cut.headers(of: parameters)
            lengthSize = headers?.lengthSize ?? 4
            parameterSets = headers.map { $0.sequences + $0.pictures } ?? []
        case .hevc:
            let headers = HEVCHeaders(parameters.extradata)
            lengthSize = headers?.lengthSize ?? 4
            parameterSets = headers?.sets ?? []
        }
    }

    func next() throws -> SampleSupply { SampleSupply(try nextPacket()) }

    private func nextPacket() throws -> SampleBuffer? {
        do {
            while true {
                switch stage {
                case .head:
                    if !hasBegun { try begin() }
                    if let sample = try edgeSample(head) { return sample }
                    head = nil
                    stage = .middle
                case .middle:
                    if copied < part.copiedFrames { return try copiedSample() }
                    packets = nil
                    stage = .tail
                case .tail:
                    if let sample = try edgeSample(tail) { return sample }
                    tail = nil
                    index += 1
                    (hasBegun, copied) = (false, 0)
                    stage = index < cut.parts.count ? .head : .done
                case .done: return nil
                }
            }
        } catch {
            let named = failure(error)
            throw current?.input.mapError(named) ?? named
        }
    }

    private func failure(_ error: any Error) -> any Error {
        switch error {
        case let error as AVError: MediaError.reading(track: reference, at: nil, error)
        case let error as InputError: MediaError.input(error)
        default: error
        }
    }

    private var reference: TrackReference { current?.input.reference ?? .part(.video) }

    /// A part with its input and edges.
    private struct Opened {
        var input: CutInput
        var head: CutEdge?
        var tail: CutEdge?
    }

    /// Opens a part and the next one. Their edges are encoded concurrently, and the packets queued until they are
    /// needed.
    private func begin() throws {
        (hasBegun, hasShown) = (true, false)
        // Errors of this part must not be attributed to the previous one.
        current = nil
        let opened = try ahead?.get() ?? open(index)
        current = opened
        (head, tail) = (opened.head, opened.tail)
        tail?.prepare()
        ahead = nil
        guard index + 1 < cut.parts.count else { return }
        let next = Result { try open(index + 1) }
        if case .success(let opened) = next {
            opened.head?.prepare()
            opened.tail?.prepare()
        }
        ahead = next
    }

    private func open(_ index: Int) throws -> Opened {
        let part = cut.parts[index]
        let input = try input(part)
        do {
            return Opened(
                input: input,
                head: try edge(part.headFrames, of: input, index, from: part.start, to: part.copyStart),
                tail: try edge(part.tailFrames, of: input, index, from: part.copyEnd, to: part.end))
        } catch {
            throw input.mapError(failure(error))
        }
    }

    private var part: SmartCut.Part { cut.parts[index] }

    private func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks, timeBase: cut.tick) }

    // MARK: Edges

    /// Returns the edge for a section; nil if the section is empty.
    private func edge(
        _ count: Int, of input: CutInput, _ index: Int, from: Int64, to: Int64
    ) throws -> CutEdge? {
        guard count > 0 else { return nil }
        return try CutEdge(
            producer: try input.frames(TimeRange(start: time(from), end: time(to))),
            encoder: cut.encoder, count: count, evidence: evidence, part: index, tick: cut.tick,
            reference: input.reference)
    }

    /// Returns the next packet of an encoded edge; nil at its end.
    private func edgeSample(_ edge: CutEdge?) throws -> SampleBuffer? {
        guard let edge, let packet = try edge.next() else { return nil }
        let own = CutBitstream(codec: codec, framing: .startCodes)
        // If some packets contain parameter sets, libavcodec's `h264_mp4toannexb` doesn't add them to others.
        let needsSets = codec == .h264 && carriesSets && packet.isKey
        let prefix = needsSets ? parameterSets + edge.parameterSets : []
        let framed = try Packet.of(
            packet.withBytes { own.framed($0, lengthSize: lengthSize, prefix: prefix) })
        try framed.copyProperties(of: packet)
        return try sample(framed, pts: packet.pts, duration: packet.duration)
    }

    private func sample(_ packet: consuming Packet, pts: Int64, duration: Int64) throws -> SampleBuffer {
        // Several parts are presented in succession, from 0. A clip's first frame is presented from the clip's start,
        // even if its timestamp is later.
        let gap = hasShown || part.clip == nil ? 0 : max(0, pts - part.start)
        hasShown = true
        let shown = (cut.isJoined ? pts - part.start + offsets[index] : pts) - gap
        guard let dts = clock.time(of: shown) else {
            throw MediaError.damaged(track: reference, at: time(pts))
        }
        return SampleBuffer(
            packet: packet, pts: shown, dts: dts, duration: max(1, duration + gap), timeBase: cut.tick)
    }

    // MARK: Copied packets

    private func copiedSample() throws -> SampleBuffer {
        guard let source = current?.input.packets else {
            throw MediaError.internalError("the input has no packets")
        }
        if packets == nil { packets = try source.open(time(part.copyStart)) }
        let (timeBase, bitstream) = (source.track.timeBase, source.bitstream)
        let zero = source.timeZero.ticks(in: cut.tick)
        while let packet = try packets?.next() {
            guard packet.pts != noTimestamp else { continue }
            let pts = timeBase.rescale(packet.pts, to: cut.tick) - zero
            let access = packet.withBytes { bitstream.randomAccess($0) }
            // Leading frames of an open GOP are part of the head.
            if copied == 0, pts != part.copyStart || access == .none { continue }
            if pts < part.copyStart { continue }
            copied += 1
            if access != .none, !carriesSets { carriesSets = packet.withBytes(bitstream.hasSets) }
            var duration = timeBase.rescale(packet.duration, to: cut.tick)
            if pts == part.lastCopied {
                // The last packet lasts until the tail begins; at the end of the track, as long as in the source.
                duration = part.reachesTrackEnd ? min(duration, part.end - pts) : part.copyEnd - pts
            } else {
                duration = min(duration, part.copyEnd - pts)
            }
            let needsSets =
                codec == .hevc && access != .none && cut.hasEdges
                && !packet.withBytes(bitstream.hasSets)
            // The first copied frame isn't preceded by the same frames as in the source.
            let opensStream = copied == 1 && access == .open
            if copied == 1 {
                opening =
                    cut.opensGroups
                    ? bitstream.sets.map { AVCOpening($0, isOpen: opensStream, part: index) } : nil
            }
            guard needsSets || opensStream || opening != nil || bitstream.framing != .lengths(lengthSize)
            else {
                return try sample(packet, pts: pts, duration: duration)
            }
            let framed: Packet
            do {
                framed = try Packet.of(
                    packet.withBytes {
                        try bitstream.framed(
                            $0, lengthSize: lengthSize, prefix: needsSets ? parameterSets : [],
                            access: access, opensStream: opensStream, opening: &opening)
                    })
            } catch is AVCOpening.Unreadable {
                throw MediaError.damaged(track: reference, at: time(pts))
            }
            try framed.copyProperties(of: packet)
            if opensStream { framed.markKey() }
            return try sample(framed, pts: pts, duration: duration)
        }
        throw MediaError.truncated(
            track: reference, expected: time(part.copyEnd), actual: time(part.copyStart))
    }
}
