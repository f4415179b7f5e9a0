internal import CFFmpeg

/// The range and matrix of a frame as FFmpeg's numbers, which a pixel format conversion requires. They are compared
/// faster than names.
package struct ColorCode: Hashable, Sendable {
    var range: UInt32
    var matrix: UInt32

    init(range: UInt32, matrix: UInt32) { (self.range, self.matrix) = (range, matrix) }

    /// Creates a value; nil and unknown names become unspecified.
    init(_ color: ColorDescription) {
        let matrix = color.matrix.map { av_color_space_from_name($0) } ?? -1
        range = (color.range?.av ?? AVCOL_RANGE_UNSPECIFIED).rawValue
        self.matrix = matrix < 0 ? AVCOL_SPC_UNSPECIFIED.rawValue : UInt32(matrix)
    }

    /// Whether the range is full (`AVCOL_RANGE_JPEG`); nil if unspecified.
    package var isFullRange: Bool? {
        range == AVCOL_RANGE_UNSPECIFIED.rawValue ? nil : range == AVCOL_RANGE_JPEG.rawValue
    }

    /// Name of the matrix in FFmpeg; nil if unspecified, and for RGB.
    package var matrixName: String? {
        guard matrix != AVCOL_SPC_UNSPECIFIED.rawValue, matrix != AVCOL_SPC_RGB.rawValue else { return nil }
        return av_color_space_name(AVColorSpace(matrix)).map { String(cString: $0) }
    }
}

/// Primaries and transfer function of a frame as libav's numbers. Comparisons are cheap.
package struct GamutCode: Hashable, Sendable {
    var primaries: UInt32
    var transfer: UInt32
}

extension Frame {
    /// Primaries and transfer function of the frame.
    package var gamutCode: GamutCode {
        GamutCode(
            primaries: raw.pointee.color_primaries.rawValue, transfer: raw.pointee.color_trc.rawValue)
    }

    /// Range and matrix of the frame.
    package var colorCode: ColorCode {
        ColorCode(range: raw.pointee.color_range.rawValue, matrix: raw.pointee.colorspace.rawValue)
    }

    /// Replaces a pixel format that implies full range (`yuvj420p`) by the equivalent one without, and sets the range
    /// explicitly. Filters would keep the pixel format when they change the range.
    package func forgetRangeByName() {
        let plain = PixelFormat(AVPixelFormat(rawValue: raw.pointee.format)).withoutRangeByName
        guard plain.value != raw.pointee.format else { return }
        raw.pointee.format = plain.value
        raw.pointee.color_range = AVCOL_RANGE_JPEG
    }

    /// Sets range and matrix if they are unspecified; a nil matrix remains unspecified.
    package func fillColor(isFullRange: Bool, matrix: String?) {
        if raw.pointee.color_range == AVCOL_RANGE_UNSPECIFIED {
            raw.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
        guard let matrix, raw.pointee.colorspace == AVCOL_SPC_UNSPECIFIED else { return }
        let code = av_color_space_from_name(matrix)
        if code >= 0 { raw.pointee.colorspace = AVColorSpace(UInt32(code)) }
    }
}
