internal import LibAV

/// Draws bitmap subtitles into frames. Packets are decoded as their times are reached.
final class ImageSubtitleRenderer: SubtitleRenderer {
    /// A display with its time range on the time line of the subtitles.
    private struct Event {
        var display: SubtitleDisplay
        var start: MediaTime
        /// Time at which the display ends; nil if it is shown until the next one.
        var end: MediaTime?
    }

    /// An image that is ready to be laid over frames.
    private final class Layer {
        let frame: Frame
        let x: Int
        let y: Int
        let filter = FrameFilter("drawing subtitles")

        init(_ frame: consuming Frame, x: Int, y: Int) {
            self.frame = frame
            (self.x, self.y) = (x, y)
        }
    }

    private let target: OverlayTarget
    private let placement: SubtitlePlacement
    private let format: OverlayFormat
    private let open: SubtitleOverlay.Open
    private var read: CompositionRead
    private var decoder: SubtitleImageDecoder
    /// Index of the range that is read.
    private var section: Int
    private var current: Event?
    private var next: Event?
    private var isFinished = false
    /// The layers of `current`.
    private var layers: [Layer] = []

    /// Creates a renderer for a track whose packets of a range are read. `open` starts reading those of another one.
    /// - Throws: `MediaError` if the track or the pixel format of the frames isn't supported.
    init(
        _ read: CompositionRead, section: Int, target: OverlayTarget, placement: SubtitlePlacement,
        open: @escaping SubtitleOverlay.Open
    ) throws {
        guard let format = OverlayFormat(target.pixelFormat) else {
            throw MediaError.invalidSettings(
                "images of subtitles can't be drawn into \(target.pixelFormat) frames")
        }
        self.format = format
        (self.target, self.placement, self.open) = (target, placement, open)
        (self.read, self.section) = (read, section)
        decoder = try Self.decoder(of: read)
    }

    private static func decoder(of read: CompositionRead) throws -> SubtitleImageDecoder {
        let track = read.output.track
        do throws(AVError) {
            return try SubtitleImageDecoder.open(track.format.parameters, timeBase: track.timeBase)
        } catch {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    func draw(
        into base: consuming Frame, at position: (section: Int, time: MediaTime), _ index: Int64
    ) throws -> Frame {
        if position.section != section { try begin(position.section) }
        try advance(to: position.time)
        guard let current, current.end.map({ position.time < $0 }) ?? true else { return base }
        do throws(AVError) {
            var whole = base
            for layer in layers { whole = try put(layer, above: whole, index) }
            return whole
        } catch {
            throw MediaError.encoding(track: .part(.subtitles), error)
        }
    }

    /// Starts reading a range.
    private func begin(_ section: Int) throws {
        read = try open(section)
        decoder = try Self.decoder(of: read)
        self.section = section
        (current, next, isFinished, layers) = (nil, nil, false, [])
    }

    /// Decodes the events up to a time.
    private func advance(to time: MediaTime) throws {
        while true {
            if next == nil { next = try nextEvent() }
            guard let event = next, event.start <= time else { return }
            next = nil
            current = event
            do throws(AVError) {
                layers = try self.layers(of: event.display)
            } catch {
                throw MediaError.encoding(track: .part(.subtitles), error)
            }
        }
    }

    private func nextEvent() throws -> Event? {
        while !isFinished {
            guard let packet = try read.next() else {
                isFinished = true
                break
            }
            let start = packet.presentationTime
            let display: SubtitleDisplay?
            do {
                display = try packet.withPacket { try decoder.decode($0) } ?? nil
            } catch let error as AVError {
                try read.output.damage.handle(error, of: read.output.track.reference, at: start)
                continue
            }
            guard let display else { continue }
            func after(_ milliseconds: Int64) -> MediaTime {
                start + MediaTime(value: milliseconds, timescale: 1000)
            }
            var end = display.end.map(after)
            if packet.duration > 0 {
                let stated = start + MediaTime(ticks: packet.duration, timeBase: packet.timeBase)
                end = min(end ?? stated, stated)
            }
            return Event(display: display, start: after(display.start), end: end)
        }
        return nil
    }

    // MARK: Drawing

    private func layers(of display: SubtitleDisplay) throws(AVError) -> [Layer] {
        let canvas = PixelSize(width: display.canvasWidth, height: display.canvasHeight)
        var layers: [Layer] = []
        for whole in display.images {
            guard let visible = whole.trimmed() else { continue }
            let (image, rectangle) = placement.place(visible, of: canvas, in: target.size)
            let frame = try converted(try Self.frame(of: image), to: rectangle)
            layers.append(Layer(frame, x: rectangle.x, y: rectangle.y))
        }
        return layers
    }

    private static func frame(of image: SubtitleImage) throws(AVError) -> Frame {
        let frame = try Frame.video(format: .rgba, width: image.width, height: image.height)
        _ = frame.withPixels(ofPlane: 0) { bytes, plane in
            image.pixels.withUnsafeBytes { pixels in
                for row in 0..<min(plane.rows, image.height) {
                    let source = UnsafeRawBufferPointer(
                        rebasing: pixels[row * image.width * 4..<(row + 1) * image.width * 4])
                    UnsafeMutableRawBufferPointer(
                        rebasing: bytes[row * plane.bytesPerRow..<row * plane.bytesPerRow + image.width * 4]
                    ).copyMemory(from: source)
                }
            }
        }
        return frame
    }

    /// Returns an image in the size of its rectangle and in the color properties of the frames.
    private func converted(
        _ image: consuming Frame, to rectangle: PixelRectangle
    ) throws(AVError) -> Frame {
        let size = PixelSize(width: rectangle.width, height: rectangle.height)
        let isScaled = image.width != size.width || image.height != size.height
        let steps =
            (isScaled ? VideoOutputSettings.scalingWithAlpha(to: size) : []) + [
                target.colorConversion, FilterStep("format", ["pix_fmts": "\(format.layerFormat)"]),
            ]
        return try FrameFilter("drawing subtitles").frame(of: image, at: 0) { image throws(AVError) in
            try FilterGraph.video(
                steps, like: image, timeBase: Rational(1, 1000), sampleAspectRatio: Rational(1, 1),
                frameRate: nil)
        }
    }

    private func put(
        _ layer: Layer, above base: consuming Frame, _ index: Int64
    ) throws(AVError) -> Frame {
        let whole = try layer.filter.frame(of: base, and: try layer.frame.reference(), at: index) {
            base, image throws(AVError) in
            try target.overlayGraph(format, x: layer.x, y: layer.y, like: base, and: image)
        }
        if target.setsColor { whole.applyColor(target.color) }
        return whole
    }
}
