internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Compares what was asked for with what the finished file says: muxers and encoders lower, replace and drop settings without
/// a word, and differ in which.
struct ReadBack {
    let plan: OutputPlan
    let contents: AssetContents
    /// The output's own tracks, as `plan.tracks` has them.
    let tracks: [AssetTrack]

    /// The first thing that the job asks for and the file doesn't have; nil where there is none.
    var problem: String? {
        for (index, planned) in plan.tracks.enumerated() {
            if let problem = problem(planned, tracks[index]) { return "output track \(index) \(problem)" }
        }
        return lostTags(plan.metadata, contents.metadata).first(where: isAsked).map {
            "the output \(Self.lacks($0))"
        }
    }

    /// What was to be kept of the source and is not there, in words.
    var losses: [String] {
        var losses = lostTags(plan.metadata, contents.metadata).filter { !isAsked($0) }.map {
            "the output \(Self.lacks($0))"
        }
        for (index, planned) in plan.tracks.enumerated() {
            losses += lostTags(planned.metadata, tracks[index].metadata, of: tracks[index])
                .filter { !isAsked($0.key, of: planned) }.map { "output track \(index) \(Self.lacks($0))" }
            if case .copy = planned.action, tracks[index].format.codecTag == "hev1" {
                losses.append(
                    "output track \(index) is HEVC with parameter sets in its packets (`hev1`), which Apple's players don't play: its parameter sets change, or can't be read"
                )
            }
            if case .encode(let encoding) = planned.action {
                losses += lostColor(encoding, tracks[index]).filter { !encoding.askedColor.contains($0.key) }
                    .map { "output track \(index) \(Self.lacks($0))" }
            }
        }
        for (number, pair) in zip(plan.chapters, contents.chapters).enumerated() {
            let (wanted, found) = (Self.trimmed(pair.0.title ?? ""), Self.trimmed(pair.1.title ?? ""))
            if !wanted.isEmpty, wanted.exact != found.exact {
                losses.append("chapter \(number + 1) of the output is not called `\(wanted)`")
            }
        }
        return losses
    }

    // MARK: What was asked

    /// The job sets a tag of the file.
    private func isAsked(_ entry: MetadataEntry) -> Bool {
        plan.askedTags.contains(entry.key.lowercased())
    }

    /// The rule sets a tag of the track.
    private func isAsked(_ key: String, of track: TrackPlan) -> Bool {
        track.askedTags.contains(key.lowercased())
    }

    private static func lacks(_ entry: MetadataEntry) -> String {
        "does not say the \(entry.key) `\(entry.value)`"
    }

    // MARK: What is there

    private func problem(_ planned: TrackPlan, _ track: AssetTrack) -> String? {
        if let lost = lostTags(planned.metadata, track.metadata, of: track).first(where: {
            isAsked($0.key, of: planned)
        }) {
            return Self.lacks(lost)
        }
        if let name = planned.disposition.first(where: { !track.disposition.contains($0) }) {
            return "is not marked as \(name)"
        }
        guard case .encode(let encoding) = planned.action else { return nil }
        let (made, asked) = (track.format, encoding.encoder)
        switch track.mediaType {
        case .video:
            guard made.width == asked.width, made.height == asked.height else {
                return "is \(made.width)x\(made.height) instead of \(asked.width)x\(asked.height)"
            }
            if let lost = lostColor(encoding, track).first(where: { encoding.askedColor.contains($0.key) }) {
                return Self.lacks(lost)
            }
        case .audio:
            // Opus has one rate, whatever it was made from.
            let hasOwnRate = CodecCatalog.codec(made.codec, of: .audio)?.codec.hasOwnSampleRate == true
            guard hasOwnRate || made.sampleRate == asked.sampleRate else {
                return "has \(made.sampleRate) Hz instead of \(asked.sampleRate)"
            }
            let channels = (made: made.channelLayout?.channels, asked: asked.channelLayout?.channels)
            guard channels.made == channels.asked else {
                return "has \(channels.made ?? 0) channels instead of \(channels.asked ?? 0)"
            }
        default: break
        }
        return nil
    }

    /// What an encoded track's colour was to be and is not said.
    private func lostColor(_ encoding: TrackPlan.Encoding, _ track: AssetTrack) -> [MetadataEntry] {
        guard encoding.encoder.mediaType == .video else { return [] }
        let (asked, made) = (encoding.encoder.color, track.format.color)
        var lost: [MetadataEntry] = []
        if let name = asked.primaries, made.primaries != name {
            lost.append(MetadataEntry(key: "primaries", value: name))
        }
        if let name = asked.transfer, made.transfer != name {
            lost.append(MetadataEntry(key: "transfer", value: name))
        }
        // RGB says by its pixels that it has none.
        guard !encoding.encoder.pixelFormat.isRGB else { return lost }
        if let name = asked.matrix, made.matrix.map({ ColorDescription.isSameMatrix($0, name) }) != true {
            lost.append(MetadataEntry(key: "matrix", value: name))
        }
        // Who isn't told takes the limited one.
        if asked.range == "pc", made.range != "pc", !track.format.pixelFormat.isFullRangeByName {
            lost.append(MetadataEntry(key: "range", value: "pc"))
        }
        return lost
    }

    /// Those of some tags that aren't among others.
    private func lostTags(
        _ wanted: [MetadataEntry], _ found: [MetadataEntry], of track: AssetTrack? = nil
    ) -> [MetadataEntry] {
        let known = Dictionary(grouping: found) { $0.key.lowercased() }
        return wanted.filter { entry in
            switch entry.key.lowercased() {
            // Checked by itself, or of no file.
            case "timecode", "alpha_mode": return false
            case "language" where track != nil: return track?.languageCode != entry.value
            case "title" where track != nil, "handler_name" where track != nil:
                return track?.title != entry.value
            default:
                return known[entry.key.lowercased()]?.contains { Self.isSame(entry, $0.value) } != true
            }
        }
    }

    /// Containers trim texts, and write numbers and places in forms of their own.
    private static func isSame(_ wanted: MetadataEntry, _ found: String) -> Bool {
        let (a, b) = (trimmed(wanted.value), trimmed(found))
        if a.exact == b.exact { return true }
        switch wanted.key.lowercased() {
        // `3/12`, `03`: libavformat writes numbers.
        case "track", "disc": return numbers(a) == numbers(b)
        // A movie says places with a 65,536th of a degree.
        case "location":
            let (places, others) = (numbers(a), numbers(b))
            return places.count >= 2 && others.count >= 2
                && zip(places.prefix(2), others).allSatisfy { abs($0 - $1) < 0.001 }
        // Half a second at most.
        case "creation_time": return a.prefix(19) == b.prefix(19)
        default: return false
        }
    }

    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let last = scalars.last, last.properties.isWhitespace || last == "\0" { scalars.removeLast() }
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func numbers(_ text: String) -> [Double] {
        var (all, current): ([Double], String) = ([], "")
        for character in text + " " {
            if character.isNumber || character == "." || ("+-".contains(character) && current.isEmpty) {
                current.append(character)
            } else {
                if let number = Double(current) { all.append(number) }
                current = "+-".contains(character) ? String(character) : ""
            }
        }
        return all
    }
}
