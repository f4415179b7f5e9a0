internal import LibAV

extension VideoOutputSettings {
    /// Creates settings that convert a track's frames to a canvas: rotated upright, deinterlaced, scaled, and converted
    /// to its colors. `box` is the size of the frames on the canvas; nil for the whole canvas.
    package init(
        _ track: TrackDescription, on canvas: Canvas, fit: FrameFit = .contain, box: PixelSize? = nil
    ) {
        self.init(pixelFormat: box == nil ? canvas.pixelFormat : canvas.layerFormat, size: box ?? canvas.size)
        self.fit = fit
        if track.isInterlaced { deinterlacing = .auto } else { deinterlacesLateFields = true }
        var (width, height) = (Double(max(1, track.width)), Double(max(1, track.height)))
        if let aspect = track.pixelAspectRatio, aspect.isPositive { width *= aspect.double }
        if let rotation = track.transform?.rotation, !rotation.isNone {
            turn = rotation
            if rotation.isQuarter { (width, height) = (height, width) }
        }
        let target = box ?? canvas.size
        if fit == .contain || fit == .cover {
            let inner = target.fitting((width, height), covers: fit == .cover)
            // Frames that fill the target need no bars and no crop.
            innerSize = inner == target ? nil : inner
        }
        let scaled = innerSize ?? target
        if box != nil, track.pixelFormat.isRGB, track.pixelFormat.hasAlpha,
            (Double(scaled.width), Double(scaled.height)) != (width, height)
        {
            filters = FilterChain(Self.scalingWithAlpha(to: scaled))
        }
        convertColors(canvas.color, of: track)
    }

    /// Returns filters that scale images with premultiplied alpha, so that the colors of transparent pixels, often
    /// black, don't affect visible ones.
    static func scalingWithAlpha(to size: PixelSize) -> [FilterStep] {
        let planes = FilterStep("format", ["pix_fmts": "gbrap|gbrap10le|gbrap12le|gbrap16le"])
        return [
            planes, FilterStep("premultiply", ["inplace": "1"]),
            .scale(to: size, [MetadataEntry(key: "flags", value: "bicubic")]), planes,
            FilterStep("unpremultiply", ["inplace": "1"]),
        ]
    }

    /// Sets the conversion from the track's colors to the canvas's.
    private mutating func convertColors(_ color: ColorDescription, of track: TrackDescription) {
        levels = color.range ?? .limited
        sourceRange = track.color.range
        mapsTones =
            track.color.isHighRange && !color.isHighRange && track.color.primaries != nil
            && track.color.matrix != nil
        if mapsTones {
            self.color = color
            return
        }
        var change = ColorDescription()
        func changed(_ from: String?, _ to: String?) -> String? {
            from != nil && to != nil && from != to ? to : nil
        }
        let known = Self.knownColors(track)
        change.primaries = changed(known.primaries, color.primaries)
        change.transfer = changed(known.transfer, color.transfer)
        if !track.pixelFormat.isRGB, !ColorDescription.isSameMatrix(known.matrix, color.matrix) {
            change.matrix = changed(known.matrix, color.matrix)
        }
        if track.pixelFormat.isRGB {
            matrix = color.matrix
        } else if track.color.matrix == nil {
            sourceMatrix = known.matrix
        }
        if change != ColorDescription() { self.color = change }
    }

    /// Returns a track's colors, with the matrix that players assume if it is unknown, so that adjacent clips are
    /// converted consistently.
    private static func knownColors(_ track: TrackDescription) -> ColorDescription {
        var color = track.color
        if color.matrix == nil, !track.pixelFormat.isRGB {
            color.matrix = ColorDescription.defaultMatrix(width: track.width, height: track.height)
        }
        return color
    }
}

extension Canvas {
    /// Creates a canvas like a track's frames as displayed: upright, square pixels, even dimensions, 4:2:0 with 8 or
    /// 10 bits, limited range.
    package init(like track: TrackDescription) {
        func even(_ side: Double) -> Int { min(16_384, max(16, Int((side / 2).rounded()) * 2)) }
        var (width, height) = (Double(track.width), Double(track.height))
        if let aspect = track.pixelAspectRatio, aspect.isPositive { width *= aspect.double }
        if track.transform?.rotation?.isQuarter == true { (width, height) = (height, width) }
        let isDeep = track.pixelFormat.bitDepth > 8 && !track.pixelFormat.isRGB
        var color = ColorDescription()
        if track.pixelFormat.isRGB {
            color = .standard
        } else {
            (color.primaries, color.transfer) = (track.color.primaries, track.color.transfer)
            color.matrix =
                track.color.matrix ?? ColorDescription.defaultMatrix(width: track.width, height: track.height)
            color.range = .limited
        }
        self.init(
            size: PixelSize(width: even(width), height: even(height)),
            frameRate: track.frameRate ?? Rational(25, 1),
            pixelFormat: isDeep ? .yuv420p10 : .yuv420p, color: color)
    }
}
