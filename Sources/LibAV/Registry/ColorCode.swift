internal import CFFmpeg

/// What the numbers of one frame mean, as far as a change of pixel format asks for it: range and matrix, by libav's
/// numbers. Comparing two costs nothing.
package struct ColorCode: Hashable, Sendable {
    var range: UInt32
    var matrix: UInt32

    init(range: UInt32, matrix: UInt32) { (self.range, self.matrix) = (range, matrix) }

    /// Of what is said by names; what is unknown is unsaid.
    init(_ color: ColorDescription) {
        let range = color.range.map { av_color_range_from_name($0) } ?? -1
        let matrix = color.matrix.map { av_color_space_from_name($0) } ?? -1
        self.range = range < 0 ? AVCOL_RANGE_UNSPECIFIED.rawValue : UInt32(range)
        self.matrix = matrix < 0 ? AVCOL_SPC_UNSPECIFIED.rawValue : UInt32(matrix)
    }

    /// `AVCOL_RANGE_JPEG`; nil where nobody says.
    package var isFullRange: Bool? {
        range == AVCOL_RANGE_UNSPECIFIED.rawValue ? nil : range == AVCOL_RANGE_JPEG.rawValue
    }

    /// libav's name of the matrix; nil where nobody says, and of RGB.
    package var matrixName: String? {
        guard matrix != AVCOL_SPC_UNSPECIFIED.rawValue, matrix != AVCOL_SPC_RGB.rawValue else { return nil }
        return av_color_space_name(AVColorSpace(matrix)).map { String(cString: $0) }
    }
}

extension Frame {
    /// What its numbers mean, as it says itself.
    package var colorCode: ColorCode {
        ColorCode(range: raw.pointee.color_range.rawValue, matrix: raw.pointee.colorspace.rawValue)
    }

    /// Leaves it to the range to say that the numbers are of full range, and not to the format's name (`yuvj420p`), which
    /// filters keep while they change the range.
    package func forgetRangeByName() {
        let plain = PixelFormat(AVPixelFormat(rawValue: raw.pointee.format)).withoutRangeByName
        guard plain.value != raw.pointee.format else { return }
        raw.pointee.format = plain.value
        raw.pointee.color_range = AVCOL_RANGE_JPEG
    }

    /// Says what it doesn't say itself; nil stays unsaid.
    package func fillColor(isFullRange: Bool, matrix: String?) {
        if raw.pointee.color_range == AVCOL_RANGE_UNSPECIFIED {
            raw.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        }
        guard let matrix, raw.pointee.colorspace == AVCOL_SPC_UNSPECIFIED else { return }
        let code = av_color_space_from_name(matrix)
        if code >= 0 { raw.pointee.colorspace = AVColorSpace(UInt32(code)) }
    }
}
