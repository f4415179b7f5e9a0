internal import LibAV

/// Position of a subtitle's canvas in the frames into which its images are drawn. The canvas covers the frame of the video
/// for which the subtitle was created.
struct SubtitlePlacement {
    /// Size of the frame that the canvas covers.
    var whole: PixelSize
    /// Part of `whole` that is kept.
    var kept: PixelRectangle
    /// Rectangle of the frames that contains `kept`.
    var content: PixelRectangle
    /// Whether the pixels of `whole` are square.
    var isSquare: Bool

    /// Creates the placement of a source's subtitles in frames of a composition. The frames of its first video track are
    /// fitted into them; without video, the canvas covers the frames.
    init(of read: CompositionRead, on canvas: Canvas) {
        let frame = canvas.size
        var shape = (width: Double(frame.width), height: Double(frame.height))
        whole = frame
        isSquare = true
        if let video = read.tracks.first(where: { $0.mediaType == .video })?.format, video.width > 0,
            video.height > 0
        {
            let aspect = video.pixelAspectRatio?.double ?? 1
            shape = (Double(video.width) * aspect, Double(video.height))
            whole = PixelSize(width: video.width, height: video.height)
            isSquare = aspect == 1
        }
        kept = PixelRectangle(x: 0, y: 0, width: whole.width, height: whole.height)
        content = Self.centered(frame.fitting(shape, covers: false), in: frame, canvas.pixelFormat)
    }

    /// Creates the placement of a canvas that covers the frames of a track of a size, in the frames to which settings
    /// convert them. Filters are assumed to keep positions.
    init(
        _ settings: VideoOutputSettings, of track: PixelSize, isSquare: Bool, into target: OverlayTarget
    ) {
        self.isSquare = isSquare
        whole = track
        kept = settings.crop ?? PixelRectangle(x: 0, y: 0, width: track.width, height: track.height)
        if let turn = settings.turn {
            kept = turn.turned(kept, in: whole)
            if turn.isQuarter { whole = PixelSize(width: whole.height, height: whole.width) }
        }
        var inner = target.size
        if settings.fit == .contain || settings.fit == .cover { inner = settings.innerSize ?? inner }
        content = Self.centered(inner, in: target.size, target.pixelFormat)
    }

    /// Returns the rectangle of scaled frames in the center of a frame. Bars are as wide as those of libavfilter's `pad`,
    /// which aligns their inner edges to chroma samples.
    private static func centered(
        _ inner: PixelSize, in frame: PixelSize, _ format: PixelFormat
    ) -> PixelRectangle {
        let unit = format.chromaSubsampling
        func start(_ space: Int, _ unit: Int) -> Int { space < 0 ? space / 2 : space / 2 / unit * unit }
        return PixelRectangle(
            x: start(frame.width - inner.width, unit.x), y: start(frame.height - inner.height, unit.y),
            width: inner.width, height: inner.height)
    }

    /// Returns the rectangle of `whole` that a canvas covers: all of it, or more if the video is a crop of the frames that
    /// the canvas was made for, as in copies of films without their black bars.
    private func covered(by canvas: PixelSize) -> (x: Double, y: Double, width: Double, height: Double) {
        let (width, height) = (Double(whole.width), Double(whole.height))
        let (shape, own) = (Double(canvas.width) / Double(canvas.height), width / height)
        let isWide = isSquare && abs(shape * 9 / 16 - 1) < 0.02
        guard abs(shape / own - 1) > 0.02,
            canvas.width == whole.width || canvas.height == whole.height || isWide
        else { return (0, 0, width, height) }
        let scale = max(width / Double(canvas.width), height / Double(canvas.height))
        let (wide, high) = (Double(canvas.width) * scale, Double(canvas.height) * scale)
        return ((width - wide) / 2, (height - high) / 2, wide, high)
    }

    /// Returns an image of a canvas with its rectangle in frames of a size. Position and sides of the rectangle are even;
    /// an image that isn't scaled is padded with transparent pixels instead of moved. An image that would exceed the frame
    /// is moved into it, or reduced to it.
    func place(
        _ image: SubtitleImage, of canvas: PixelSize, in frame: PixelSize
    ) -> (image: SubtitleImage, rectangle: PixelRectangle) {
        let canvas = canvas.width > 0 && canvas.height > 0 ? canvas : whole
        let area = covered(by: canvas)
        let across = Axis(
            origin: image.x, length: image.width, canvas: canvas.width, area: (area.x, area.width),
            kept: (kept.x, kept.width), content: (content.x, content.width))
        let along = Axis(
            origin: image.y, length: image.height, canvas: canvas.height, area: (area.y, area.height),
            kept: (kept.y, kept.height), content: (content.y, content.height))
        if let (x, width) = across.unscaled(image.width, in: frame.width),
            let (y, height) = along.unscaled(image.height, in: frame.height)
        {
            let padded = image.padded(left: x & 1, top: y & 1, width: width, height: height)
            return (padded, PixelRectangle(x: x & ~1, y: y & ~1, width: width, height: height))
        }
        let reduction = min(
            1, Double(frame.width) / max(1, across.length), Double(frame.height) / max(1, along.length))
        let (x, width) = across.scaled(by: reduction, in: frame.width)
        let (y, height) = along.scaled(by: reduction, in: frame.height)
        return (image, PixelRectangle(x: x, y: y, width: width, height: height))
    }

    /// Position and length of an image in one dimension of the frames.
    private struct Axis {
        /// Left or upper edge in pixels of the frame.
        var start: Double
        /// Width or height in pixels of the frame.
        var length: Double

        init(
            origin: Int, length: Int, canvas: Int, area: (start: Double, length: Double),
            kept: (start: Int, length: Int), content: (start: Int, length: Int)
        ) {
            let unit = area.length / Double(max(1, canvas))
            let scale = Double(content.length) / Double(max(1, kept.length))
            start =
                (area.start + Double(origin) * unit - Double(kept.start)) * scale + Double(content.start)
            self.length = Double(length) * unit * scale
        }

        /// Returns the edge of an image with that many pixels, and its padded length; nil if the image is scaled, or doesn't
        /// fit into the frame.
        func unscaled(_ pixels: Int, in frame: Int) -> (edge: Int, length: Int)? {
            guard abs(length - Double(pixels)) < 0.01, pixels <= frame else { return nil }
            let edge = max(0, min(Int(start.rounded()), frame - pixels))
            let used = (edge & 1) + pixels
            let padded = used + (used & 1)
            return (edge & ~1) + padded <= frame ? (edge, padded) : nil
        }

        /// Returns the even edge and length of a scaled image.
        func scaled(by reduction: Double, in frame: Int) -> (edge: Int, length: Int) {
            func even(_ value: Double) -> Int { Int((value / 2).rounded()) * 2 }
            let reduced = max(2, min(even(length * reduction), frame & ~1))
            // A reduced image keeps its center.
            let start = start + (length - length * reduction) / 2
            return (max(0, min(even(start), (frame - reduced) & ~1)), reduced)
        }
    }
}

extension FrameRotation {
    /// Returns a rectangle of a frame in the rotated frame.
    fileprivate func turned(_ box: PixelRectangle, in frame: PixelSize) -> PixelRectangle {
        var box = box
        if isReflected { box.x = frame.width - box.x - box.width }
        switch clockwiseDegrees {
        case 90:
            return PixelRectangle(
                x: frame.height - box.y - box.height, y: box.x, width: box.height, height: box.width)
        case 180:
            return PixelRectangle(
                x: frame.width - box.x - box.width, y: frame.height - box.y - box.height,
                width: box.width, height: box.height)
        case 270:
            return PixelRectangle(
                x: box.y, y: frame.width - box.x - box.width, width: box.height, height: box.width)
        default: return box
        }
    }
}

extension SubtitleImage {
    /// Returns the part of the image that isn't transparent; nil if there is none.
    func trimmed() -> SubtitleImage? {
        var (left, top, right, bottom) = (width, height, -1, -1)
        pixels.withUnsafeBufferPointer { pixels in
            for row in 0..<height {
                for column in 0..<width where pixels[(row * width + column) * 4 + 3] != 0 {
                    (left, right) = (min(left, column), max(right, column))
                    (top, bottom) = (min(top, row), row)
                }
            }
        }
        guard right >= 0 else { return nil }
        if left == 0, top == 0, right == width - 1, bottom == height - 1 { return self }
        var kept: [UInt8] = []
        kept.reserveCapacity((right - left + 1) * (bottom - top + 1) * 4)
        for row in top...bottom {
            kept += pixels[(row * width + left) * 4..<(row * width + right + 1) * 4]
        }
        return SubtitleImage(
            x: x + left, y: y + top, width: right - left + 1, height: bottom - top + 1, pixels: kept)
    }

    /// Returns the image with transparent pixels around it.
    fileprivate func padded(left: Int, top: Int, width: Int, height: Int) -> SubtitleImage {
        if width == self.width, height == self.height { return self }
        var padded = [UInt8](repeating: 0, count: width * height * 4)
        for row in 0..<self.height {
            let at = ((row + top) * width + left) * 4
            padded.replaceSubrange(
                at..<at + self.width * 4, with: pixels[row * self.width * 4..<(row + 1) * self.width * 4])
        }
        return SubtitleImage(x: x - left, y: y - top, width: width, height: height, pixels: padded)
    }
}
