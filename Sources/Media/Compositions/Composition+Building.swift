internal import LibAV

/// What a program puts a composition together with (`AVMutableComposition`).
extension Composition {
    /// Puts a part of an asset behind what is there: its first track of frames and its first track of audio, together, with its cues (`insertTimeRange`).
    /// It is loaded now where it isn't yet: `load(.contents)` before does it elsewhere.
    /// The first asset decides about the canvas and the audio's form where nothing is said yet.
    ///
    /// - Parameters:
    ///   - asset: what is appended.
    ///   - timeRange: what of the asset; nil for all of it.
    ///   - join: how it takes the place of what is before it where they overlap.
    ///   - overlap: how long it and what is before it are on screen and heard at once.
    ///   - fit: how its frames get into the canvas.
    /// - Throws: `MediaError.misuse` of a composition, of a range that is none, and of an overlap that is longer than a neighbour.
    public mutating func append(
        _ asset: Asset, timeRange: TimeRange? = nil, join: JoinKind = .dissolve, overlap: MediaTime = .zero,
        fit: FrameFit = .contain
    ) throws {
        let contents = try Self.contents(of: asset)
        try append(contents, of: try CompositionSource(asset.source), timeRange, join, overlap, fit)
    }

    /// Nothing is seen or heard for so long (`insertEmptyTimeRange`).
    public mutating func appendGap(_ length: MediaTime) throws {
        guard length > .zero else { throw MediaError.misuse("a gap lasts some time") }
        duration = duration + length
    }

    /// Adds a part of an asset's first track of audio to what is heard, from a time on; what reaches past the end is not heard. It is
    /// loaded now where it isn't yet.
    /// - Throws: `MediaError` where there is none.
    public mutating func mix(
        _ asset: Asset, timeRange: TimeRange? = nil, at start: MediaTime = .zero,
        volume: VolumeEnvelope = .full
    ) throws {
        let contents = try Self.contents(of: asset)
        guard let track = contents.tracks.first(where: { $0.mediaType == .audio }) else {
            throw MediaError.noTrack(.audio)
        }
        setAudioForm(of: track)
        let range = timeRange ?? TimeRange(start: .zero, duration: contents.duration)
        let length = min(range.duration, duration - start)
        guard range.duration > .zero, start >= .zero, length > .zero else {
            throw MediaError.misuse("audio begins before the end of a composition, and lasts some time")
        }
        let source = place(of: try CompositionSource(asset.source))
        audio.append(
            AudioClip(
                placement: ClipPlacement(
                    source: source, track: track.index,
                    sourceRange: TimeRange(start: range.start, duration: length),
                    timeRange: TimeRange(start: start, duration: length)), volume: volume))
    }

    private static func contents(of asset: Asset) throws -> AssetContents {
        do {
            return try asset.loadSynchronously()
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }

    private mutating func append(
        _ contents: AssetContents, of source: CompositionSource, _ timeRange: TimeRange?, _ join: JoinKind,
        _ overlap: MediaTime, _ fit: FrameFit
    ) throws {
        let range = timeRange ?? TimeRange(start: .zero, duration: contents.duration)
        guard range.start >= .zero, range.duration > .zero, range.end <= contents.duration else {
            throw MediaError.misuse("the range is none of the asset's")
        }
        let video = contents.tracks.first { $0.mediaType == .video && !$0.isAttachedPicture }
        let heard = contents.tracks.first { $0.mediaType == .audio }
        if video == nil, heard == nil { throw MediaError.noTrack(.video) }
        if canvas == nil, let video {
            let size = video.displaySize
            func even(_ side: Double) -> Int { max(16, Int((side / 2).rounded()) * 2) }
            canvas = Canvas(
                size: PixelSize(width: even(size.width), height: even(size.height)),
                frameRate: video.nominalFrameRate ?? Rational(25, 1))
        }
        if let heard { setAudioForm(of: heard) }
        let longest = clips.last.map(\.placement.timeRange.duration) ?? .zero
        guard overlap >= .zero, overlap == .zero || overlap < range.duration && overlap < longest else {
            throw MediaError.misuse("two assets overlap by less than each of them lasts")
        }
        let place = place(of: source)
        let shown = TimeRange(start: duration - overlap, duration: range.duration)
        if let video, let canvas {
            clips.append(
                VideoClip(
                    placement: ClipPlacement(
                        source: place, track: video.index, sourceRange: range, timeRange: shown),
                    settings: VideoOutputSettings(video.description, on: canvas, fit: fit), join: join))
        }
        if overlap > .zero { fadeOut(before: duration, for: overlap) }
        if let heard {
            audio.append(
                AudioClip(
                    placement: ClipPlacement(
                        source: place, track: heard.index, sourceRange: range, timeRange: shown),
                    volume: overlap > .zero ? .rising(from: shown.start, for: overlap) : .full))
        }
        carry(
            contents.tracks.map(\.description),
            of: ClipPlacement(source: place, track: 0, sourceRange: range, timeRange: shown))
        duration = shown.end
    }

    /// What ends just where the next one's overlap does becomes silent over it.
    private mutating func fadeOut(before end: MediaTime, for length: MediaTime) {
        guard let last = audio.indices.last, audio[last].placement.timeRange.end == end else { return }
        audio[last].volume = audio[last].volume.falling(until: end, for: length)
    }

    private mutating func setAudioForm(of track: AssetTrack) {
        guard audioForm == nil else { return }
        audioForm = AudioForm(
            sampleRate: max(8000, track.format.sampleRate),
            layout: track.format.channelLayout?.specified ?? .stereo)
    }

    /// Where a source is among the composition's, which has it from now on.
    public mutating func place(of source: CompositionSource) -> Int {
        if let known = sources.firstIndex(of: source) { return known }
        sources.append(source)
        return sources.count - 1
    }
}

extension VolumeEnvelope {
    /// From silence to full.
    public static func rising(from start: MediaTime, for length: MediaTime) -> VolumeEnvelope {
        VolumeEnvelope([
            Point(time: start, thousandths: 0), Point(time: start + length, thousandths: 1000),
        ])
    }

    /// The same, but falling to silence at the end; what it had there is cut off.
    public func falling(until end: MediaTime, for length: MediaTime) -> VolumeEnvelope {
        let start = end - length
        var points = points.filter { $0.time < start }
        points.append(Point(time: start, billionths: billionths(at: start)))
        points.append(Point(time: end, thousandths: 0))
        return VolumeEnvelope(points)
    }
}
