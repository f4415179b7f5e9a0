internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Which of the source's tags go along, and which the job sets.
struct MetadataPlanner {
    let entries: [MetadataEntry]
    let left: [(key: String, reason: String)]
    let kept: [String]

    /// Tags that describe the file they came from, not what is in it.
    private static let technical = technicalTags.union(["com.android.version"])

    /// The same of a file and of a track.
    static let technicalTags: Set<String> = [
        "major_brand", "minor_version", "compatible_brands", "encoder", "duration",
    ]

    /// QuickTime says where it was recorded in several ways; libavformat writes one.
    private static let places = ["location", "com.apple.quicktime.location.iso6709"]

    /// The tag that a source's own stands for.
    private static func name(of key: String, in source: [MetadataEntry]) -> String {
        guard key.lowercased() == places[1] else { return key }
        return source.contains { $0.key.lowercased() == places[0] } ? key : places[0]
    }

    init(spec: MetadataSpec, container: ContainerType, source: [MetadataEntry]) {
        var entries: [MetadataEntry] = []
        var left: [(String, String)] = []
        var kept: [String] = []
        let set = Set(spec.set.map(\.key.value))
        for entry in source {
            let key = entry.key
            // It has an entry of its own.
            if key.lowercased() == "timecode" { continue }
            if set.contains(key) {
                left.append((key, "the job sets it"))
            } else if !spec.keep.contains(key) {
                left.append((key, "the job doesn't keep it"))
            } else if Self.technical.contains(key.lowercased()) {
                left.append((key, "describes the source's own container"))
            } else if key.lowercased().hasPrefix("location-"),
                source.contains(where: { $0.key == "location" })
            {
                left.append((key, "it says what `location` says"))
            } else if let keys = container.metadataKeys,
                !keys.contains(Self.name(of: key, in: source).lowercased())
            {
                left.append((key, "\(container.name) can't hold it"))
            } else if key.lowercased() == "creation_time", container.takesZeroForNoTime,
                entry.value.hasPrefix("1970-01-01T00:00:00")
            {
                left.append((key, "\(entry.value) stands for no time in \(container.name)"))
            } else if key.lowercased() == "description", container.sharedKeys.contains("description"),
                source.contains(where: { $0.key.lowercased() == "comment" })
            {
                left.append((key, "\(container.name) has one field for it and the comment"))
            } else {
                entries.append(MetadataEntry(key: Self.name(of: key, in: source), value: entry.value))
                kept.append(key)
            }
        }
        // The timecode is a track's.
        entries += spec.set.filter { $0.key.value.lowercased() != "timecode" }.map {
            MetadataEntry(key: $0.key.value, value: $0.value)
        }
        self.entries = entries
        self.left = left
        self.kept = kept
    }
}

/// Which of the source's covers go along: they are tags, though images.
struct CoverPlanner {
    let spec: MetadataSpec
    let container: ContainerType
    let source: SourceDescription
    let isFile: Bool
    /// libavformat gives a cover of a fragmented file a track of its own, which players take for video.
    let isFragmented: Bool

    /// Their tracks in the source.
    var kept: [Int] {
        source.tracks.filter { $0.isAttachedPicture && isPossible && container.canHoldCover(codec: $0.codec) }
            .map(
                \.index)
    }

    private var isWanted: Bool { isFile && spec.keep.contains("cover") }
    private var isPossible: Bool { isWanted && !isFragmented }

    func reason(_ track: SourceDescription.Track) -> String {
        isWanted
            ? "\(container.name) can't hold it" + (isFragmented ? " in fragments" : "")
            : "the job doesn't keep it"
    }
}

/// Accounts for everything in the source: each track, cover, chapter list, tag and side datum.
struct LedgerBuilder {
    let source: SourceDescription
    let tracks: [TrackPlan]
    let metadata: MetadataPlanner
    let chapters: ChapterPlanner
    let container: ContainerType
    let covers: CoverPlanner
    let attachments: [Int]
    let timecode: TimecodePlanner.Answer?

    var entries: [LedgerEntry] {
        var all = source.tracks.flatMap { entries(for: $0) }
        if !source.chapters.isEmpty {
            all.append(
                LedgerEntry(
                    track: nil, item: "\(source.chapters.count) chapters", outcome: chapters.outcome,
                    reason: chapters.reason))
        }
        if let timecode, let code = source.timecode {
            all.append(
                LedgerEntry(
                    track: nil, item: "timecode \(code)", outcome: timecode.outcome,
                    reason: timecode.reason))
        }
        for key in metadata.kept {
            all.append(LedgerEntry(track: nil, item: "tag \(key)", outcome: .copied, reason: "kept"))
        }
        for (key, reason) in metadata.left {
            all.append(LedgerEntry(track: nil, item: "tag \(key)", outcome: .left, reason: reason))
        }
        return all
    }

    /// A track that no output's track is made of.
    private func unused(_ track: SourceDescription.Track, _ item: String) -> [LedgerEntry] {
        if track.isAttachedPicture {
            let isKept = covers.kept.contains(track.index)
            return [
                LedgerEntry(
                    track: track.index, item: item, outcome: isKept ? .copied : .left,
                    reason: isKept ? "goes along" : covers.reason(track))
            ] + (isKept ? coverTags(track) : [])
        }
        if attachments.contains(track.index) {
            return [LedgerEntry(track: track.index, item: item, outcome: .copied, reason: "goes along")]
        }
        if track.isTimecode, timecode?.written != nil {
            return [
                LedgerEntry(
                    track: track.index, item: "timecode track", outcome: .copied,
                    reason: "written anew")
            ]
        }
        let reason =
            track.isUnknown
            ? "its format is unknown: it is selected by its number alone" : "no rule selects it"
        return [LedgerEntry(track: track.index, item: item, outcome: .left, reason: reason)]
    }

    private func entry(
        for track: SourceDescription.Track, _ item: String, as position: Int, _ use: TrackPlan
    ) -> LedgerEntry {
        switch use.action {
        case .copy:
            LedgerEntry(track: track.index, item: item, outcome: .copied, reason: "as track \(position)")
        case .subtitle(let codec):
            LedgerEntry(
                track: track.index, item: item, outcome: .encoded,
                reason: "as track \(position), \(codec.rawValue)")
        case .smartCut(let cut):
            LedgerEntry(
                track: track.index, item: item, outcome: .copied,
                reason:
                    "as track \(position), \(cut.headPictures + cut.tailPictures) frames at its edges re-encoded"
            )
        case .encode(let encoding):
            LedgerEntry(
                track: track.index, item: item, outcome: .encoded,
                reason: "as track \(position), \(encoding.codec)"
                    + (use.mix.map { $0.inputs.count > 1 ? ", mixed" : "" } ?? ""))
        }
    }

    private func sideData(
        of track: SourceDescription.Track, carried: Set<String>, isCopied: Bool
    ) -> [LedgerEntry] {
        var result: [LedgerEntry] = []
        let states = [
            SourceDescription.Track.hiddenBeginning, SourceDescription.Track.hiddenInside,
            SourceDescription.Track.unordered, SourceDescription.Track.changingHeaders,
        ]
        for kind in track.sideData where !states.contains(kind) {
            let isCarried = carried.contains(kind)
            let reason =
                isCarried
                ? "goes along"
                : kind == "dovi" && isCopied
                    ? "\(container.name) can't hold it"
                    : kind == "dovi"
                        ? "Dolby Vision's layer is gone once the frame is re-encoded"
                        : "not carried over"
            result.append(
                LedgerEntry(
                    track: track.index, item: "side data \(kind)", outcome: isCarried ? .copied : .left,
                    reason: reason))
        }
        return result
    }

    private func entries(for track: SourceDescription.Track) -> [LedgerEntry] {
        let item = Self.name(track)
        let uses = tracks.enumerated().filter { $0.element.takes(track.index) }
        guard !uses.isEmpty else {
            return unused(track, item)
        }
        var result = uses.map { entry(for: track, item, as: $0.offset, $0.element) }
        result += uses.compactMap { manner(of: track, in: $0.element) }
        result += tags(of: track, in: uses[0].element)
        if let turn = track.transform, !turn.isIdentity {
            result.append(self.turn(of: track, in: uses.map(\.element)))
        }
        let isCopied = uses.contains { if case .copy = $0.element.action { true } else { false } }
        result += sideData(of: track, carried: Set(uses.flatMap(\.element.sideData)), isCopied: isCopied)
        if isCopied, track.sideData.contains(SourceDescription.Track.hiddenBeginning) {
            if let entry = hiddenBeginning(of: track) { result.append(entry) }
        }
        if isCopied, track.hasAlphaBeside, !container.holdsAlphaBeside {
            result.append(
                LedgerEntry(
                    track: track.index, item: "alpha plane", outcome: .left,
                    reason: "\(container.name) can't hold it beside \(track.codec)"))
        }
        if isCopied, let entry = color(of: track) { result.append(entry) }
        if isCopied, let layout = track.channelLayout, layout.isSpecified,
            let other = container.otherLayout(of: layout, codec: track.codec)
        {
            result.append(
                LedgerEntry(
                    track: track.index, item: "channel layout \(layout)", outcome: .left,
                    reason: "\(container.name) can't say it of \(track.codec): players take it for \(other)"))
        }
        if track.cleanAperture != nil {
            let isBaked = uses.contains {
                if case .encode(let encoding) = $0.element.action {
                    encoding.video?.crop != nil
                } else {
                    false
                }
            }
            result.append(
                LedgerEntry(
                    track: track.index, item: "clean aperture", outcome: isBaked ? .encoded : .left,
                    reason: isBaked ? "the frame is cropped" : "libavformat 5.1 can't write it"))
        }
        return result
    }

    /// How cues are shown, where another codec can't say it.
    private func manner(of track: SourceDescription.Track, in use: TrackPlan) -> LedgerEntry? {
        guard case .subtitle(let codec) = use.action, codec.rawValue != track.codec else { return nil }
        var (item, reason): (String, String)
        switch track.codec {
        case "ass", "ssa":
            item = "styles"
            reason = "\(codec.rawValue) says bold, italic and underlined text alone"
            if codec == .srt { reason = "srt says bold, italic and underlined text, fonts and colours alone" }
        case "webvtt": (item, reason) = ("places of cues", "\(codec.rawValue) has no settings of WebVTT's")
        default: return nil
        }
        return LedgerEntry(track: track.index, item: item, outcome: .left, reason: reason)
    }

    /// Codecs whose headers have a place for colour.
    private static let colorful: Set<String> = [
        "h264", "hevc", "mpeg1video", "mpeg2video", "vp9", "av1", "prores", "dnxhd", "mjpeg", "vc1", "vvc",
    ]

    /// What only the source's container says of a copied track's colour, and the output's can't.
    private func color(of track: SourceDescription.Track) -> LedgerEntry? {
        guard track.mediaType == .video, !Self.colorful.contains(track.codec), !track.pixelFormat.isRGB else {
            return nil
        }
        let color = track.color
        var lost: [String] = []
        if !container.saysColor { lost = [color.primaries, color.transfer, color.matrix].compactMap { $0 } }
        // Who isn't told takes the limited one.
        if !container.saysColorRange, color.range == "pc" { lost.append("full range") }
        guard !lost.isEmpty else { return nil }
        return LedgerEntry(
            track: track.index, item: "colour (\(lost.joined(separator: ", ")))", outcome: .left,
            reason: "\(container.name) can't say it of \(track.codec)")
    }

    /// What a copy lets be heard that the source hides.
    private func hiddenBeginning(of track: SourceDescription.Track) -> LedgerEntry? {
        var reason: String?
        if !container.hidesBeginning(ofCodec: track.codec) {
            reason = "\(container.name) can't say that it is not heard"
        } else if container.muxer == "matroska", let samples = track.hiddenPartOfPacket {
            reason = "\(container.name) hides whole packets alone: \(samples) samples of one are heard"
        }
        return reason.map {
            LedgerEntry(track: track.index, item: "hidden beginning", outcome: .left, reason: $0)
        }
    }

    /// A mix has the tags of its first track.
    private func tags(of track: SourceDescription.Track, in use: TrackPlan) -> [LedgerEntry] {
        guard use.source.index == track.index else {
            return track.tags.map {
                LedgerEntry(
                    track: track.index, item: "tag \($0.key)", outcome: .left,
                    reason: "the mix has those of track \(use.source.index)")
            }
        }
        return use.tags.map {
            LedgerEntry(track: track.index, item: "tag \($0.key)", outcome: $0.outcome, reason: $0.reason)
        }
    }

    private func turn(of track: SourceDescription.Track, in uses: [TrackPlan]) -> LedgerEntry {
        let item = "display matrix"
        if uses.contains(where: { $0.transform == track.transform }) {
            return LedgerEntry(track: track.index, item: item, outcome: .copied, reason: "kept")
        }
        let isBaked = uses.contains {
            if case .encode(let encoding) = $0.action { encoding.video?.turn != nil } else { false }
        }
        return LedgerEntry(
            track: track.index, item: item, outcome: isBaked ? .encoded : .left,
            reason: isBaked ? "the frame is rotated" : "the job rotates the frame otherwise")
    }

    /// A cover keeps what describes the frame, where it is a stream.
    private func coverTags(_ track: SourceDescription.Track) -> [LedgerEntry] {
        track.tags.map { tag in
            let isKept = ["title", "comment"].contains(tag.key) && container.name != "mkv"
            return LedgerEntry(
                track: track.index, item: "tag \(tag.key)", outcome: isKept ? .copied : .left,
                reason: isKept
                    ? "kept"
                    : TrackTagPlanner.isTechnical(tag.key)
                        ? "describes the source's own container"
                        : "\(container.name) can't hold it of a cover")
        }
    }

    static func name(_ track: SourceDescription.Track) -> String {
        if track.isAttachedPicture { return "cover \(track.codec)" }
        var parts = [track.mediaType.rawValue, track.codec == "none" ? "unknown codec" : track.codec]
        if track.mediaType == .video { parts.append("\(track.width)x\(track.height)") }
        if track.mediaType == .audio {
            parts.append("\(track.sampleRate) Hz")
            if let layout = track.channelLayout { parts.append(layout.description) }
        }
        if let file = track.fileName { parts.append("`\(file)`") }
        if let language = track.language { parts.append("(\(language))") }
        return parts.joined(separator: " ")
    }
}

/// What tracks are called in ledgers and comments.
public enum LedgerText {
    /// Kind, codec, size or rate, language.
    public static func name(_ track: SourceDescription.Track) -> String {
        TextRenderer.printable(LedgerBuilder.name(track))
    }
}
