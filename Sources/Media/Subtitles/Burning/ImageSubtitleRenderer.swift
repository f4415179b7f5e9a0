internal import LibAV

/// Draws bitmap subtitles into frames. Packets are decoded as their times are reached.
final class ImageSubtitleRenderer: SubtitleRenderer {
    /// A display with its time range on the time line of the frames.
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

    private let read: CompositionRead
    private let target: OverlayTarget
    private let times: SubtitleTimes
    private let placement: SubtitlePlacement
    private let decoder: SubtitleImageDecoder
    private let overlayFormat: String
    private var current: Event?
    private var next: Event?
    private var isFinished = false
    /// The layers of `current`.
    private var layers: [Layer] = []

    /// Creates a renderer for a track whose packets are read.
    /// - Throws: `MediaError` if the track or the pixel format of the frames isn't supported.
    init(
        _ read: CompositionRead, target: OverlayTarget, times: SubtitleTimes, placement: SubtitlePlacement
    ) throws {
        (self.read, self.target, self.times, self.placement) = (read, target, times, placement)
        let track = read.output.track
        guard let format = OverlayTarget.overlayFormat(of: target.pixelFormat) else {
            throw MediaError.invalidSettings(
                "images of subtitles can't be drawn into \(target.pixelFormat) frames")
        }
        overlayFormat = format
        do throws(AVError) {
            decoder = try SubtitleImageDecoder.open(track.format.parameters, timeBase: track.timeBase)
        } catch {
            throw MediaError.reading(track: track.reference, at: nil, error)
        }
    }

    func draw(into base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame {
        try advance(to: time)
        guard let current, current.end.map({ time < $0 }) ?? true, times.end.map({ time < $0 }) ?? true,
            times.section(of: current.start) == times.section(of: time)
        else { return base }
        do throws(AVError) {
            var whole = base
            for layer in layers { whole = try put(layer, above: whole, index) }
            return whole
        } catch {
            throw MediaError.encoding(track: .part(.subtitles), error)
        }
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
            let start = times.offset + packet.presentationTime
            let display: SubtitleDisplay?
            do {
                display = try packet.withPacket { try decoder.decode($0) } ?? nil
            } catch let error as AVError {
                try read.output.damage.handle(
                    error, of: read.output.track.reference, at: packet.presentationTime)
                continue
            }
            guard let display else { continue }
            func after(_ milliseconds: Int64) -> MediaTime {
                start + MediaTime(value: milliseconds, timescale: 1000)
            }
            var end = display.end.map(after)
            // The reader trims events with a duration to the range.
            if packet.duration > 0 {
                let trimmed = start + MediaTime(ticks: packet.duration, timeBase: packet.timeBase)
                end = min(end ?? trimmed, trimmed)
            }
            return Event(display: display, start: after(display.start), end: end)
        }
        return nil
    }

    // MARK: Drawing

    private func layers(of display: SubtitleDisplay) throws(AVError) -> [Layer] {
        let canvas = PixelSize(width: display.canvasWidth, height: display.canvasHeight)
        var layers: [Layer] = []
        for image in display.images {
            let (image, rectangle) = placement.place(image, of: canvas, in: target.size)
            let frame = try converted(try Self.frame(of: image), to: rectangle)
            layers.append(Layer(frame, x: rectangle.x, y: rectangle.y))
        }
        return layers
    }

    private static func frame(of image: SubtitleImage) throws(AVError) -> Frame {
        guard let format = PixelFormat(named: "rgba") else {
            throw AVError(code: -22, operation: "drawing subtitles")
        }
        let frame = try Frame.video(format: format, width: image.width, height: image.height)
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
                FilterStep(
                    "scale",
                    [
                        "flags": "bicubic",
                        "out_color_matrix": ColorDescription.scaleName(ofMatrix: target.color.matrix)
                            ?? ColorDescription.scaleName(
                                ofMatrix: ColorDescription.defaultMatrix(
                                    width: target.size.width, height: target.size.height)) ?? "bt709",
                        "out_range": (target.color.range ?? target.pixelFormat.defaultRange).rawValue,
                    ]), FilterStep("format", ["pix_fmts": "\(target.layerFormat)"]),
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
            try FilterGraph.video(
                [
                    FilterNode(
                        FilterStep(
                            "overlay",
                            [
                                "x": "\(layer.x)", "y": "\(layer.y)", "eval": "init",
                                "format": overlayFormat,
                            ]), inputs: [.input(0), .input(1)]),
                    FilterNode(
                        FilterStep("format", ["pix_fmts": "\(target.pixelFormat)"]), inputs: [.node(0)]),
                ], like: base, and: image, timeBase: target.timeBase, frameRate: target.frameRate)
        }
        if target.setsColor { whole.applyColor(target.color) }
        return whole
    }
}
