internal import CFFmpeg

/// How a track's first packet begins.
package struct PacketOpening {
    /// The file that it is in.
    package var file: any ByteSource
    /// The container's number of its track.
    package var trackID: Int
    /// Its first bytes, 16,384 at most.
    package var bytes: [UInt8]
    /// How many it has.
    package var size: Int
}

/// What the headers of a track say of all its frames, where none has to be decoded to find that out.
package struct PictureHeaders: Hashable, Sendable {
    /// How many values of colour there are beside those of brightness.
    package enum Chroma: Sendable {
        /// Half as many in both directions.
        case yuv420
        /// Half as many in a line.
        case yuv422
    }

    /// What its colours mean, as numbers of ISO/IEC 23091-2.
    public struct Color: Hashable, Sendable {
        /// Of the primaries.
        public var primaries: UInt32
        /// Of the transfer function.
        public var transfer: UInt32
        /// Of the matrix.
        public var matrix: UInt32

        /// Makes one.
        public init(primaries: UInt32, transfer: UInt32, matrix: UInt32) {
            (self.primaries, self.transfer, self.matrix) = (primaries, transfer, matrix)
        }
    }

    /// Pixels that are shown.
    package var width: Int
    /// Lines that are shown.
    package var height: Int
    /// The planes of colour.
    package var chroma: Chroma
    /// Bits of a value.
    package var bitDepth: Int
    /// The shape of a pixel; 0 where it isn't told.
    package var sampleAspectRatio: Rational
    /// Values from 0 on; nil where it isn't told.
    package var isFullRange: Bool?
    /// Nil where they aren't told.
    package var color: Color?
    /// Frames that decoding order may run ahead of what is shown.
    package var reorderDelay = 0
    /// Where values of colour lie, as a number of ISO/IEC 14496-10 (0: left).
    package var chromaLocation = 0

    /// Makes one of frames whose headers tell nothing else.
    package init(width: Int, height: Int, chroma: Chroma, bitDepth: Int) {
        (self.width, self.height, self.chroma, self.bitDepth) = (width, height, chroma, bitDepth)
        sampleAspectRatio = Rational(0, 1)
    }

    /// Says of a track what its decoder would. False where the container says another size, or libav has no such
    /// frames: then they are decoded.
    func tell(_ parameters: inout AVCodecParameters, maxPixels: Int64) -> Bool {
        guard width > 0, height > 0, Int(parameters.width) == width, Int(parameters.height) == height,
            Int64(width) * Int64(height) <= maxPixels
        else { return false }
        let range =
            isFullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? parameters.color_range
        let format: AVPixelFormat
        switch (chroma, bitDepth, range == AVCOL_RANGE_JPEG) {
        case (.yuv420, 8, false): format = AV_PIX_FMT_YUV420P
        case (.yuv420, 8, true): format = AV_PIX_FMT_YUVJ420P
        case (.yuv420, 10, _): format = AV_PIX_FMT_YUV420P10LE
        case (.yuv422, 8, false): format = AV_PIX_FMT_YUV422P
        case (.yuv422, 8, true): format = AV_PIX_FMT_YUVJ422P
        case (.yuv422, 10, _): format = AV_PIX_FMT_YUV422P10LE
        default: return false
        }
        parameters.format = format.rawValue
        parameters.bits_per_raw_sample = Int32(bitDepth)
        parameters.video_delay = max(parameters.video_delay, Int32(clamping: reorderDelay))
        let isShape = av_image_check_sar(UInt32(width), UInt32(height), sampleAspectRatio.av) >= 0
        parameters.sample_aspect_ratio = isShape ? sampleAspectRatio.av : AVRational(num: 0, den: 1)
        parameters.color_range = range
        parameters.chroma_location =
            0...5 ~= chromaLocation
            ? AVChromaLocation(AVCHROMA_LOC_LEFT.rawValue + UInt32(chromaLocation)) : AVCHROMA_LOC_LEFT
        if let color {
            let primaries = AVColorPrimaries(color.primaries)
            let transfer = AVColorTransferCharacteristic(color.transfer)
            let matrix = AVColorSpace(color.matrix)
            parameters.color_primaries =
                av_color_primaries_name(primaries) == nil ? AVCOL_PRI_UNSPECIFIED : primaries
            parameters.color_trc =
                av_color_transfer_name(transfer) == nil ? AVCOL_TRC_UNSPECIFIED : transfer
            parameters.color_space = av_color_space_name(matrix) == nil ? AVCOL_SPC_UNSPECIFIED : matrix
        }
        return true
    }
}
