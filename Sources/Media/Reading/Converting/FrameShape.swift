internal import LibAV

/// Size and pixel aspect of frames: their shape as it is seen.
struct FrameShape: Equatable {
    var size: PixelSize
    /// The shape of a pixel; square where nobody says.
    var aspect: Rational

    /// Width over height, as it is seen.
    var ratio: Double {
        Double(size.width) * (aspect.isPositive ? aspect.double : 1) / Double(max(1, size.height))
    }

    /// Behind a crop and a rotation.
    func after(_ settings: VideoOutputSettings) -> FrameShape {
        var shape = self
        if let crop = settings.crop { shape.size = PixelSize(width: crop.width, height: crop.height) }
        if settings.turn?.isQuarter == true {
            shape.size = PixelSize(width: shape.size.height, height: shape.size.width)
            shape.aspect = aspect.isPositive ? aspect.inverted : aspect
        }
        return shape
    }

    /// Steps that put frames of another shape than the first ones' into what was made for those: with bars, or cut off
    /// where `cover` says so. Nil where the shapes are one.
    func steps(
        into box: PixelSize, made first: FrameShape, _ settings: VideoOutputSettings,
        colors: [MetadataEntry]
    )
        -> [FilterStep]?
    {
        guard settings.filters == nil, first != self else { return nil }
        // What fits into a box gets square pixels; else those that keep the first frames' shape.
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
    /// Scales to a size; `options` say what the numbers mean.
    static func scale(to size: PixelSize, _ options: [MetadataEntry]) -> FilterStep {
        var step = FilterStep("scale", ["w": "\(size.width)", "h": "\(size.height)"])
        step.options += options
        return step
    }

    /// Keeps the middle of a frame.
    static func crop(to size: PixelSize) -> FilterStep {
        FilterStep("crop", ["out_w": "\(size.width)", "out_h": "\(size.height)"])
    }

    /// Puts a frame into the middle of a larger one.
    static func pad(to size: PixelSize) -> FilterStep {
        FilterStep(
            "pad",
            ["width": "\(size.width)", "height": "\(size.height)", "x": "(ow-iw)/2", "y": "(oh-ih)/2"])
    }
}
