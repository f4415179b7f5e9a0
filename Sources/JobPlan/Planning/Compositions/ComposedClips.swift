internal import Dispatch
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media

/// Clips that are copied in a composition.
struct JoinedClips {
    var cut: SmartCut
    /// What the output's track is like.
    var like: TrackDescription
    /// How long all of it is.
    var duration: MediaTime
    /// What is re-encoded, and why.
    var notes: [String]
}

/// Which clips of a composition fit together so that their packets can follow each other, and how each is cut.
struct ComposedClips {
    let composition: Composition
    private let canvas: Canvas
    private let asked: CompositionSpec?
    /// Why files' clips can't be copied, by their places.
    private(set) var unfit: [Int: String] = [:]
    /// Why clips have no packets that anybody could copy: as the composition is written, they are made.
    private(set) var made: [Int: String] = [:]
    /// What each file is.
    private var descriptions: [String: SourceDescription]
    /// The clip whose form the output has.
    private(set) var reference: Reference?

    /// A clip that others are compared with.
    struct Reference {
        var index: Int
        var track: TrackDescription
    }

    /// What was found: how each clip's track is cut, by the first clip that is of it, and each stretch's part.
    struct Found {
        var cuts: [Int: SmartCut] = [:]
        var parts: [Int: SmartCut.Part] = [:]
    }

    init(
        _ composition: Composition, of canvas: Canvas, as asked: CompositionSpec?, known: ComposedSource?
    ) {
        (self.composition, self.canvas, self.asked) = (composition, canvas, asked)
        descriptions = known?.descriptions ?? [:]
    }

    /// Why a clip is not copied; nil where it is.
    func obstacle(_ clip: Int) -> String? { made[clip] ?? unfit[clip] }

    // MARK: What is known without their packets

    /// Finds out which clips can't be copied whatever their packets are.
    mutating func look(through prober: any SourceProber) throws(SourceProblem) {
        for (index, clip) in composition.clips.enumerated() {
            guard case .file(let path) = composition.sources[clip.placement.source] else {
                made[index] = "it is no file with packets"
                continue
            }
            if clip.placement.sourceRange.duration != clip.placement.timeRange.duration {
                made[index] = "it is played at another speed"
                continue
            }
            if clip.settings.crop != nil || clip.settings.filters != nil {
                made[index] = "its frames are cropped or filtered"
                continue
            }
            // Of a composition that a program made nothing is known yet.
            if descriptions[path] == nil { descriptions[path] = try prober.description(of: path) }
            unfit[index] = track(of: index).map { mismatch($0) } ?? "its track is gone"
        }
    }

    /// What a clip's track is.
    private func track(of clip: Int) -> TrackDescription? {
        source(of: clip)?.description.tracks.first { $0.index == composition.clips[clip].placement.track }
    }

    private func source(of clip: Int) -> (path: String, description: SourceDescription)? {
        guard case .file(let path) = composition.sources[composition.clips[clip].placement.source] else {
            return nil
        }
        return descriptions[path].map { (path, $0) }
    }

    /// How a track is not what the composition is said to be; nil where it is.
    private func mismatch(_ track: TrackDescription) -> String? {
        let own = Canvas(like: track)
        if own.size != canvas.size {
            return "it is shown with \(own.size) pixels, and the composition with \(canvas.size)"
        }
        if let rate = asked?.frameRate?.value, track.frameRate != rate || !track.hasConstantFrameRate {
            return "it doesn't have the \(rate) frames a second that the composition is to have"
        }
        if track.sideData.contains(TrackDescription.changingHeaders) {
            return "it goes on with other headers where files were joined"
        }
        if track.sideData.contains(TrackDescription.unordered) { return "its decoding times go back" }
        return nil
    }

    /// When a clip's first frame comes on the time line: its own start, where it is there within a frame or is shown from the start
    /// although it comes later.
    func beginning(of clip: Int) -> MediaTime? {
        guard let track = track(of: clip) else { return nil }
        let placement = composition.clips[clip].placement
        let late = track.timeRange.start - placement.sourceRange.start
        let frame = MediaTime(ticks: 1, timeBase: canvas.frameRate.inverted)
        return late > frame && !composition.clips[clip].leadIn.holds(late)
            ? placement.timeRange.start + late : placement.timeRange.start
    }

    // MARK: Where they are cut

    /// The unit of the cut's times; nil where there is none.
    func tick(_ stretches: [CompositionStretch]) -> Rational? {
        var clock: [(timeBase: Rational, timeZero: MediaTime)] = []
        var (cuts, places): ([MediaTime], [MediaTime]) = ([], [])
        var seen: Set<String> = []
        for stretch in stretches {
            places.append(stretch.timeRange.start)
            guard case .clip(let clip) = stretch.content, let source = source(of: clip),
                let track = track(of: clip)
            else { continue }
            if seen.insert("\(track.index) \(source.path)").inserted {
                clock.append((track.timeBase, source.description.timeZero))
            }
            cuts.append(range(of: stretch, in: clip).start)
        }
        let isMade = stretches.contains { if case .made = $0.content { true } else { false } }
        return SmartCut.tick(
            clock: clock, cuts: cuts, places: places, frames: isMade ? canvas.frameRate.inverted : nil)
    }

    /// What a stretch is of its clip's source.
    private func range(of stretch: CompositionStretch, in clip: Int) -> TimeRange {
        let placement = composition.clips[clip].placement
        let start = placement.sourceRange.start + (stretch.timeRange.start - placement.timeRange.start)
        return TimeRange(start: start, duration: stretch.timeRange.duration)
    }

    /// How ranges of a clip's track are cut.
    func cut(
        of clip: Int, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration? = nil,
        through prober: any SourceProber
    ) throws(SourceProblem) -> CutPossibilities? {
        guard let source = source(of: clip) else { return nil }
        return try prober.clipCut(
            composition.clips[clip].placement.track, of: source.path, ranges: ranges, tick: tick,
            encoder: encoder)
    }

    /// Looks into the packets of all clips, those of a file at once, several files at a time. What doesn't fit what most of the time
    /// line is becomes unfit.
    mutating func cuts(
        _ stretches: [CompositionStretch], tick: Rational, through prober: any SourceProber
    ) throws(SourceProblem) -> Found {
        var files: [String: Int] = [:]
        var wanted: [(clip: Int, stretches: [Int])] = []
        for (index, stretch) in stretches.enumerated() {
            guard case .clip(let clip) = stretch.content, let source = source(of: clip) else { continue }
            let key = "\(composition.clips[clip].placement.track) \(source.path)"
            if let known = files[key] {
                wanted[known].stretches.append(index)
            } else {
                files[key] = wanted.count
                wanted.append((clip, [index]))
            }
        }
        let (asked, clips) = (wanted, self)
        let answers = Guarded([Result<CutPossibilities?, SourceProblem>?](repeating: nil, count: asked.count))
        DispatchQueue.concurrentPerform(iterations: asked.count) { @Sendable place in
            let ranges = asked[place].stretches.map { index in
                guard case .clip(let clip) = stretches[index].content else {
                    return stretches[index].timeRange
                }
                return clips.range(of: stretches[index], in: clip)
            }
            let answer: Result<CutPossibilities?, SourceProblem> = Result { () throws(SourceProblem) in
                try clips.cut(of: asked[place].clip, ranges: ranges, tick: tick, through: prober)
            }
            answers.withLock { $0[place] = answer }
        }
        var found = Found()
        var forms: [(form: CutForm, length: MediaTime, clip: Int)] = []
        var formOf: [Int: CutForm] = [:]
        for (one, answer) in zip(asked, answers.withLock { $0 }) {
            guard let possibilities = try answer?.get() ?? nil else {
                set(one.stretches, of: stretches, "its track is gone")
                continue
            }
            guard let cut = possibilities.smart, let form = possibilities.form,
                cut.parts.count == one.stretches.count
            else {
                set(
                    one.stretches, of: stretches,
                    possibilities.obstacle?.description ?? "its packets can't be read")
                continue
            }
            found.cuts[one.clip] = cut
            var length = MediaTime.zero
            for (index, part) in zip(one.stretches, cut.parts) {
                found.parts[index] = part
                length = length + stretches[index].timeRange.duration
            }
            formOf[one.clip] = form
            if let known = forms.firstIndex(where: { $0.form == form }) {
                forms[known].length = forms[known].length + length
            } else {
                forms.append((form, length, one.clip))
            }
        }
        // What most of the time line is; of two the first one.
        guard
            let usual = forms.enumerated().max(by: {
                ($0.element.length, -$0.offset) < ($1.element.length, -$1.offset)
            })?.element
        else { return found }
        reference = track(of: usual.clip).map { Reference(index: usual.clip, track: $0) }
        for one in asked {
            guard let form = formOf[one.clip], let difference = usual.form.difference(of: form) else {
                continue
            }
            set(one.stretches, of: stretches, difference)
            found.cuts[one.clip] = nil
        }
        return found
    }

    private mutating func set(_ indices: [Int], of stretches: [CompositionStretch], _ why: String) {
        for index in indices {
            if case .clip(let clip) = stretches[index].content { unfit[clip] = why }
        }
    }
}

extension TrackDescription {
    /// A composition's track once packets of clips are its own: it is like theirs, and where and what it is to people is the composition's.
    func with(packetsLike like: TrackDescription, over timeRange: TimeRange) -> TrackDescription {
        var track = like
        (track.index, track.id, track.timeRange) = (index, id, timeRange)
        // How many there are, and where they end, is known once they are read.
        (track.isExact, track.hasOwnDuration, track.sampleCount) = (false, true, nil)
        (track.hiddenPartOfPacket, track.isAttachedPicture, track.hasConstantFrameRate) = (nil, false, false)
        track.sideData = like.carriedKinds
        (track.language, track.title, track.tags, track.disposition) = (language, title, tags, disposition)
        return track
    }

    /// The same of frames, of which the cut says how many there are.
    func with(_ clips: JoinedClips) -> TrackDescription {
        var track = with(
            packetsLike: clips.like, over: TimeRange(start: .zero, duration: clips.duration))
        (track.isExact, track.sampleCount, track.timeBase) = (true, clips.cut.pictureCount, clips.cut.tick)
        return track
    }
}
