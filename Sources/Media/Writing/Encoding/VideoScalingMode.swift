internal import LibAV

/// Scaling of appended frames whose size differs from the encoder's (`AVVideoScalingModeKey`).
public enum VideoScalingMode: String, Hashable, Sendable, CaseIterable {
    /// The whole frame at its aspect ratio, with black bars (`AVVideoScalingModeResizeAspect`).
    case resizeAspect
    /// The frame at its aspect ratio, cropped to fill the size (`AVVideoScalingModeResizeAspectFill`).
    case resizeAspectFill
    /// The frame stretched to the size (`AVVideoScalingModeResize`).
    case resize

    /// Sets the scaling of frames to a size. `ratio` is the frames' display aspect ratio, in pixels of the output.
    func apply(to settings: inout VideoOutputSettings, size: PixelSize, ratio: Double) {
        settings.size = size
        let own = Double(size.width) / Double(size.height)
        guard self != .resize, ratio.isFinite, ratio > 0, abs(ratio / own - 1) > 0.001 else {
            settings.fit = .stretch
            return
        }
        // Even sizes keep the positions of subsampled chroma.
        func even(_ value: Double) -> Int { max(2, Int(min(value / 2, 32_768).rounded()) * 2) }
        let isWider = ratio > own
        let keepsWidth = isWider == (self == .resizeAspect)
        var inner = size
        if keepsWidth {
            inner.height = even(Double(size.width) / ratio)
        } else {
            inner.width = even(Double(size.height) * ratio)
        }
        if self == .resizeAspect {
            inner = PixelSize(
                width: min(inner.width, size.width), height: min(inner.height, size.height))
        } else {
            inner = PixelSize(
                width: max(inner.width, size.width), height: max(inner.height, size.height))
        }
        settings.innerSize = inner
        settings.fit = self == .resizeAspect ? .contain : .cover
    }
}
