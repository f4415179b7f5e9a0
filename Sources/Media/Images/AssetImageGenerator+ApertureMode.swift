internal import LibAV

extension AssetImageGenerator {
    /// The part of coded frames that images show, and the shape of their pixels
    /// (`AVAssetImageGenerator.ApertureMode`).
    public enum ApertureMode: String, Hashable, Sendable, CaseIterable {
        /// The clean aperture, with square pixels.
        case cleanAperture
        /// The whole frame, with square pixels.
        case productionAperture
        /// The whole frame, pixel by pixel.
        case encodedPixels
    }
}

extension CleanAperture {
    /// Returns the rectangle in whole pixels in a frame of a size; nil if it is empty.
    package func rectangle(in size: PixelSize) -> PixelRectangle? {
        guard let whole = Int(exactly: self.width.double.rounded(.towardZero)),
            let high = Int(exactly: self.height.double.rounded(.towardZero)), whole > 0, high > 0
        else { return nil }
        let (width, height) = (min(size.width, whole), min(size.height, high))
        guard width > 0, height > 0 else { return nil }
        let x = (Double(size.width - width) / 2 + horizontalOffset.double).rounded()
        let y = (Double(size.height - height) / 2 + verticalOffset.double).rounded()
        guard x.isFinite, y.isFinite else { return nil }
        return PixelRectangle(
            x: Int(min(max(0, x), Double(size.width - width))),
            y: Int(min(max(0, y), Double(size.height - height))), width: width, height: height)
    }
}
