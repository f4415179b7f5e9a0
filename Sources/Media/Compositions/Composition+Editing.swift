/// Edits of the whole time line (`AVMutableComposition`): clips, layers, audio, subtitle events and chapters move
/// together. A method that throws leaves the composition unchanged.
extension Composition {
    /// Inserts a part of an asset at a time; everything after that time moves back (`insertTimeRange(_:of:at:)`).
    /// Loads the asset synchronously if it isn't loaded yet.
    ///
    /// - Parameters:
    ///   - asset: the asset to insert.
    ///   - timeRange: the part of the asset; nil for all of it.
    ///   - time: the position at which the part starts.
    ///   - fit: scaling mode of the frames on the canvas.
    /// - Throws: `MediaError.invalidArgument` for a time outside the composition or within a transition, and the errors of
    ///   `append`.
    public mutating func insert(
        _ asset: Asset, timeRange: TimeRange? = nil, at time: MediaTime, fit: FrameFit = .contain
    ) throws {
        var (edited, rest) = try divided(at: time)
        try edited.append(asset, timeRange: timeRange, fit: fit)
        try edited.append(rest)
        self = edited
    }

    /// Inserts a gap of black frames and silence; everything after its start moves back (`insertEmptyTimeRange(_:)`).
    /// - Throws: `MediaError.invalidArgument` for a start outside the composition or within a transition, and for an empty
    ///   range.
    public mutating func insertGap(_ range: TimeRange) throws {
        var (edited, rest) = try divided(at: range.start)
        try edited.appendGap(range.duration)
        try edited.append(rest)
        self = edited
    }

    /// Removes a range; everything after it moves forward (`removeTimeRange(_:)`).
    /// - Throws: `MediaError.invalidArgument` for a range outside the composition, for the whole composition, and for a range
    ///   that begins or ends within a transition.
    public mutating func remove(_ range: TimeRange) throws {
        try check(range)
        var edited = try part(TimeRange(start: .zero, end: range.start))
        try edited.append(part(TimeRange(start: range.end, end: duration)))
        guard edited.duration > .zero else {
            throw MediaError.invalidArgument("the edited composition would be empty")
        }
        edited.subtitles.removeAll(where: \.clips.isEmpty)
        self = edited
    }

    /// Changes the duration of a range by playing it faster or slower; audio keeps its pitch
    /// (`scaleTimeRange(_:toDuration:)`).
    /// - Throws: `MediaError.invalidArgument` for a range that `remove` rejects, for repeated audio or burned-in subtitles in
    ///   the range, and if the speed of a clip would be below 0.01 or above 100.
    public mutating func scale(_ range: TimeRange, to length: MediaTime) throws {
        try check(range)
        guard length > .zero else {
            throw MediaError.invalidArgument("the duration of the range must be greater than 0")
        }
        var edited = try part(TimeRange(start: .zero, end: range.start))
        try edited.append(part(range).scaled(to: length))
        try edited.append(part(TimeRange(start: range.end, end: duration)))
        self = edited
    }

    // MARK: Parts

    private func check(_ range: TimeRange) throws {
        guard range.start >= .zero, range.duration > .zero, range.end <= duration else {
            throw MediaError.invalidArgument("the range is outside the composition")
        }
    }

    private func divided(at time: MediaTime) throws -> (Composition, Composition) {
        guard time >= .zero, time <= duration else {
            throw MediaError.invalidArgument("the time is outside the composition")
        }
        return try (
            part(TimeRange(start: .zero, end: time)), part(TimeRange(start: time, end: duration))
        )
    }

    /// Returns the content of a range as a composition that begins at zero, with the same sources and the same number
    /// of subtitle tracks.
    private func part(_ range: TimeRange) throws -> Composition {
        var part = self
        part.duration = range.duration
        for (clip, next) in zip(clips, clips.dropFirst()) {
            let (begin, end) = (next.placement.timeRange.start, clip.placement.timeRange.end)
            let isDivided =
                range.start >= begin && range.start < end || range.end > begin && range.end <= end
            if range.duration > .zero, isDivided {
                throw MediaError.invalidArgument("a composition can't be divided within a join")
            }
        }
        part.clips = clips.compactMap { clip in
            var clip = clip
            guard let placement = clip.placement.part(range) else { return nil }
            clip.placement = placement
            return clip
        }
        part.layers = try layers.compactMap { try $0.part(range) }
        part.audio = try audioPart(range)
        for index in subtitles.indices {
            part.subtitles[index].clips = subtitles[index].clips.compactMap { $0.part(range) }
        }
        part.chapters = chapters.compactMap { chapter in
            chapter.timeRange.part(range).map { AssetChapter(timeRange: $0, title: chapter.title) }
        }
        return part
    }

    /// Returns the audio items in a range. A range that starts within a repetition divides the item in two: the rest of
    /// that repetition, and the following ones.
    private func audioPart(_ range: TimeRange) throws -> [AudioClip] {
        var clips: [AudioClip] = []
        let keys = Set(audio.compactMap(\.ducking?.under))
        // New indices of items by their old ones, for ducking.
        var newIndices: [Int: Int] = [:]
        for (index, clip) in audio.enumerated() {
            let pieces = clip.part(range)
            guard pieces.count < 2 || !keys.contains(index) else {
                throw MediaError.invalidArgument(
                    "a repeated audio item that other items duck under can't be split inside a repetition")
            }
            if !pieces.isEmpty { newIndices[index] = clips.count }
            clips += pieces
        }
        for index in clips.indices {
            guard let ducking = clips[index].ducking else { continue }
            clips[index].ducking = newIndices[ducking.under].map {
                Ducking(under: $0, billionths: ducking.billionths)
            }
        }
        return clips
    }

    /// Appends another part of the same composition, in which sources and subtitle tracks have the same indices.
    private mutating func append(_ part: Composition) throws {
        guard part.duration > .zero else { return }
        let offset = duration
        clips += part.clips.map { clip in
            var clip = clip
            clip.placement.timeRange.start = clip.placement.timeRange.start + offset
            return clip
        }
        layers += part.layers.map { $0.moved(by: offset) }
        let count = audio.count
        audio += part.audio.map { $0.moved(by: offset, count) }
        for index in part.subtitles.indices {
            subtitles[index].clips += part.subtitles[index].clips.map { clip in
                var clip = clip
                clip.timeRange.start = clip.timeRange.start + offset
                return clip
            }
        }
        for var chapter in part.chapters {
            let isDivided = chapter.timeRange.start == .zero && chapters.last?.title == chapter.title
            chapter.timeRange.start = chapter.timeRange.start + offset
            if isDivided, let last = chapters.indices.last {
                chapters[last].timeRange = TimeRange(
                    start: chapters[last].timeRange.start, end: chapter.timeRange.end)
            } else {
                chapters.append(chapter)
            }
        }
        duration = offset + part.duration
    }

    /// Returns this composition, played faster or slower so that it has another duration.
    private func scaled(to length: MediaTime) throws -> Composition {
        let scale = ClipPlacement(
            source: 0, track: 0, sourceRange: TimeRange(start: .zero, duration: duration),
            timeRange: TimeRange(start: .zero, duration: length))
        var scaled = self
        scaled.duration = length
        for index in clips.indices { scaled.clips[index].placement.timeRange.scale(scale) }
        for index in layers.indices { scaled.layers[index] = try layers[index].scaled(scale) }
        for index in audio.indices {
            guard !audio[index].isRepeated else {
                throw MediaError.invalidArgument("the speed of repeated audio can't be changed")
            }
            scaled.audio[index].placement.timeRange.scale(scale)
            scaled.audio[index].volume.scale(scale)
        }
        for track in subtitles.indices {
            for index in subtitles[track].clips.indices {
                scaled.subtitles[track].clips[index].timeRange.scale(scale)
            }
        }
        for index in chapters.indices { scaled.chapters[index].timeRange.scale(scale) }
        guard (scaled.clips.map(\.placement) + scaled.audio.map(\.placement)).allSatisfy(\.isPlayable) else {
            throw MediaError.invalidArgument("the speed of a clip must be from 0.01 to 100")
        }
        return scaled
    }
}

// MARK: Parts of a composition's elements

extension TimeRange {
    /// Returns the intersection with a range, relative to the range's start; nil if it is empty.
    fileprivate func part(_ range: TimeRange) -> TimeRange? {
        let inside = TimeRange(start: max(start, range.start), end: min(end, range.end))
        guard inside.duration > .zero else { return nil }
        return TimeRange(start: inside.start - range.start, duration: inside.duration)
    }

    fileprivate mutating func scale(_ scale: ClipPlacement) {
        self = TimeRange(start: scale.time(ofSource: start), end: scale.time(ofSource: end))
    }
}

extension VolumeEnvelope {
    fileprivate mutating func move(by time: MediaTime) {
        for index in points.indices { points[index].time = points[index].time + time }
    }

    fileprivate mutating func scale(_ scale: ClipPlacement) {
        for index in points.indices { points[index].time = scale.time(ofSource: points[index].time) }
    }
}

extension ClipPlacement {
    fileprivate func part(_ range: TimeRange) -> ClipPlacement? {
        guard let inside = timeRange.part(range) else { return nil }
        // Times that have no common timescale are rounded to nanoseconds, which may exceed the bounds.
        func source(_ time: MediaTime) -> MediaTime {
            min(max(sourceTime(at: range.start + time), sourceRange.start), sourceRange.end)
        }
        var part = self
        part.timeRange = inside
        part.sourceRange = TimeRange(start: source(inside.start), end: source(inside.end))
        return part.sourceRange.duration > .zero ? part : nil
    }
}

extension AudioClip {
    fileprivate func part(_ range: TimeRange) -> [AudioClip] {
        var part = self
        part.volume.move(by: .zero - range.start)
        guard isRepeated else {
            guard let inside = placement.part(range) else { return [] }
            part.placement = inside
            return [part]
        }
        guard let inside = placement.timeRange.part(range) else { return [] }
        part.placement.timeRange = inside
        let round = placement.sourceRange.duration
        let skipped = range.start + inside.start - placement.timeRange.start
        let into = skipped.remainder(of: round)
        guard into > .zero else { return [part] }
        var rest = part
        rest.isRepeated = false
        let length = min(round - into, inside.duration)
        rest.placement.sourceRange = TimeRange(
            start: placement.sourceRange.start + into, duration: length)
        rest.placement.timeRange.duration = length
        guard length < inside.duration else { return [rest] }
        part.placement.timeRange = TimeRange(start: inside.start + length, end: inside.end)
        return [rest, part]
    }

    fileprivate func moved(by time: MediaTime, _ shift: Int) -> AudioClip {
        var moved = self
        moved.placement.timeRange.start = placement.timeRange.start + time
        moved.volume.move(by: time)
        moved.ducking?.under += shift
        return moved
    }
}

extension Layer {
    fileprivate func part(_ range: TimeRange) throws -> Layer? {
        guard let inside = timeRange.part(range) else { return nil }
        var part = self
        part.timeRange = inside
        part.opacity.move(by: .zero - range.start)
        switch content {
        case .frames(let placement, let rectangle, let settings):
            guard let placement = placement.part(range) else { return nil }
            part.content = .frames(placement, in: rectangle, settings: settings)
        case .text: break
        case .subtitles:
            guard timeRange.start >= range.start else {
                throw MediaError.invalidArgument("subtitles that are drawn into frames can't be divided")
            }
        }
        return part
    }

    fileprivate func moved(by time: MediaTime) -> Layer {
        var moved = self
        moved.timeRange.start = timeRange.start + time
        moved.opacity.move(by: time)
        if case .frames(var placement, let rectangle, let settings) = content {
            placement.timeRange.start = placement.timeRange.start + time
            moved.content = .frames(placement, in: rectangle, settings: settings)
        }
        return moved
    }

    fileprivate func scaled(_ scale: ClipPlacement) throws -> Layer {
        var scaled = self
        scaled.timeRange.scale(scale)
        scaled.opacity.scale(scale)
        switch content {
        case .frames(var placement, let rectangle, let settings):
            placement.timeRange.scale(scale)
            guard placement.isPlayable else {
                throw MediaError.invalidArgument("the speed of a layer must be from 0.01 to 100")
            }
            scaled.content = .frames(placement, in: rectangle, settings: settings)
        case .text: break
        case .subtitles:
            throw MediaError.invalidArgument(
                "the speed of subtitles that are drawn into frames can't be changed")
        }
        return scaled
    }
}
