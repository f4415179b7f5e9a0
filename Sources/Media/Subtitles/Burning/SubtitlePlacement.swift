internal import LibAV

/// Position of a subtitle's canvas in the frames into which its images are drawn. The canvas covers the frame of the video
/// for which the subtitle was created.
struct SubtitlePlacement: Equatable {
    /// Size of the frame that the canvas covers.
    var whole: PixelSize
    /// Part of `whole` that is kept.
    var kept: PixelRectangle
    /// Rectangle of the frames that shows `kept`.
    var picture: PixelRectangle

    /// Creates the placement of a source's subtitles in frames of a size. The frames of its first video track, which the
    /// canvas covers, are fitted into them; without video, the canvas covers the frames.
    init(of read: CompositionRead, on canvas: Canvas) {
        let frame = canvas.size
        var shape = (width: Double(frame.width), height: Double(frame.height))
        if let video = read.tracks.first(where: { $0.mediaType == .video })?.format, video.width > 0,
            video.height > 0
        {
            shape = (Double(video.width) * (video.pixelAspectRatio?.double ?? 1), Double(video.height))
        }
        self.init(fitting: shape, into: frame)
    }

    /// Creates the placement of a canvas that covers frames of a shape, which are fitted into frames of a size.
    init(fitting aspect: (width: Double, height: Double), into frame: PixelSize) {
        let inner = frame.fitting(aspect, covers: false)
        whole = inner
        kept = PixelRectangle(x: 0, y: 0, width: inner.width, height: inner.height)
        picture = PixelRectangle(
            x: (frame.width - inner.width) / 2, y: (frame.height - inner.height) / 2, width: inner.width,
            height: inner.height)
    }

    /// Creates the placement of a canvas that covers the frames of a track, in frames of a size that settings convert
    /// them to. Filters are assumed to keep positions.
    init(_ settings: VideoOutputSettings, of track: PixelSize, into frame: PixelSize) {
        let isTurned = settings.turn.map { !$0.isNone } ?? false
        whole = track
        kept = PixelRectangle(x: 0, y: 0, width: track.width, height: track.height)
        // The canvas of a rotated video covers the upright picture, whose parts aren't known.
        if let crop = settings.crop, !isTurned { kept = crop }
        var inner = frame
        if settings.fit == .contain || settings.fit == .cover { inner = settings.innerSize ?? frame }
        picture = PixelRectangle(
            x: (frame.width - inner.width) / 2, y: (frame.height - inner.height) / 2, width: inner.width,
            height: inner.height)
    }

    /// Returns an image of a canvas with its rectangle in frames of a size. Position and sides of the rectangle are even;
    /// an image that isn't scaled is padded with transparent pixels instead of moved. An image that would exceed the frame
    /// is moved into it, or reduced to it.
    func place(
        _ image: SubtitleImage, of canvas: PixelSize, in frame: PixelSize
    ) -> (image: SubtitleImage, rectangle: PixelRectangle) {
        let canvas = canvas.width > 0 && canvas.height > 0 ? canvas : whole
        let across = Axis(
            origin: image.x, length: image.width, canvas: canvas.width, whole: whole.width,
            kept: (kept.x, kept.width), picture: (picture.x, picture.width))
        let along = Axis(
            origin: image.y, length: image.height, canvas: canvas.height, whole: whole.height,
            kept: (kept.y, kept.height), picture: (picture.y, picture.height))
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

    /// One dimension of an image in the frames.
    private struct Axis {
        /// Left or upper edge in pixels of the frame.
        var start: Double
        /// Width or height in pixels of the frame.
        var length: Double

        init(
            origin: Int, length: Int, canvas: Int, whole: Int, kept: (start: Int, length: Int),
            picture: (start: Int, length: Int)
        ) {
            let unit = Double(whole) / Double(max(1, canvas))
            let scale = Double(picture.length) / Double(max(1, kept.length))
            start = (Double(origin) * unit - Double(kept.start)) * scale + Double(picture.start)
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
            let length = max(2, min(even(length * reduction), frame & ~1))
            return (max(0, min(even(start), (frame - length) & ~1)), length)
        }
    }
}

extension SubtitleImage {
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
