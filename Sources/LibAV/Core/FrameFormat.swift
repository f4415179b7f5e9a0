internal import CFFmpeg

/// The format of video frames: size, pixel format, pixel aspect ratio and color properties.
package struct FrameFormat: Hashable, Codable, Sendable {
    /// Width in pixels.
    package var width: Int
    /// Height in pixels.
    package var height: Int
    /// Pixel format (`AVPixelFormat`).
    package var format: PixelFormat
    /// Pixel aspect ratio; 0/1 if unknown.
    package var sampleAspectRatio: Rational
    /// Color properties; unspecified ones are nil.
    package var color: ColorDescription

    /// Creates a format from its properties.
    package init(
        width: Int, height: Int, format: PixelFormat, sampleAspectRatio: Rational, color: ColorDescription
    ) {
        self.width = width
        self.height = height
        self.format = format
        self.sampleAspectRatio = sampleAspectRatio
        self.color = color
    }
}

extension Frame {
    /// Returns a black frame of a format.
    package static func black(_ format: FrameFormat) throws(AVError) -> Frame {
        let frame = try Frame()
        let raw = frame.raw
        raw.pointee.width = Int32(clamping: format.width)
        raw.pointee.height = Int32(clamping: format.height)
        raw.pointee.format = format.format.value
        raw.pointee.pts = 0
        raw.pointee.sample_aspect_ratio = format.sampleAspectRatio.av
        try check(av_frame_get_buffer(raw, 0), "av_frame_get_buffer")
        frame.applyColor(format.color)
        var planes = (raw.pointee.data.0, raw.pointee.data.1, raw.pointee.data.2, raw.pointee.data.3)
        var strides = (0..<4).map { index in
            withUnsafeBytes(of: raw.pointee.linesize) { Int($0.bindMemory(to: Int32.self)[index]) }
        }
        // av_image_fill_black fails for some formats, whose frames remain uninitialized.
        _ = withUnsafeMutablePointer(to: &planes) { planes in
            planes.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 4) {
                av_image_fill_black(
                    $0, &strides, format.format.av, raw.pointee.color_range, raw.pointee.width,
                    raw.pointee.height)
            }
        }
        return frame
    }

    /// Sets the pixel aspect ratio to 1:1.
    package func setSquarePixels() { raw.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1) }

    /// Sets the frame's color properties; those that are nil or unknown to FFmpeg remain unchanged.
    package func applyColor(_ color: ColorDescription) {
        func code<T>(_ name: String?, _ find: (String) -> Int32, _ make: (UInt32) -> T) -> T? {
            guard let name else { return nil }
            let code = find(name)
            return code >= 0 ? make(UInt32(code)) : nil
        }
        if let value = code(color.primaries, { av_color_primaries_from_name($0) }, { AVColorPrimaries($0) }) {
            raw.pointee.color_primaries = value
        }
        if let value = code(
            color.transfer, { av_color_transfer_from_name($0) }, { AVColorTransferCharacteristic($0) })
        {
            raw.pointee.color_trc = value
        }
        if let value = code(color.matrix, { av_color_space_from_name($0) }, { AVColorSpace($0) }) {
            raw.pointee.colorspace = value
        }
        if let range = color.range { raw.pointee.color_range = range.av }
    }
}
