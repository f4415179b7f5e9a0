internal import LibAV

/// How frames of an asset's tracks become one (AVFoundation's `AVVideoComposition`).
public struct VideoComposition: Codable, Hashable, Sendable {
    /// One track of a composition (AVFoundation's `AVVideoCompositionLayerInstruction`).
    public struct Input: Codable, Hashable, Sendable {
        /// The track's index in its asset.
        public var track: Int
        /// Where its frames stand, in pixels of the canvas; nil for all of it.
        public var rectangle: PixelRectangle?
        /// How they get into that.
        public var fit: FrameFit
        /// When they are seen, on the asset's time line; nil for as long as the track lasts.
        public var timeRange: TimeRange?
        /// How much of what is below it covers, over the asset's time line: 1000 is all of it.
        public var opacity: VolumeEnvelope
        /// How far it is rotated around its middle, in thousandths of a degree clockwise.
        public var rotation: Int

        /// Makes an input.
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

    /// The tracks, later ones above earlier ones; where there is none, frames are black.
    public var inputs: [Input]
    /// What frames are (`renderSize`, `frameDuration`).
    public var canvas: Canvas

    /// Makes a composition.
    public init(inputs: [Input], canvas: Canvas) {
        self.inputs = inputs
        self.canvas = canvas
    }

    /// A track alone, upright and with square pixels, on a canvas like it (`init(propertiesOf:)`).
    public init(of track: AssetTrack) {
        self.init(inputs: [Input(track: track.index)], canvas: Canvas(like: track.description))
    }

    /// The same as a composition of a source: `tracks` are those of the inputs, in their order.
    func composition(of source: CompositionSource, _ tracks: [AssetTrack]) throws -> Composition {
        var composition = Composition()
        composition.sources = [source]
        composition.canvas = canvas
        composition.duration = tracks.map(\.timeRange.end).max() ?? .zero
        for (input, track) in zip(inputs, tracks) {
            let own = track.timeRange
            let wanted = input.timeRange ?? own
            let range = TimeRange(start: max(own.start, wanted.start), end: min(own.end, wanted.end))
            guard range.start >= .zero, range.duration > .zero else {
                throw MediaError.misuse("track \(input.track) is not there at the time that is asked for")
            }
            let placement = ClipPlacement(
                source: 0, track: input.track, sourceRange: range, timeRange: range)
            let whole = PixelRectangle(x: 0, y: 0, width: canvas.size.width, height: canvas.size.height)
            let place = input.rectangle ?? whole
            guard place != whole || !composition.isEmpty || !input.opacity.isFull || input.rotation != 0
            else {
                composition.clips.append(
                    VideoClip(
                        placement: placement,
                        settings: VideoOutputSettings(track.description, on: canvas, fit: input.fit)))
                continue
            }
            var settings = VideoOutputSettings(
                track.description, on: canvas, fit: input.fit,
                box: PixelSize(width: place.width, height: place.height))
            settings.pixelFormat = canvas.layerFormat(at: place)
            composition.layers.append(
                Layer(
                    content: .frames(placement, in: place, settings: settings), timeRange: range,
                    opacity: input.opacity, rotation: input.rotation))
        }
        return composition
    }

    /// What composed frames are as a track.
    func composedTrack(of tracks: [AssetTrack]) throws -> AssetTrack {
        // What it is made of is for the reader to say.
        let contents = try AssetLoader.contents(of: composition(of: .file("/"), tracks))
        guard let track = contents.tracks.first else {
            throw MediaError.misuse("the composition makes no sense")
        }
        return track
    }
}

extension Composition {
    /// Nothing is seen.
    fileprivate var isEmpty: Bool { clips.isEmpty && layers.isEmpty }
}

extension CompositionSource {
    /// An asset as a part of a composition.
    /// - Throws: `MediaError.misuse` of a composition.
    init(_ source: Asset.Source) throws {
        switch source {
        case .file(let path): self = .file(path)
        case .pattern(let pattern): self = .pattern(pattern)
        case .images(let sequence): self = .images(sequence)
        case .composition: throw MediaError.misuse("a composition is no part of another one")
        }
    }
}
