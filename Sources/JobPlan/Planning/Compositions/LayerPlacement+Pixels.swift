internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The placement of a layer in pixels of a canvas.
extension CompositionSpec.LayerPlacement {
    private func pixels(_ distance: Located<CompositionSpec.Distance>?, of whole: Int) -> Int? {
        switch distance?.value {
        case nil: nil
        case .pixels(let count): count
        case .share(let share): Int((Double(whole) * Double(share) / 100_000).rounded())
        }
    }

    /// Returns the position of a text.
    func textPosition(on canvas: Canvas) -> TextPosition {
        TextPosition(
            left: pixels(left, of: canvas.size.width),
            right: pixels(right, of: canvas.size.width),
            top: pixels(top, of: canvas.size.height),
            bottom: pixels(bottom, of: canvas.size.height))
    }

    /// Returns the rectangle of a track's frames. Without a size, frames have their own; with one side, their aspect
    /// ratio. Width and height are even.
    func rectangle(of track: TrackDescription, on canvas: Canvas) -> PixelRectangle {
        func even(_ value: Double) -> Int { min(PixelSize.maxSide, max(2, Int((value / 2).rounded()) * 2)) }
        var (width, height) = (Double(max(1, track.width)), Double(max(1, track.height)))
        if let aspect = track.pixelAspectRatio, aspect.isPositive { width *= aspect.double }
        if track.transform?.rotation?.isQuarter == true { (width, height) = (height, width) }
        let (across, along) = (
            pixels(self.width, of: canvas.size.width).map(Double.init),
            pixels(self.height, of: canvas.size.height).map(Double.init)
        )
        let size: (Double, Double) =
            switch (across, along) {
            case (let w?, let h?): (w, h)
            case (let w?, nil): (w, height * w / width)
            case (nil, let h?): (width * h / height, h)
            case (nil, nil): (width, height)
            }
        let (w, h) = (even(size.0), even(size.1))
        func start(_ before: Int?, _ behind: Int?, _ whole: Int, _ own: Int) -> Int {
            if let before { return before }
            if let behind { return whole - own - behind }
            return (whole - own) / 2
        }
        return PixelRectangle(
            x: start(
                pixels(left, of: canvas.size.width), pixels(right, of: canvas.size.width),
                canvas.size.width, w),
            y: start(
                pixels(top, of: canvas.size.height),
                pixels(bottom, of: canvas.size.height),
                canvas.size.height, h), width: w, height: h)
    }
}
