internal import LibAV

/// Methods that build a composition (`AVMutableComposition`).
extension Composition {
    /// Appends a part of an asset: its first video track and its first audio track, together with its subtitles
    /// (`insertTimeRange`). The first asset determines the canvas and the audio format if they aren't set. Loads the
    /// asset synchronously if it isn't loaded yet; to load it asynchronously, call `load(.contents)` first.
    ///
    /// - Parameters:
    ///   - asset: the asset to append.
    ///   - timeRange: the part of the asset; nil for all of it.
    ///   - join: the transition from the previous clip while they overlap.
    ///   - overlap: duration of the overlap with the previous clip.
    ///   - fit: scaling mode of the frames on the canvas.
    /// - Throws: `MediaError.invalidArgument` for an asset that is a composition, for a range outside the asset, for an overlap
    ///   that isn't shorter than both clips or begins before the previous overlap ends, and for frames that are too small, too
    ///   large or too many a second for a composition; `MediaError.noTrack` for an asset without video and audio.
    public mutating func append(
        _ asset: Asset, timeRange: TimeRange? = nil, join: JoinKind = .dissolve, overlap: MediaTime = .zero,
        fit: FrameFit = .contain
    ) throws {
        let contents = try Self.contents(of: asset)
        try append(contents, of: try CompositionSource(asset.source), timeRange, join, overlap, fit)
    }

    /// Extends the composition by a gap of black frames and silence (`insertEmptyTimeRange`).
    /// - Throws: `MediaError.invalidArgument` if the length isn't greater than 0.
    public mutating func appendGap(_ length: MediaTime) throws {
        guard length > .zero else {
            throw MediaError.invalidArgument("the duration of a gap must be greater than 0")
        }
        duration = duration + length
    }

    /// Adds a part of an asset's first audio track to the mix, starting at `start`. The part is cut at the
    /// composition's end. Loads the asset synchronously if it isn't loaded yet.
    /// - Throws: `MediaError.noTrack` for an asset without audio, and `MediaError.invalidArgument` for a range outside the
    ///   asset or a start outside the composition.
    public mutating func mix(
        _ asset: Asset, timeRange: TimeRange? = nil, at start: MediaTime = .zero,
        volume: VolumeEnvelope = .full
    ) throws {
        let contents = try Self.contents(of: asset)
        guard let track = contents.tracks.first(where: { $0.mediaType == .audio }) else {
            throw MediaError.noTrack(.audio)
        }
        let range = try Self.range(timeRange, in: contents)
        let length = min(range.duration, duration - start)
        guard start >= .zero, length > .zero else {
            throw MediaError.invalidArgument(
                "audio must begin before the end of the composition, with a duration greater than 0")
        }
        let source = index(of: try CompositionSource(asset.source))
        setAudioFormat(of: track)
        audio.append(
            AudioClip(
                placement: ClipPlacement(
                    source: source, track: track.index,
                    sourceRange: TimeRange(start: range.start, duration: length),
                    timeRange: TimeRange(start: start, duration: length)), volume: volume))
    }

    /// Returns a part of an asset, or all of it for nil. Throws if the part is empty or not within the asset.
    private static func range(_ part: TimeRange?, in contents: AssetContents) throws -> TimeRange {
        let range = part ?? TimeRange(start: .zero, duration: contents.duration)
        guard range.start >= .zero, range.duration > .zero, range.end <= contents.duration else {
            throw MediaError.invalidArgument("the range is outside the asset")
        }
        return range
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
        let range = try Self.range(timeRange, in: contents)
        let video = contents.tracks.first { $0.mediaType == .video && !$0.isAttachedPicture }
        let audioTrack = contents.tracks.first { $0.mediaType == .audio }
        if video == nil, audioTrack == nil { throw MediaError.noTrack(.video) }
        let longest = clips.last.map(\.placement.timeRange.duration) ?? .zero
        guard overlap >= .zero, overlap == .zero || overlap < range.duration && overlap < longest else {
            throw MediaError.invalidArgument("the overlap must be shorter than each of the two assets")
        }
        let start = duration - overlap
        if video != nil, let previous = clips.dropLast().last, previous.placement.timeRange.end > start {
            throw MediaError.invalidArgument("the overlap begins before the previous overlap ends")
        }
        if canvas == nil, let video { canvas = try Self.canvas(of: video) }
        if let audioTrack { setAudioFormat(of: audioTrack) }
        let sourceIndex = index(of: source)
        let shown = TimeRange(start: start, duration: range.duration)
        if let video, let canvas {
            clips.append(
                VideoClip(
                    placement: ClipPlacement(
                        source: sourceIndex, track: video.index, sourceRange: range, timeRange: shown),
                    settings: VideoOutputSettings(video.description, on: canvas, fit: fit), join: join))
        }
        if overlap > .zero { fadeOut(before: duration, for: overlap) }
        if let audioTrack {
            audio.append(
                AudioClip(
                    placement: ClipPlacement(
                        source: sourceIndex, track: audioTrack.index, sourceRange: range, timeRange: shown),
                    volume: overlap > .zero ? .rising(from: shown.start, for: overlap) : .full))
        }
        carry(
            contents.tracks.map(\.description),
            of: ClipPlacement(source: sourceIndex, track: 0, sourceRange: range, timeRange: shown))
        duration = shown.end
    }

    /// Returns the canvas for a track: its frame size, rounded to even numbers, and its frame rate.
    private static func canvas(of video: AssetTrack) throws -> Canvas {
        let size = video.displaySize
        func even(_ side: Double) -> Int { max(16, Int((side / 2).rounded()) * 2) }
        let canvas = Canvas(
            size: PixelSize(width: even(size.width), height: even(size.height)),
            frameRate: video.nominalFrameRate ?? Rational(25, 1))
        guard canvas.isValid else {
            throw MediaError.invalidArgument(
                "the asset's frames (\(canvas.size) at \(canvas.frameRate) a second) are outside the limits of a composition"
            )
        }
        return canvas
    }

    /// Fades out the last audio item during an overlap that ends at `end`, if the item ends there.
    private mutating func fadeOut(before end: MediaTime, for length: MediaTime) {
        guard let last = audio.indices.last, audio[last].placement.timeRange.end == end else { return }
        audio[last].volume = audio[last].volume.falling(until: end, for: length)
    }

    private mutating func setAudioFormat(of track: AssetTrack) {
        guard audioFormat == nil else { return }
        audioFormat = CompositionAudioFormat(
            sampleRate: max(8000, track.format.sampleRate),
            layout: track.format.channelLayout?.specified ?? .stereo)
    }

    /// Returns the index of a source in `sources`, to which it is added if needed.
    package mutating func index(of source: CompositionSource) -> Int {
        if let known = sources.firstIndex(of: source) { return known }
        sources.append(source)
        return sources.count - 1
    }
}

extension VolumeEnvelope {
    /// Returns a fade-in from silence to full volume.
    public static func rising(from start: MediaTime, for length: MediaTime) -> VolumeEnvelope {
        VolumeEnvelope([
            Point(time: start, thousandths: 0), Point(time: start + length, thousandths: 1000),
        ])
    }

    /// Returns this envelope with a fade-out to silence at `end`; points during the fade are removed.
    public func falling(until end: MediaTime, for length: MediaTime) -> VolumeEnvelope {
        let start = end - length
        var points = points.filter { $0.time < start }
        points.append(Point(time: start, billionths: billionths(at: start)))
        points.append(Point(time: end, thousandths: 0))
        return VolumeEnvelope(points)
    }
}
