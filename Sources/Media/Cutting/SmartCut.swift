package import LibAV

/// Frame-accurate cut of ranges of a video track with as many copied packets as possible, as part of a plan. In each
/// range, the head before the first random-access point and the tail after the last clean end are re-encoded; packets
/// between them are copied. Times are in units of `tick`.
public struct SmartCut: Hashable, Codable, Sendable {
    /// One range of the cut.
    package struct Part: Hashable, Codable, Sendable {
        /// Start of the range.
        package var start: Int64
        /// End of the range.
        package var end: Int64
        /// Time of the first copied frame; `end` if none is copied.
        package var copyStart: Int64
        /// Time of the first frame after the copied ones; `end` if there is none.
        package var copyEnd: Int64
        /// Time of the copied frame that is presented last.
        package var lastCopied: Int64
        /// Whether the copied frames extend to the end of the track.
        package var reachesTrackEnd: Bool
        /// Whether the copied frames start with an open GOP, whose leading frames are dropped.
        package var opensGroup: Bool
        /// Number of frames re-encoded before the copied ones.
        package var headFrames: Int
        /// Number of copied frames.
        package var copiedFrames: Int
        /// Number of frames re-encoded after the copied ones.
        package var tailFrames: Int
        /// Number of GOPs that are copied at least in part.
        package var copiedGroups: Int
        /// Index of the composition's clip that is cut; nil for a cut of a single asset, and for encoded frames outside
        /// of clips.
        package var clip: Int?
        /// Position of the part in the output; nil if it follows the previous part.
        package var position: Int64?
    }

    /// Time base of all times, which are on the asset's time line.
    package var tick: Rational
    /// The ranges in output order.
    package var parts: [Part]
    /// Maximum number of frames by which decoding order is ahead of presentation order.
    package var reorderDelay: Int
    /// Configuration of the encoder for the edges.
    package var encoder: EncoderConfiguration

    /// Plans the cut. `encoder` encodes the edges; nil for the source's codec and profile at near-lossless quality.
    /// `clipTick`: time base of a composition's cut that includes this one, which may then copy no packets; nil for a
    /// cut of a single asset.
    package static func plan(
        _ scans: [CutScan], track: AssetTrack, encoder: EncoderConfiguration? = nil, clipTick: Rational? = nil
    ) throws(Obstacle) -> SmartCut {
        let parameters = track.format.parameters
        guard let codec = CutBitstream.Codec(rawValue: track.format.codec) else {
            throw .codec(track.format.codec)
        }
        guard CutBitstream(parameters) != nil else { throw .headers }
        if track.sideData.contains(where: { $0.kind == .dolbyVision }) { throw .dolbyVision }
        guard track.edits.filter({ $0.mediaStart != nil }).count <= 1 else { throw .edits }
        guard track.lostTimesShift == nil else { throw .lostTimes }
        guard let tick = clipTick ?? scans.first?.tick else { throw .nothingToCopy }
        let edges =
            if let encoder { encoder } else { try edgeEncoder(codec, track: track, tick: tick) }
        var cut = SmartCut(tick: tick, parts: [], reorderDelay: 0, encoder: edges)
        for scan in scans { try cut.append(scan) }
        guard clipTick != nil || cut.copiedFrames > 0 else { throw .nothingToCopy }
        cut.encoder.timeBase = tick
        try adapt(&cut.encoder, codec: codec, parameters: parameters)
        return cut
    }

    /// Appends the part for a range.
    /// - Throws: `Obstacle.equalTimes`, or `Obstacle.edges` if the range's first frames can't be decoded.
    mutating func append(_ scan: CutScan) throws(Obstacle) {
        let shown = scan.shownTimes
        guard zip(shown, shown.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .equalTimes }
        if let first = scan.packets.first, !first.isKey, first.access == .none, !scan.isGenerated {
            throw .edges("it begins with frames whose references are missing")
        }
        let copied = Self.copiedSection(scan) ?? CopiedSection(start: scan.end, end: scan.end, last: scan.end)
        parts.append(
            Part(
                start: scan.start, end: scan.end, copyStart: copied.start,
                copyEnd: min(copied.end, scan.end), lastCopied: copied.last,
                reachesTrackEnd: copied.end == Int64.max, opensGroup: copied.isOpen,
                headFrames: shown.count { $0 < copied.start },
                copiedFrames: copied.count, tailFrames: shown.count { $0 >= copied.end },
                copiedGroups: copied.groups))
        reorderDelay = max(reorderDelay, copied.delay)
    }

    private struct CopiedSection {
        var start: Int64
        var end: Int64
        /// The latest presentation time of a copied frame.
        var last: Int64
        var isOpen = false
        var count = 0
        var groups = 0
        var delay = 0
    }

    /// Returns the section to copy, from the first random-access point of the range to the last clean end. If that
    /// point starts an open GOP, and the section from the first clean random-access point has more frames, that section
    /// is returned.
    private static func copiedSection(_ scan: CutScan) -> CopiedSection? {
        func first(_ isFit: (CutScan.ScannedPacket) -> Bool) -> CopiedSection? {
            scan.packets.firstIndex {
                isFit($0) && $0.pts >= scan.start && $0.pts < scan.end && !$0.isBarrier
            }.flatMap { copiedSection(scan, from: $0) }
        }
        let earliest = first { $0.access != .none }
        guard let earliest, earliest.isOpen, let clean = first({ $0.access == .clean }) else {
            return earliest ?? first { $0.access == .clean }
        }
        return clean.count > earliest.count ? clean : earliest
    }

    private static func copiedSection(_ scan: CutScan, from first: Int) -> CopiedSection? {
        let start = scan.packets[first].pts
        var rest = scan.suffixMinima(from: start)
        rest.append(Int64.max)
        var section: CopiedSection?
        var current = CopiedSection(
            start: start, end: start, last: start, isOpen: scan.packets[first].access == .open)
        var highest = Int64.min
        var times: [Int64] = []
        var committed = 0
        for index in first..<scan.packets.count {
            let packet = scan.packets[index]
            // Leading frames of an open GOP belong to the head.
            if packet.pts < start { continue }
            if packet.isBarrier || packet.pts >= scan.end { break }
            highest = max(highest, packet.pts)
            times.append(packet.pts)
            current.count += 1
            if packet.isKey { current.groups += 1 }
            if highest < rest[index + 1] {
                current.end = rest[index + 1]
                current.last = highest
                section = current
                committed = times.count
            }
        }
        guard var result = section else { return nil }
        // A frame decoded `n` positions early requires a delay of `n` frames.
        let order = times[..<committed].enumerated().sorted { $0.element < $1.element }
        for (rank, entry) in order.enumerated() { result.delay = max(result.delay, entry.offset - rank) }
        return result
    }

    // MARK: Encoder of the edges

    /// Returns the encoder configuration for the source's codec and profile at near-lossless quality.
    private static func edgeEncoder(
        _ codec: CutBitstream.Codec, track: AssetTrack, tick: Rational
    ) throws(Obstacle) -> EncoderConfiguration {
        let format = track.format
        guard let encoder = codec.encoder else { throw .noEncoder(codec.rawValue) }
        var configuration = EncoderConfiguration(
            encoder: encoder.model.name, mediaType: .video, timeBase: tick)
        configuration.width = format.width
        configuration.height = format.height
        configuration.pixelFormat = format.pixelFormat
        configuration.frameRate = track.nominalFrameRate
        configuration.sampleAspectRatio = format.pixelAspectRatio
        configuration.color = format.color
        configuration.isInterlaced = codec == .h264 && format.isInterlaced == true
        configuration.fieldOrder = configuration.isInterlaced ? format.fieldOrder : nil
        // Edges have few frames, so their size matters little, and slower presets would save little.
        if let quality = encoder.model.rate.constantQuality {
            configuration.set("\(encoder.settings.crf)", at: quality.option)
        }
        configuration.set(encoder.settings.preset, at: encoder.model.tuning.presetOption)
        return configuration
    }

    /// Sets the options that edges require regardless of the job's settings: the source's profile and level, unused
    /// parameter set IDs (H.264) or repeated parameter sets (HEVC), no reordering, and a single GOP.
    private static func adapt(
        _ configuration: inout EncoderConfiguration, codec: CutBitstream.Codec, parameters: CodecParameters
    ) throws(Obstacle) {
        guard EncoderInfo(named: configuration.encoder) != nil else {
            throw .noEncoder(configuration.encoder)
        }
        guard let option = configuration.model?.nearLossless?.parameters else {
            throw .edges("\(configuration.encoder) can't encode edges that match the copied part")
        }
        configuration.keyframeInterval = nil
        let own: KeyValuePairs<String, String>
        switch codec {
        case .h264:
            guard let taken = AVCHeaders(parameters.extradata)?.takenIDs,
                let id = (1..<32).first(where: { !taken.contains($0) })
            else { throw .headers }
            let name = parameters.profileName ?? "unknown"
            guard let profile = avcProfile(name) else { throw .profile(name) }
            configuration.options.removeAll { ["profile", "level", "bf"].contains($0.key) }
            configuration.options.append(MetadataEntry(key: "profile", value: profile))
            configuration.level = parameters.level
            own = ["sps-id": "\(id)", "bframes": "0", "keyint": "infinite", "scenecut": "0"]
        case .hevc:
            own = [
                "repeat-headers": "1", "bframes": "0", "keyint": "-1", "scenecut": "0", "log-level": "error",
            ]
        }
        for (key, value) in own { configuration.set(key, to: value, in: option) }
    }

    private static func avcProfile(_ name: String) -> String? {
        switch name {
        case "Baseline", "Constrained Baseline": "baseline"
        case "Main": "main"
        case "High": "high"
        case "High 10", "High 10 Intra": "high10"
        case "High 4:2:2", "High 4:2:2 Intra": "high422"
        case "High 4:4:4 Predictive": "high444"
        default: nil
        }
    }

    /// Number of frames re-encoded before copied ones.
    package var headFrames: Int { parts.reduce(0) { $0 + $1.headFrames } }
    /// Number of copied frames.
    package var copiedFrames: Int { parts.reduce(0) { $0 + $1.copiedFrames } }
    /// Number of frames re-encoded after copied ones.
    package var tailFrames: Int { parts.reduce(0) { $0 + $1.tailFrames } }
    /// Number of GOPs that are copied at least in part.
    package var copiedGroups: Int { parts.reduce(0) { $0 + $1.copiedGroups } }
    /// Number of packets in the output.
    package var frameCount: Int { headFrames + copiedFrames + tailFrames }
    /// Whether the copied frames of a part start with an open GOP.
    package var opensGroups: Bool { parts.contains(where: \.opensGroup) }
    /// Whether any frame is re-encoded.
    package var hasEdges: Bool { headFrames + tailFrames > 0 }

    /// Returns the reason why the cut can't be written to a container; nil if it can. The parameter sets of HEVC's
    /// edges have the same IDs as the source's, and readers that start between keyframes of a transport stream would
    /// confuse them.
    package func obstacle(in container: ContainerType, codec: String, isInterlaced: Bool) -> Obstacle? {
        guard hasEdges, container.model.canStartAnywhere else { return nil }
        if codec == CutBitstream.Codec.hevc.rawValue { return .container(container.name) }
        // Outputs of this kind fail verification.
        let isWhole = isJoined && parts.contains { $0.copiedFrames == 0 }
        return isInterlaced && isWhole ? .joints(container.name) : nil
    }

    /// Start of each part in the output, relative to the start of the first part.
    var offsets: [Int64] {
        var offset: Int64 = 0
        return parts.map { part in
            let position = part.position ?? offset
            offset = position + part.end - part.start
            return position
        }
    }

    /// Whether times start from 0, with parts in succession, rather than being those of the source.
    var isJoined: Bool { parts.count > 1 || parts.first?.position != nil }
}
