internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// The comparison of requested properties with those of the finished file. Muxers and encoders clamp, replace
/// and drop settings silently, and differ in which.
struct ReadBack {
    let plan: OutputPlan
    let contents: AssetContents
    /// Tracks of the output, in the order of `plan.tracks`.
    let tracks: [AssetTrack]

    /// First property that the job requests and the file lacks; nil if there is none.
    var problem: String? {
        for (index, planned) in plan.tracks.enumerated() {
            if let problem = problem(planned, tracks[index]) { return "output track \(index) \(problem)" }
        }
        return lostTags(plan.metadata, contents.metadata).first(where: isAsked).map {
            "the output \(Self.lacks($0))"
        }
    }

    /// Properties of the source that should have been kept and are missing, as text.
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

    // MARK: Requested properties

    /// Returns whether the job sets a tag of the file.
    private func isAsked(_ entry: MetadataEntry) -> Bool {
        plan.askedTags.contains(entry.key.lowercased())
    }

    /// Returns whether the rule sets a tag of the track.
    private func isAsked(_ key: String, of track: TrackPlan) -> Bool {
        track.askedTags.contains(key.lowercased())
    }

    private static func lacks(_ entry: MetadataEntry) -> String {
        "doesn't contain the \(entry.key) `\(entry.value)`"
    }

    // MARK: Actual properties

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
            // The sample rate of Opus is always 48 kHz, regardless of its input.
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

    /// Returns the color properties of an encoded track that the file doesn't declare.
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
        // RGB has no matrix, which its pixel format implies.
        guard !encoding.encoder.pixelFormat.isRGB else { return lost }
        if let name = asked.matrix, made.matrix.map({ ColorDescription.isSameMatrix($0, name) }) != true {
            lost.append(MetadataEntry(key: "matrix", value: name))
        }
        // Without a declared range, players assume limited range.
        if asked.range == "pc", made.range != "pc", !track.format.pixelFormat.isFullRangeByName {
            lost.append(MetadataEntry(key: "range", value: "pc"))
        }
        return lost
    }

    /// Returns the tags of one list that another list lacks.
    private func lostTags(
        _ wanted: [MetadataEntry], _ found: [MetadataEntry], of track: AssetTrack? = nil
    ) -> [MetadataEntry] {
        let known = Dictionary(grouping: found) { $0.key.lowercased() }
        return wanted.filter { entry in
            switch entry.key.lowercased() {
            // The timecode is checked separately, and `alpha_mode` isn't a tag of the user.
            case "timecode", "alpha_mode": return false
            case "language" where track != nil: return track?.languageCode != entry.value
            case "title" where track != nil, "handler_name" where track != nil:
                return track?.title != entry.value
            default:
                return known[entry.key.lowercased()]?.contains { Self.isSame(entry, $0.value) } != true
            }
        }
    }

    /// Returns whether a tag has the expected value. Containers trim text, and normalize numbers and
    /// locations.
    private static func isSame(_ wanted: MetadataEntry, _ found: String) -> Bool {
        let (a, b) = (trimmed(wanted.value), trimmed(found))
        if a.exact == b.exact { return true }
        switch wanted.key.lowercased() {
        // libavformat writes `3/12` and `03` as numbers.
        case "track", "disc": return numbers(a) == numbers(b)
        // mov stores locations in units of 1/65,536 degree.
        case "location":
            let (places, others) = (numbers(a), numbers(b))
            return places.count >= 2 && others.count >= 2
                && zip(places.prefix(2), others).allSatisfy { abs($0 - $1) < 0.001 }
        // Fractions of a second are ignored.
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
