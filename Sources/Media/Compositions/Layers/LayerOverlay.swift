internal import LibAV

/// Draws an overlay onto the frames of a composition, in order.
protocol FrameOverlay: AnyObject {
    /// Starts reading the overlay's source for a time of the composition.
    func prepare(at time: MediaTime) throws
    /// Returns the frame with the overlay drawn onto it; `index` is the frame's number in the composition.
    func put(above base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame
}

/// Draws one layer onto the frames of a composition, in order (libavfilter's `overlay`). Confined to one queue.
final class LayerOverlay: FrameOverlay {
    private let layer: Layer
    private let canvas: Canvas
    private let clip: ClipFrames?
    private let filter = FrameFilter("overlaying a layer")
    private let alignment = FrameFilter("aligning a layer")
    private let sharing = FrameFilter("aligning a layer")
    /// Number of frames that were aligned.
    private var count: Int64 = 0
    private let rotation: LayerRotation?
    /// The rendered layer of a still image or text; nil until it is first shown.
    private var drawn: Frame?
    /// Position of the layer's center, in half pixels.
    private var middle: (x: Int, y: Int)
    /// The last result of `reducingOpacity` and its opacity: most frames of a still layer are equal.
    private var faded: Frame?
    private var fadedValue = -1

    /// Creates an overlay; `clip` supplies the frames, nil for text.
    init(_ layer: Layer, canvas: Canvas, clip: ClipFrames?) {
        self.layer = layer
        self.canvas = canvas
        self.clip = clip
        rotation = LayerRotation(layer.rotation)
        if case .frames(_, let placement, _) = layer.content {
            middle = (2 * placement.x + placement.width, 2 * placement.y + placement.height)
        } else {
            middle = (canvas.size.width, canvas.size.height)
        }
    }

    func prepare(at time: MediaTime) throws { try clip?.prepare(at: max(time, layer.timeRange.start)) }

    func put(above base: consuming Frame, at time: MediaTime, _ index: Int64) throws -> Frame {
        let value = layer.opacity.value(at: time)
        guard value > 0, let image = try image(at: time) else { return base }
        do throws(AVError) {
            return try put(try reducingOpacity(image, to: value), above: base, index)
        } catch {
            throw MediaError.encoding(track: .part(.layer), error)
        }
    }

    private func image(at time: MediaTime) throws -> Frame? {
        if let whole = drawn.take() {
            drawn = try whole.reference()
            return whole
        }
        let isText = if case .text = layer.content { true } else { false }
        do {
            guard let own = isText ? try drawnText() : try clip?.frame(at: time) else { return nil }
            let turned: Frame
            if let rotation { turned = try rotation.rotate(own) } else { turned = own }
            let layer = try aligned(turned)
            if isText || clip?.isStill == true { drawn = try layer.reference() }
            return layer
        } catch let error as AVError {
            throw MediaError.encoding(track: .part(isText ? .text : .layer), error)
        }
    }

    /// Returns the position of the upper left corner of a layer with this size.
    private func corner(width: Int, height: Int) -> (x: Int, y: Int) {
        ((middle.x - width) / 2, (middle.y - height) / 2)
    }

    /// Pads the layer for its position. On 4:2:0 frames, `overlay` supports only even positions. A layer at an odd
    /// position therefore gets a transparent pixel on each side, with the color of its neighbor; its chroma is
    /// subsampled afterwards.
    private func aligned(_ image: consuming Frame) throws(AVError) -> Frame {
        let (x, y) = corner(width: image.width, height: image.height)
        let (across, along) = (x & 1, y & 1)
        guard canvas.isSubsampled, across + along > 0 else { return image }
        let padded = try alignment.frame(of: image, at: count) { image throws(AVError) in
            try FilterGraph.video(
                [
                    FilterStep("format", ["pix_fmts": "yuva444p"]),
                    FilterStep(
                        "pad",
                        [
                            "w": "iw+\(2 * across)", "h": "ih+\(2 * along)", "x": "\(across)",
                            "y": "\(along)",
                        ]),
                    FilterStep(
                        "fillborders",
                        [
                            "left": "\(across)", "right": "\(across)", "top": "\(along)",
                            "bottom": "\(along)",
                            "mode": "smear",
                        ]),
                ], like: image, timeBase: Rational(1, 1000), sampleAspectRatio: Rational(1, 1), frameRate: nil
            )
        }
        padded.clearAlpha(across: across, along: along)
        defer { count += 1 }
        return try sharing.frame(of: padded, at: count) { padded throws(AVError) in
            try FilterGraph.video(
                [
                    FilterStep("scale", ["flags": "area"]),
                    FilterStep("format", ["pix_fmts": "\(PixelFormat.yuva420p)"]),
                ], like: padded, timeBase: Rational(1, 1000), sampleAspectRatio: Rational(1, 1),
                frameRate: nil)
        }
    }

    /// Draws the text onto a frame of the canvas's size. A rotated text is cropped to its visible part.
    private func drawnText() throws(AVError) -> Frame? {
        guard case .text(let text) = layer.content else { return nil }
        let whole = try text.draw(on: canvas)
        guard rotation != nil, let box = whole.visible() else { return whole }
        middle = (2 * box.x + box.width, 2 * box.y + box.height)
        return try whole.cut(to: box)
    }

    /// Returns the layer with its alpha multiplied by `value` / 1000.
    private func reducingOpacity(_ image: consuming Frame, to value: Int) throws(AVError) -> Frame {
        guard value < 1000, image.planeCount > 3 else { return image }
        // Results are reused only for still content.
        let isStill = clip?.isStill ?? true
        if isStill, fadedValue == value, let same = faded.take() {
            let copy = try same.reference()
            faded = consume same
            return copy
        }
        let copy = try image.copied()
        _ = copy.withPixels(ofPlane: 3) { bytes, _ in
            for index in bytes.indices { bytes[index] = UInt8(Int(bytes[index]) * value / 1000) }
        }
        if isStill {
            faded = try copy.reference()
            fadedValue = value
        }
        return copy
    }

    private func put(
        _ image: consuming Frame, above base: consuming Frame, _ index: Int64
    ) throws(AVError) -> Frame {
        let whole = try filter.frame(of: base, and: image, at: index, build: graph)
        whole.applyColor(canvas.color)
        return whole
    }

    private func graph(
        of base: borrowing Frame, and image: borrowing Frame
    ) throws(AVError) -> FilterGraph {
        let (x, y) = corner(width: image.width, height: image.height)
        return try OverlayTarget(canvas).overlayGraph(
            OverlayFormat(canvas.pixelFormat) ?? .yuv420, x: x, y: y, like: base, and: image)
    }
}

extension TextLayer {
    /// Draws the text onto a transparent frame of the canvas's size.
    func draw(on canvas: Canvas) throws(AVError) -> Frame {
        let rate = canvas.frameRate
        func edge(_ one: Int?, _ other: Int?, _ whole: String, _ own: String) -> String {
            if let one { return "\(one)" }
            if let other { return "\(whole)-\(own)-\(other)" }
            return "(\(whole)-\(own))/2"
        }
        let graph = try FilterGraph.generator(
            [
                FilterStep(
                    "color",
                    // The background has the text's color, so that antialiased edges keep it.
                    ["color": "\(color)@0", "size": "\(canvas.size)", "rate": "\(rate.num)/\(rate.den)"]),
                FilterStep("format", ["pix_fmts": "rgba"]),
                FilterStep(
                    "drawtext",
                    [
                        "fontfile": fontFile, "text": text, "expansion": "none", "fontsize": "\(size)",
                        "fontcolor": color, "x": edge(position.left, position.right, "w", "text_w"),
                        "y": edge(position.top, position.bottom, "h", "text_h"), "fix_bounds": "0",
                    ]),
                OverlayTarget(canvas).colorConversion,
                FilterStep("format", ["pix_fmts": "\(canvas.layerFormat)"]),
            ], mediaType: .video)
        let frame = try Frame()
        guard case .ready = try graph.receive(into: frame) else {
            throw AVError(code: -11, operation: "drawing text")
        }
        return frame
    }
}
