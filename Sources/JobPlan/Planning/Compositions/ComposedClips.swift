internal import Dispatch
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// Clips whose packets are copied into one track of a composition.
struct JoinedClips {
    var cut: SmartCut
    /// Track of a clip with the codec and the format of the output track.
    var like: TrackDescription
    /// Duration of the composition.
    var duration: MediaTime
    /// Notes about the sections that are re-encoded, with the reasons.
    var notes: [String]
}

/// The analysis of which clips of a composition can be copied into one track, and where each is cut.
struct ComposedClips {
    let composition: Composition
    private let canvas: Canvas
    private let requested: CompositionSpec?
    /// Reasons why clips of files can't be copied, by clip index.
    private(set) var incompatible: [Int: String] = [:]
    /// Reasons why clips have no packets to copy, by clip index: the composition changes or generates their frames.
    private(set) var generated: [Int: String] = [:]
    /// Descriptions of the source files, by path.
    private var descriptions: [ExactString: SourceDescription]
    /// The clip that determines the format of the output.
    private(set) var reference: Reference?

    /// The clip that the other clips are compared with.
    struct Reference {
        var index: Int
        var track: TrackDescription
    }

    /// Results of reading the packets: the cut of each source track, by the first clip that uses it, and the part for
    /// each section.
    struct CutParts {
        var cuts: [Int: SmartCut] = [:]
        var parts: [Int: SmartCut.Part] = [:]
    }

    init(_ composed: ComposedSource, on canvas: Canvas) {
        (composition, self.canvas, requested) = (composed.composition, canvas, composed.spec)
        descriptions = composed.descriptions
    }

    /// Returns the reason why a clip is not copied; nil if it can be.
    func obstacle(_ clip: Int) -> String? { generated[clip] ?? incompatible[clip] }

    // MARK: Checks without packets

    /// Determines which clips can't be copied, regardless of their packets.
    mutating func checkClips(through prober: any SourceProber) throws(SourceProblem) {
        for (index, clip) in composition.clips.enumerated() {
            guard case .file(let path) = composition.sources[clip.placement.source] else {
                generated[index] = "its source is not a media file"
                continue
            }
            if clip.placement.sourceRange.duration != clip.placement.timeRange.duration {
                generated[index] = "its speed is changed"
                continue
            }
            if clip.settings.crop != nil || clip.settings.filters != nil {
                generated[index] = "its frames are cropped or filtered"
                continue
            }
            // The sources of a composition from the library's API haven't been probed yet.
            if descriptions[path.exact] == nil { descriptions[path.exact] = try prober.description(of: path) }
            incompatible[index] = track(of: index).map { mismatch($0) } ?? "its track no longer exists"
        }
    }

    private func track(of clip: Int) -> TrackDescription? {
        source(of: clip)?.description.tracks.first { $0.index == composition.clips[clip].placement.track }
    }

    private func source(of clip: Int) -> (path: String, description: SourceDescription)? {
        guard case .file(let path) = composition.sources[composition.clips[clip].placement.source] else {
            return nil
        }
        return descriptions[path.exact].map { (path, $0) }
    }

    /// Returns the difference between a track and the composition's canvas and requested frame rate; nil if there is
    /// none.
    private func mismatch(_ track: TrackDescription) -> String? {
        let own = Canvas(like: track)
        if own.size != canvas.size {
            return "its frames are \(own.size), the composition's are \(canvas.size)"
        }
        if let rate = requested?.frameRate?.value, track.frameRate != rate || !track.hasConstantFrameRate {
            return "its frame rate is not the composition's constant \(rate) frames/s"
        }
        if track.has(.changingHeaders) {
            return "its codec headers change within the file (concatenated files)"
        }
        if track.has(.unordered) {
            return "its decoding times are not in order"
        }
        return nil
    }

    /// Returns the time on the composition's time line at which a clip's first frame is presented. That is the clip's
    /// start if the frame begins at most one frame duration after it, or if `lead_in` extends the frame to the start;
    /// otherwise the frame's own time.
    func beginning(of clip: Int) -> MediaTime? {
        guard let track = track(of: clip) else { return nil }
        let placement = composition.clips[clip].placement
        let late = track.timeRange.start - placement.sourceRange.start
        let frame = MediaTime(ticks: 1, timeBase: canvas.frameRate.inverted)
        return late > frame && !composition.clips[clip].leadIn.extendsFirstFrame(late)
            ? placement.timeRange.start + late : placement.timeRange.start
    }

    // MARK: Cutting

    /// Returns the common time base of the cut; nil if the time bases of the clips have none.
    func tick(_ sections: [CompositionSection]) -> Rational? {
        var clock: [(timeBase: Rational, timeZero: MediaTime)] = []
        var (cuts, positions): ([MediaTime], [MediaTime]) = ([], [])
        var seen: Set<SourceTrack> = []
        for section in sections {
            positions.append(section.timeRange.start)
            guard case .clip(let clip) = section.content, let source = source(of: clip),
                let track = track(of: clip)
            else { continue }
            if seen.insert(SourceTrack(track.index, of: source.path)).inserted {
                clock.append((track.timeBase, source.description.timeZero))
            }
            cuts.append(range(of: section, in: clip).start)
        }
        let hasEncodedSections = sections.contains { if case .encoded = $0.content { true } else { false } }
        return SmartCut.tick(
            clock: clock, cuts: cuts, positions: positions,
            frames: hasEncodedSections ? canvas.frameRate.inverted : nil)
    }

    /// Returns the range of the clip's source that a section shows.
    private func range(of section: CompositionSection, in clip: Int) -> TimeRange {
        let placement = composition.clips[clip].placement
        let start = placement.sourceRange.start + (section.timeRange.start - placement.timeRange.start)
        return TimeRange(start: start, duration: section.timeRange.duration)
    }

    /// Returns the possibilities of cutting ranges of a clip's track; nil if the source is unknown.
    func cut(
        of clip: Int, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration? = nil,
        through prober: any SourceProber
    ) throws(SourceProblem) -> CutPossibilities? {
        guard let source = source(of: clip) else { return nil }
        return try prober.clipCut(
            composition.clips[clip].placement.track, of: source.path, ranges: ranges, tick: tick,
            encoder: encoder)
    }

    /// Reads the packets of all clips: once for each file, several files in parallel. Clips whose format differs from
    /// the format with the greatest total duration are added to `incompatible`.
    mutating func cuts(
        _ sections: [CompositionSection], tick: Rational, through prober: any SourceProber
    ) throws(SourceProblem) -> CutParts {
        var groups: [SourceTrack: Int] = [:]
        var wanted: [(clip: Int, sections: [Int])] = []
        for (index, section) in sections.enumerated() {
            guard case .clip(let clip) = section.content, let source = source(of: clip) else { continue }
            let key = SourceTrack(composition.clips[clip].placement.track, of: source.path)
            if let known = groups[key] {
                wanted[known].sections.append(index)
            } else {
                groups[key] = wanted.count
                wanted.append((clip, [index]))
            }
        }
        let (requested, clips) = (wanted, self)
        let results = try DispatchQueue.concurrentMap(throwing: requested.count) {
            (location) throws(SourceProblem) in
            let ranges = requested[location].sections.map { index in
                guard case .clip(let clip) = sections[index].content else {
                    return sections[index].timeRange
                }
                return clips.range(of: sections[index], in: clip)
            }
            return try clips.cut(of: requested[location].clip, ranges: ranges, tick: tick, through: prober)
        }
        var found = CutParts()
        var formats: [(format: VideoPacketFormat, length: MediaTime, clip: Int)] = []
        var formatOf: [Int: VideoPacketFormat] = [:]
        for (one, result) in zip(requested, results) {
            guard let possibilities = result else {
                set(one.sections, of: sections, "its track no longer exists")
                continue
            }
            guard let cut = possibilities.smart, let format = possibilities.packetFormat,
                cut.parts.count == one.sections.count
            else {
                set(
                    one.sections, of: sections,
                    possibilities.obstacle?.description ?? "its packets can't be read")
                continue
            }
            found.cuts[one.clip] = cut
            var length = MediaTime.zero
            for (index, part) in zip(one.sections, cut.parts) {
                found.parts[index] = part
                length = length + sections[index].timeRange.duration
            }
            formatOf[one.clip] = format
            if let known = formats.firstIndex(where: { $0.format == format }) {
                formats[known].length = formats[known].length + length
            } else {
                formats.append((format, length, one.clip))
            }
        }
        // The format with the greatest total duration; the first of several.
        guard
            let mostCommon = formats.enumerated().max(by: {
                ($0.element.length, -$0.offset) < ($1.element.length, -$1.offset)
            })?.element
        else { return found }
        reference = track(of: mostCommon.clip).map { Reference(index: mostCommon.clip, track: $0) }
        for one in requested {
            guard let format = formatOf[one.clip], let difference = mostCommon.format.difference(of: format)
            else {
                continue
            }
            set(one.sections, of: sections, difference)
            found.cuts[one.clip] = nil
        }
        return found
    }

    private mutating func set(_ indices: [Int], of sections: [CompositionSection], _ why: String) {
        for index in indices {
            if case .clip(let clip) = sections[index].content { incompatible[clip] = why }
        }
    }
}

extension TrackDescription {
    /// Returns the track of a composition whose packets are copied from clips. Its format comes from `like`; its index,
    /// language, title, tags and disposition come from this track.
    func with(packetsLike like: TrackDescription, over timeRange: TimeRange) -> TrackDescription {
        var track = like
        (track.index, track.id, track.timeRange) = (index, id, timeRange)
        // The packet count and the exact end are unknown until the packets are read.
        (track.isExact, track.hasOwnDuration, track.sampleCount) = (false, true, nil)
        (track.hiddenPartOfPacket, track.isAttachedPicture, track.hasConstantFrameRate) = (nil, false, false)
        track.sideData = like.sideDataKinds.map(TrackProperty.sideData)
        (track.language, track.title, track.tags, track.disposition) = (language, title, tags, disposition)
        return track
    }

    /// Returns the track of a composition whose frames are copied, with the frame count of the cut.
    func with(_ clips: JoinedClips) -> TrackDescription {
        var track = with(
            packetsLike: clips.like, over: TimeRange(start: .zero, duration: clips.duration))
        (track.isExact, track.sampleCount, track.timeBase) = (true, clips.cut.frameCount, clips.cut.tick)
        return track
    }
}
