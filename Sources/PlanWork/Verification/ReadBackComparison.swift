internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// The comparison of requested properties with those of the finished file. Muxers and encoders clamp, replace and drop
/// settings silently, each in a different way.
struct ReadBackComparison {
    let plan: OutputPlan
    /// The plan of the output's kind.
    let media: MediaPlan
    let contents: AssetContents
    /// Tracks of the output, in the order of `plan.tracks`.
    let tracks: [AssetTrack]

    /// First property that the job requests and the file lacks; nil if all are present.
    var problem: String? {
        for (index, planned) in plan.tracks.enumerated() {
            if let problem = problem(planned, tracks[index]) { return "output track \(index) \(problem)" }
        }
        return missingTags(media.metadata, contents.metadata).first(where: isRequested).map {
            "the output \(Self.missingTagText($0))"
        }
    }

    /// Properties of the source that the plan keeps and the file lacks, as text.
    var losses: [String] {
        var losses = missingTags(media.metadata, contents.metadata).filter { !isRequested($0) }.map {
            "the output \(Self.missingTagText($0))"
        }
        for (index, planned) in plan.tracks.enumerated() {
            losses += missingTags(planned.metadata, tracks[index].metadata, of: tracks[index])
                .filter { !isRequested($0.key, of: planned) }.map {
                    "output track \(index) \(Self.missingTagText($0))"
                }
            if case .copy = planned.action, tracks[index].format.codecTag == "hev1" {
                losses.append(
                    "output track \(index) is HEVC with parameter sets in its packets (`hev1`), which Apple's players don't play: its parameter sets change, or can't be read"
                )
            }
            if case .encode(let encoding) = planned.action {
                losses += missingColor(encoding, tracks[index]).filter {
                    !encoding.requestedColor.contains($0.key)
                }
                .map { "output track \(index) \(Self.missingTagText($0))" }
            }
        }
        for (number, pair) in zip(media.chapters, contents.chapters).enumerated() {
            let (expected, found) = (Self.trimmed(pair.0.title ?? ""), Self.trimmed(pair.1.title ?? ""))
            if !expected.isEmpty, expected.exact != found.exact {
                losses.append("chapter \(number + 1) of the output is not called `\(expected)`")
            }
        }
        return losses
    }

    // MARK: Requested properties

    /// Returns whether the job file sets a tag of the output.
    private func isRequested(_ entry: MetadataEntry) -> Bool {
        media.requestedTags.contains(entry.key.lowercased())
    }

    /// Returns whether the job file sets a tag of the track.
    private func isRequested(_ key: String, of track: TrackPlan) -> Bool {
        track.requestedTags.contains(key.lowercased())
    }

    private static func missingTagText(_ entry: MetadataEntry) -> String {
        "doesn't contain the \(entry.key) `\(entry.value)`"
    }

    // MARK: Actual properties

    private func problem(_ planned: TrackPlan, _ track: AssetTrack) -> String? {
        if let missing = missingTags(planned.metadata, track.metadata, of: track).first(where: {
            isRequested($0.key, of: planned)
        }) {
            return Self.missingTagText(missing)
        }
        if let name = planned.disposition.first(where: { !track.disposition.contains($0) }) {
            return "is not marked as \(name)"
        }
        guard case .encode(let encoding) = planned.action else { return nil }
        let (actual, requested) = (track.format, encoding.encoder)
        switch track.mediaType {
        case .video:
            guard actual.width == requested.width, actual.height == requested.height else {
                return "is \(actual.width)x\(actual.height) instead of \(requested.width)x\(requested.height)"
            }
            if let missing = missingColor(encoding, track).first(where: {
                encoding.requestedColor.contains($0.key)
            }) {
                return Self.missingTagText(missing)
            }
        case .audio:
            // Opus is always decoded at 48 kHz, regardless of its input.
            let hasOwnRate = CodecCatalog.codec(actual.codec, of: .audio)?.codec.hasOwnSampleRate == true
            guard hasOwnRate || actual.sampleRate == requested.sampleRate else {
                return "has \(actual.sampleRate) Hz instead of \(requested.sampleRate)"
            }
            let channels = (
                actual: actual.channelLayout?.channels, requested: requested.channelLayout?.channels
            )
            guard channels.actual == channels.requested else {
                return "has \(channels.actual ?? 0) channels instead of \(channels.requested ?? 0)"
            }
        default: break
        }
        return nil
    }

    /// Returns the color properties of an encoded track that the file doesn't declare.
    private func missingColor(_ encoding: TrackPlan.Encoding, _ track: AssetTrack) -> [MetadataEntry] {
        guard encoding.encoder.mediaType == .video else { return [] }
        let (requested, actual) = (encoding.encoder.color, track.format.color)
        var missing: [MetadataEntry] = []
        if let name = requested.primaries, actual.primaries != name {
            missing.append(MetadataEntry(key: "primaries", value: name))
        }
        if let name = requested.transfer, actual.transfer != name {
            missing.append(MetadataEntry(key: "transfer", value: name))
        }
        // RGB pixel formats imply the matrix, so it isn't declared.
        guard !encoding.encoder.pixelFormat.isRGB else { return missing }
        if let name = requested.matrix, actual.matrix.map({ ColorDescription.isSameMatrix($0, name) }) != true
        {
            missing.append(MetadataEntry(key: "matrix", value: name))
        }
        // If no range is declared, players assume limited range.
        if requested.range == .full, actual.range != .full, !track.format.pixelFormat.isFullRangeByName {
            missing.append(MetadataEntry(key: "range", value: ColorRange.full.rawValue))
        }
        return missing
    }

    /// Returns the expected tags that the file lacks.
    private func missingTags(
        _ expected: [MetadataEntry], _ found: [MetadataEntry], of track: AssetTrack? = nil
    ) -> [MetadataEntry] {
        let known = Dictionary(grouping: found) { $0.key.lowercased() }
        return expected.filter { entry in
            switch entry.key.lowercased() {
            // The timecode is checked separately; `alpha_mode` marks a separate alpha plane and isn't a user tag.
            case MetadataEntry.timecodeKey, "alpha_mode": return false
            // A track without a language is read as one of the language `und`.
            case "language" where track != nil: return (track?.languageCode ?? "und") != entry.value
            // A demuxer may keep the case of the key, so that the track has the tag but no title.
            case "title" where track != nil, "handler_name" where track != nil:
                return track?.title != entry.value
                    && known["title"]?.contains { Self.isSame(entry, $0.value) } != true
            default:
                return known[entry.key.lowercased()]?.contains { Self.isSame(entry, $0.value) } != true
            }
        }
    }

    /// Returns whether a tag has the expected value. Containers trim text, and normalize numbers and locations.
    private static func isSame(_ expected: MetadataEntry, _ found: String) -> Bool {
        let (a, b) = (trimmed(expected.value), trimmed(found))
        if a.exact == b.exact { return true }
        switch expected.key.lowercased() {
        // libavformat writes `3/12` and `03` as numbers.
        case "track", "disc": return numbers(a) == numbers(b)
        // mov stores locations in units of 1/65,536 degree.
        case "location":
            let (coordinates, others) = (numbers(a), numbers(b))
            return coordinates.count >= 2 && others.count >= 2
                && zip(coordinates.prefix(2), others).allSatisfy { abs($0 - $1) < 0.001 }
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
