internal import LibAV

/// Draws subtitles into the frames of another producer.
final class BurnedFrames: SampleProducer {
    private let frames: any SampleProducer
    private let makeOverlay: (OverlayTarget) -> SubtitleOverlay
    private let color: ColorDescription
    private let pixelAspect: Rational?
    private var drawing: (target: OverlayTarget, overlay: SubtitleOverlay)?

    /// Creates a producer; `makeOverlay` creates the overlay for frames like the first one. `color` and `pixelAspect` are
    /// properties of the frames.
    init(
        _ frames: any SampleProducer, color: ColorDescription, pixelAspect: Rational?,
        makeOverlay: @escaping (OverlayTarget) -> SubtitleOverlay
    ) {
        self.frames = frames
        (self.color, self.pixelAspect) = (color, pixelAspect)
        self.makeOverlay = makeOverlay
    }

    var droppedSamples: Int { frames.droppedSamples }
    var formatChange: MediaTime? { frames.formatChange }
    var interlacedFrom: MediaTime? { frames.interlacedFrom }

    func next() throws -> SampleSupply {
        switch try frames.next() {
        case .pending: return .pending
        case .ended: return .ended
        case .sample(let sample):
            let (pts, duration, timeBase) = (sample.pts, sample.duration, sample.timeBase)
            guard let frame = sample.takeFrame() else {
                throw MediaError.internalError("subtitles are drawn into packets")
            }
            let drawing: (target: OverlayTarget, overlay: SubtitleOverlay)
            if let known = self.drawing {
                drawing = known
            } else {
                let target = OverlayTarget(
                    like: frame, color: color, pixelAspect: pixelAspect, timeBase: timeBase)
                drawing = (target, makeOverlay(target))
                self.drawing = drawing
            }
            let drawn = try drawing.overlay.put(
                above: frame, at: MediaTime(ticks: pts, timeBase: timeBase),
                timeBase.rescale(pts, to: drawing.target.timeBase))
            return .sample(SampleBuffer(frame: drawn, pts: pts, duration: duration, timeBase: timeBase))
        }
    }
}

extension ProducerFactory {
    /// Creates a producer that draws subtitles into the frames of a video output.
    /// - Throws: `MediaError.invalidArgument` if the subtitles are in a source that isn't a file.
    func burned(
        _ samples: any SampleProducer, _ subtitles: BurnedSubtitles, _ settings: VideoOutputSettings,
        of output: AssetReaderOutput
    ) throws -> BurnedFrames {
        let path: String
        if let own = subtitles.path {
            path = own
        } else if case .file(let own) = source {
            path = own
        } else {
            throw MediaError.invalidArgument("subtitles can only be read from a file")
        }
        let opener = CompositionOpener(
            sources: [.file(path)], environment: media, interrupt: interrupt, movement: movement,
            damage: output.damage, decoderThreads: nil)
        let times = SubtitleTimes(joining: ranges)
        let format = output.track.format
        let size = PixelSize(width: format.width, height: format.height)
        var color = settings.color ?? ColorDescription()
        color.matrix = color.matrix ?? settings.matrix ?? settings.filtered?.matrix ?? format.color.matrix
        color.range = settings.levels ?? settings.filtered?.range ?? format.color.range
        return BurnedFrames(
            samples, color: color, pixelAspect: subtitles.pixelAspectRatio ?? format.pixelAspectRatio
        ) { [media, ranges, isOpen] target in
            SubtitleOverlay(
                subtitles.style, on: target, times: times, in: media.folder,
                place: { _ in
                    SubtitlePlacement(
                        settings, of: size,
                        isSquare: (format.pixelAspectRatio ?? Rational(1, 1)) == Rational(1, 1),
                        into: target)
                }
            ) { try opener.readSubtitles(source: 0, track: subtitles.track, $0, of: ranges, isOpen: isOpen) }
        }
    }
}
