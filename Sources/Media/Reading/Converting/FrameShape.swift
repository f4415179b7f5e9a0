internal import LibAV

/// Size and sample aspect ratio of frames.
struct FrameShape: Equatable {
    var size: PixelSize
    /// Sample aspect ratio; treated as square if it isn't positive.
    var aspect: Rational

    /// Display aspect ratio.
    var ratio: Double {
        Double(size.width) * (aspect.isPositive ? aspect.double : 1) / Double(max(1, size.height))
    }

    /// Returns the shape after the settings' crop and rotation.
    func after(_ settings: VideoOutputSettings) -> FrameShape {
        var shape = self
        if let crop = settings.crop { shape.size = PixelSize(width: crop.width, height: crop.height) }
        if settings.turn?.isQuarter == true {
            shape.size = PixelSize(width: shape.size.height, height: shape.size.width)
            shape.aspect = aspect.isPositive ? aspect.inverted : aspect
        }
        return shape
    }

    /// Returns steps that fit frames of this shape into a box that was planned for the shape `first`: with bars, or
    /// cropped if `settings.fit` is `cover`. Returns nil if the shapes are equal, or if there are filters.
    func steps(
        into box: PixelSize, planned first: FrameShape, _ settings: VideoOutputSettings,
        colors: [MetadataEntry]
    )
        -> [FilterStep]?
    {
        guard settings.filters == nil, first != self else { return nil }
        // All fits except `stretch` produce square pixels; `stretch` keeps the display aspect ratio of the first
        // frames.
        let hasSquares = settings.fit != .stretch
        let shown =
            hasSquares ? Double(box.width) / Double(max(1, box.height)) : first.after(settings).ratio
        let change = after(settings).ratio / shown
        guard change.isFinite, change > 0, abs(change - 1) > 0.01 else {
            return [.scale(to: box, colors)]
        }
        func even(_ value: Double) -> Int { max(2, Int((value / 2).rounded()) * 2) }
        let isCover = settings.fit == .cover
        let isNarrowed = (change > 1) == isCover
        let (width, height) =
            isNarrowed
            ? (even(Double(box.width) * change), box.height) : (box.width, even(Double(box.height) / change))
        return [
            .scale(to: PixelSize(width: width, height: height), colors),
            isCover ? .crop(to: box) : .pad(to: box),
        ]
    }
}

extension FilterStep {
    /// Scales to a size; `options` are the scaler's range and matrix options.
    static func scale(to size: PixelSize, _ options: [MetadataEntry]) -> FilterStep {
        var step = FilterStep("scale", ["w": "\(size.width)", "h": "\(size.height)"])
        step.options += options
        return step
    }

    /// Crops to the center of the frame.
    static func crop(to size: PixelSize) -> FilterStep {
        FilterStep("crop", ["out_w": "\(size.width)", "out_h": "\(size.height)"])
    }

    /// Centers the frame in a larger one.
    static func pad(to size: PixelSize) -> FilterStep {
        FilterStep(
            "pad",
            ["width": "\(size.width)", "height": "\(size.height)", "x": "(ow-iw)/2", "y": "(oh-ih)/2"])
    }
}
