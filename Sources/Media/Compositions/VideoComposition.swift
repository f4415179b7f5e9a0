internal import LibAV

/// Composition of the frames of an asset's tracks (AVFoundation's `AVVideoComposition`).
public struct VideoComposition: Codable, Hashable, Sendable {
    /// One track of a composition (AVFoundation's `AVVideoCompositionLayerInstruction`).
    public struct Input: Codable, Hashable, Sendable {
        /// The track's index in its asset.
        public var track: Int
        /// Position and size of the frames, in pixels of the canvas; nil for the whole canvas.
        public var rectangle: PixelRectangle?
        /// Scaling mode for `rectangle`. Default: `contain`.
        public var fit: FrameFit
        /// Time range on the asset's time line; nil for that of the track.
        public var timeRange: TimeRange?
        /// Opacity as an envelope on the asset's time line; a factor of 1 is opaque.
        public var opacity: VolumeEnvelope
        /// Rotation around the center, in thousandths of a degree clockwise. Default: 0.
        public var rotation: Int

        /// Creates an input, which by default covers the canvas, opaque and not rotated.
        public init(
            track: Int, in rectangle: PixelRectangle? = nil, fit: FrameFit = .contain,
            timeRange: TimeRange? = nil, opacity: VolumeEnvelope = .full, rotation: Int = 0
        ) {
            self.track = track
            self.rectangle = rectangle
            self.fit = fit
            self.timeRange = timeRange
            self.opacity = opacity
            self.rotation = rotation
        }
    }

    /// The tracks, from bottom to top. Frames are black where no track is shown.
    public var inputs: [Input]
    /// Format of the frames (`renderSize`, `frameDuration`).
    public var canvas: Canvas

    /// Creates a composition of tracks, given from bottom to top.
    public init(inputs: [Input], canvas: Canvas) {
        self.inputs = inputs
        self.canvas = canvas
    }

    /// Creates a composition of one track, upright and with square pixels, on a canvas of its size
    /// (`init(propertiesOf:)`).
    public init(of track: AssetTrack) {
        self.init(inputs: [Input(track: track.index)], canvas: Canvas(like: track.description))
    }

    /// Returns a `Composition` with the same frames, of one source; `tracks` contains the track of each input, in
    /// order.
    func composition(of source: CompositionSource, _ tracks: [TrackDescription]) throws -> Composition {
        var composition = Composition()
        composition.sources = [source]
        composition.canvas = canvas
        composition.duration = tracks.map(\.timeRange.end).max() ?? .zero
        for (input, track) in zip(inputs, tracks) {
            let own = track.timeRange
            let wanted = input.timeRange ?? own
            let range = TimeRange(start: max(own.start, wanted.start), end: min(own.end, wanted.end))
            guard range.start >= .zero, range.duration > .zero else {
                throw MediaError.invalidArgument("track \(input.track) has no frame at the requested time")
            }
            let placement = ClipPlacement(
                source: 0, track: input.track, sourceRange: range, timeRange: range)
            let whole = PixelRectangle(x: 0, y: 0, width: canvas.size.width, height: canvas.size.height)
            let rectangle = input.rectangle ?? whole
            guard rectangle != whole || !composition.isEmpty || !input.opacity.isFull || input.rotation != 0
            else {
                composition.clips.append(
                    VideoClip(
                        placement: placement,
                        settings: VideoOutputSettings(track, on: canvas, fit: input.fit)))
                continue
            }
            var settings = VideoOutputSettings(
                track, on: canvas, fit: input.fit,
                box: PixelSize(width: rectangle.width, height: rectangle.height))
            settings.pixelFormat = canvas.layerFormat(at: rectangle)
            composition.layers.append(
                Layer(
                    content: .frames(placement, in: rectangle, settings: settings), timeRange: range,
                    opacity: input.opacity, rotation: input.rotation))
        }
        return composition
    }

    /// Returns a track that describes the composed frames.
    func composedTrack(of tracks: [TrackDescription]) throws -> AssetTrack {
        // The path is a placeholder; the reader sets the source.
        let contents = try composition(of: .file("/"), tracks).contents()
        guard let track = contents.tracks.first else {
            throw MediaError.invalidArgument("the composition is invalid")
        }
        return track
    }

    /// Returns the description of the composed frames, with the index of the first input. `known` contains the inputs'
    /// tracks.
    package func description(of known: [TrackDescription]) throws -> TrackDescription {
        let tracks = try inputs.map { input in
            guard let track = known.first(where: { $0.index == input.track }) else {
                throw MediaError.invalidArgument("track \(input.track) doesn't exist, or is not video")
            }
            return track
        }
        guard let first = tracks.first else {
            throw MediaError.invalidArgument("a composition requires a track")
        }
        var description = try composedTrack(of: tracks).description
        (description.index, description.id) = (first.index, first.id)
        (description.language, description.title, description.tags) = (
            first.language, first.title, first.tags
        )
        description.disposition = first.disposition
        return description
    }
}

extension Composition {
    /// Whether there is neither a clip nor a layer.
    fileprivate var isEmpty: Bool { clips.isEmpty && layers.isEmpty }
}

extension CompositionSource {
    /// Converts an asset's source.
    /// - Throws: `MediaError.invalidArgument` for a composition, which can't be part of another one.
    init(_ source: Asset.Source) throws {
        switch source {
        case .file(let path): self = .file(path)
        case .pattern(let pattern): self = .pattern(pattern)
        case .images(let sequence): self = .images(sequence)
        case .composition: throw MediaError.invalidArgument("a composition can't be part of another one")
        }
    }
}
