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
        settings.innerSize = size.fitting((ratio, 1), covers: self == .resizeAspectFill)
        settings.fit = self == .resizeAspect ? .contain : .cover
    }
}
