internal import LibAV

extension VideoOutputSettings {
    /// Returns settings that convert a track's frames for display: upright, the part and the pixels of an aperture mode,
    /// no larger than `box`, HDR tone-mapped to standard dynamic range. Nil if the track has no size.
    static func stillImage(
        of track: AssetTrack, as pixelFormat: PixelFormat, within box: PixelSize?,
        showing aperture: AssetImageGenerator.ApertureMode = .cleanAperture
    ) -> VideoOutputSettings? {
        var settings = VideoOutputSettings(pixelFormat: pixelFormat)
        let format = track.format
        var (width, height) = (Double(format.width), Double(format.height))
        if aperture == .cleanAperture, let clean = format.cleanAperture {
            let whole = PixelSize(width: format.width, height: format.height)
            guard let part = clean.rectangle(in: whole) else { return nil }
            if part.width < whole.width || part.height < whole.height { settings.crop = part }
            (width, height) = (Double(part.width), Double(part.height))
        }
        if aperture != .encodedPixels { width *= format.pixelAspectRatio?.double ?? 1 }
        if let turn = track.preferredTransform?.rotation, !turn.isNone {
            settings.turn = turn
            if turn.isQuarter { (width, height) = (height, width) }
        }
        guard width >= 1, height >= 1 else { return nil }
        settings.convertColor(of: track)
        let scale = box.map { min(Double($0.width) / width, Double($0.height) / height, 1) } ?? 1
        // Chroma is subsampled in most formats, and colors are converted for pairs of pixels.
        let step = pixelFormat.isRGB && settings.color == nil ? 1.0 : 2.0
        func side(_ length: Double, limit: Int?) -> Int {
            let nearest = max(step, (length * scale / step).rounded() * step)
            // Rounding must not exceed the box.
            return Int(nearest > Double(limit ?? .max) && nearest > step ? nearest - step : nearest)
        }
        settings.size = PixelSize(
            width: side(width, limit: box?.width), height: side(height, limit: box?.height))
        return settings
    }

    private mutating func convertColor(of track: AssetTrack) {
        let color = track.format.color
        let assumed = ColorDescription.defaultMatrix(width: track.format.width, height: track.format.height)
        let own = color.matrix ?? assumed
        let isRGB = pixelFormat?.isRGB == true
        if color.isHighRange, color.primaries != nil {
            var target = ColorDescription()
            (target.primaries, target.transfer, target.matrix) = ("bt709", "bt709", "bt709")
            self.color = target
            (mapsTones, sourceMatrix) = (true, own)
            if !isRGB { matrix = "bt709" }
            return
        }
        guard !isRGB else { return }
        // JFIF defines a single matrix.
        matrix = "bt470bg"
        if !track.format.pixelFormat.isRGB, ColorDescription.scaleName(ofMatrix: own) != nil,
            !ColorDescription.isSameMatrix(own, matrix)
        {
            var target = ColorDescription()
            target.matrix = matrix
            (self.color, sourceMatrix) = (target, own)
        }
    }
}
