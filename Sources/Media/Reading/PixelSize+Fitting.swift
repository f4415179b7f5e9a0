extension PixelSize {
    /// Returns the size of frames of a shape that are scaled at their aspect ratio to lie inside this size, or to cover
    /// it. Sides are rounded to multiples of `step`, which the chroma subsampling requires.
    package func fitting(
        _ shape: (width: Double, height: Double), covers: Bool, step: (Int, Int) = (2, 2)
    ) -> PixelSize {
        let scales = (Double(width) / shape.width, Double(height) / shape.height)
        let scale = covers ? max(scales.0, scales.1) : min(scales.0, scales.1)
        let (scaled, limit) = (
            PixelSize(
                width: Self.nearest(shape.width * scale, step.0),
                height: Self.nearest(shape.height * scale, step.1)),
            covers ? max as (Int, Int) -> Int : min
        )
        return PixelSize(width: limit(scaled.width, width), height: limit(scaled.height, height))
    }

    /// Returns the multiple of a unit that is nearest to a length, and at least one unit.
    package static func nearest(_ length: Double, _ unit: Int) -> Int {
        max(unit, Int(min(length / Double(unit), 1_073_741_824).rounded()) * unit)
    }
}
