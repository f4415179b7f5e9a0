public import LibAV

/// How ranges of a track of frames are cut to the frame with most packets copied, and joined: of each, the head up to
/// the first place where decoding can begin and what is left after the last clean end are re-encoded, the rest is
/// taken as it is. A value that a plan holds.
public struct SmartCut: Hashable, Codable, Sendable {
    /// One range.
    public struct Part: Hashable, Codable, Sendable {
        /// Where the range begins.
        public var start: Int64
        /// Where it ends.
        public var end: Int64
        /// The first copied frame; `end` where none is copied.
        public var copyStart: Int64
        /// The first frame after the copied ones; `end` where none is left.
        public var copyEnd: Int64
        /// The copied frame that is shown last.
        public var lastCopied: Int64
        /// The track ends with it.
        public var reachesTrackEnd: Bool
        /// What is copied begins with an open group, whose leading frames are left out.
        public var opensGroup: Bool
        /// Frames re-encoded before the copied ones.
        public var headPictures: Int
        /// Frames taken as they are.
        public var copiedPictures: Int
        /// Frames re-encoded after the copied ones.
        public var tailPictures: Int
        /// Groups of pictures of which some are copied.
        public var copiedGroups: Int
        /// Of which clip of a composition it is; nil for what is read itself: the one file, or the composition's own frames.
        public var clip: Int?
        /// Where it begins in what comes of the cut; nil for the end of the part before it.
        public var place: Int64?
    }

    /// The unit of the times, on the asset's time line.
    public var tick: Rational
    /// The ranges in the order of the output.
    public var parts: [Part]
    /// Frames by which decoding order runs ahead of presentation, at most.
    public var reorderDelay: Int
    /// What the edges are compressed with.
    public var encoder: EncoderConfiguration

    /// Finds out how. `encoder` compresses the edges; nil for the source's codec and profile at near-lossless
    /// quality. `clipTick`: it goes into a cut of several sources, of which that is the unit, so that nothing of it need be
    /// copied.
    package static func plan(
        _ scans: [CutScan], track: AssetTrack, encoder: EncoderConfiguration? = nil, clipTick: Rational? = nil
    ) throws(Obstacle) -> SmartCut {
        let parameters = track.format.parameters
        guard let codec = CutBitstream.Codec(rawValue: track.format.codec) else {
            throw .codec(track.format.codec)
        }
        guard CutBitstream(parameters) != nil else { throw .headers }
        if track.sideData.contains(where: { $0.kind == "dovi" }) { throw .dolbyVision }
        guard track.edits.filter({ $0.mediaStart != nil }).count <= 1 else { throw .edits }
        guard track.lostTimesShift == nil else { throw .lostTimes }
        guard let tick = clipTick ?? scans.first?.tick else { throw .nothingToCopy }
        let edges =
            if let encoder { encoder } else { try edgeEncoder(codec, track: track, tick: tick) }
        var cut = SmartCut(tick: tick, parts: [], reorderDelay: 0, encoder: edges)
        for scan in scans { try cut.append(scan) }
        guard clipTick != nil || cut.copiedPictures > 0 else { throw .nothingToCopy }
        cut.encoder.timeBase = tick
        try adapt(&cut.encoder, codec: codec, parameters: parameters)
        return cut
    }

    /// What a range shows, behind the parts that are there.
    /// - Throws: `Obstacle.equalTimes`.
    mutating func append(_ scan: CutScan) throws(Obstacle) {
        let shown = scan.shownTimes
        guard zip(shown, shown.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .equalTimes }
        if let first = scan.pictures.first, !first.isKey, first.access == .none, !scan.isMade {
            throw .edges("it begins with frames that nothing comes before from which they could be decoded")
        }
        let copied = Self.copiedStretch(scan) ?? Stretch(start: scan.end, end: scan.end, last: scan.end)
        parts.append(
            Part(
                start: scan.start, end: scan.end, copyStart: copied.start,
                copyEnd: min(copied.end, scan.end), lastCopied: copied.last,
                reachesTrackEnd: copied.end == Int64.max, opensGroup: copied.isOpen,
                headPictures: shown.count { $0 < copied.start },
                copiedPictures: copied.count, tailPictures: shown.count { $0 >= copied.end },
                copiedGroups: copied.groups))
        reorderDelay = max(reorderDelay, copied.delay)
    }

    private struct Stretch {
        var start: Int64
        var end: Int64
        /// The latest time of any frame in it.
        var last: Int64
        var isOpen = false
        var count = 0
        var groups = 0
        var delay = 0
    }

    /// From the first frame of the range at which decoding can begin to the last clean end in the range. Where an open
    /// group can't be followed far, what begins at a later IDR frame may be more.
    private static func copiedStretch(_ scan: CutScan) -> Stretch? {
        func first(_ isFit: (CutScan.Picture) -> Bool) -> Stretch? {
            scan.pictures.firstIndex {
                isFit($0) && $0.pts >= scan.start && $0.pts < scan.end && !$0.isBarrier
            }.flatMap { copiedStretch(scan, from: $0) }
        }
        let earliest = first { $0.access != .none }
        guard let earliest, earliest.isOpen, let clean = first({ $0.access == .clean }) else {
            return earliest ?? first { $0.access == .clean }
        }
        return clean.count > earliest.count ? clean : earliest
    }

    private static func copiedStretch(_ scan: CutScan, from first: Int) -> Stretch? {
        let start = scan.pictures[first].pts
        var rest = scan.suffixMinima(from: start)
        rest.append(Int64.max)
        var stretch: Stretch?
        var current = Stretch(
            start: start, end: start, last: start, isOpen: scan.pictures[first].access == .open)
        var highest = Int64.min
        var times: [Int64] = []
        var committed = 0
        for index in first..<scan.pictures.count {
            let picture = scan.pictures[index]
            // Leading frames of an open group belong to the head.
            if picture.pts < start { continue }
            if picture.isBarrier || picture.pts >= scan.end { break }
            highest = max(highest, picture.pts)
            times.append(picture.pts)
            current.count += 1
            if picture.isKey { current.groups += 1 }
            if highest < rest[index + 1] {
                current.end = rest[index + 1]
                current.last = highest
                stretch = current
                committed = times.count
            }
        }
        guard var result = stretch else { return nil }
        // A frame decoded `n` places before its turn needs a delay of `n`.
        let order = times[..<committed].enumerated().sorted { $0.element < $1.element }
        for (rank, entry) in order.enumerated() { result.delay = max(result.delay, entry.offset - rank) }
        return result
    }

    // MARK: The edges' encoder

    /// The source's codec and profile at near-lossless quality.
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
        // A few frames may be large; what slower presets save doesn't matter.
        if let quality = encoder.model.constantQuality {
            configuration.set("\(encoder.settings.crf)", at: quality.place)
        }
        configuration.set(encoder.settings.preset, at: encoder.model.presetPlace)
        return configuration
    }

    /// What must hold of the edges whatever anybody chose: the source's profile and level, ids of their own, no
    /// reordering, one group.
    private static func adapt(
        _ configuration: inout EncoderConfiguration, codec: CutBitstream.Codec, parameters: CodecParameters
    ) throws(Obstacle) {
        guard EncoderInfo(named: configuration.encoder) != nil else {
            throw .noEncoder(configuration.encoder)
        }
        guard let option = EncoderModel.of(configuration.encoder).nearLossless?.parameters else {
            throw .edges("\(configuration.encoder) can't encode them so that they fit the copied part")
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

    /// Frames re-encoded before copied ones.
    public var headPictures: Int { parts.reduce(0) { $0 + $1.headPictures } }
    /// Frames taken as they are.
    public var copiedPictures: Int { parts.reduce(0) { $0 + $1.copiedPictures } }
    /// Frames re-encoded after copied ones.
    public var tailPictures: Int { parts.reduce(0) { $0 + $1.tailPictures } }
    /// Groups of pictures of which some are copied.
    public var copiedGroups: Int { parts.reduce(0) { $0 + $1.copiedGroups } }
    /// Packets of the output.
    public var pictureCount: Int { headPictures + copiedPictures + tailPictures }
    /// What is copied of some part begins with an open group.
    public var opensGroups: Bool { parts.contains(where: \.opensGroup) }
    /// Something is re-encoded.
    public var hasEdges: Bool { headPictures + tailPictures > 0 }

    /// What stands against writing it, of a source of such a codec, into a container. HEVC's edges have sets of the same
    /// ids as the source's, which a reader of a transport stream that begins between key frames mixes up.
    public func obstacle(in container: ContainerType, codec: String, isInterlaced: Bool) -> Obstacle? {
        guard hasEdges, container.isReadFromAnywhere else { return nil }
        if codec == CutBitstream.Codec.hevc.rawValue { return .container(container.name) }
        // What comes out is checked before it is published, and isn't right then.
        let isWhole = isJoined && parts.contains { $0.copiedPictures == 0 }
        return isInterlaced && isWhole ? .joints(container.name) : nil
    }

    /// Where each part begins in what comes of it, from the start of the first one.
    var offsets: [Int64] {
        var offset: Int64 = 0
        return parts.map { part in
            let place = part.place ?? offset
            offset = place + part.end - part.start
            return place
        }
    }

    /// Its parts are shown one after the other from 0, not on the source's own time line.
    var isJoined: Bool { parts.count > 1 || parts.first?.place != nil }
}
