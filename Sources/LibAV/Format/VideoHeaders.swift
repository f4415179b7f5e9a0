internal import CFFmpeg

/// The beginning of a track's first packet.
package struct PacketOpening {
    /// File that contains the packet.
    package var file: any ByteSource
    /// Id of the track in the container.
    package var trackID: Int
    /// First bytes of the packet, at most 16,384.
    package var bytes: [UInt8]
    /// Size of the packet in bytes.
    package var size: Int
}

/// Properties of a track's frames from its headers. If they are known, no frame must be decoded.
package struct VideoHeaders: Hashable, Sendable {
    /// The chroma subsampling of the frames.
    package enum Chroma: Sendable {
        /// Subsampled horizontally and vertically.
        case yuv420
        /// Subsampled horizontally.
        case yuv422
    }

    /// Color properties as code points of ISO/IEC 23091-2.
    package struct Color: Hashable, Sendable {
        /// Code point of the primaries.
        package var primaries: UInt32
        /// Code point of the transfer function.
        package var transfer: UInt32
        /// Code point of the matrix.
        package var matrix: UInt32

        /// Creates color properties from code points.
        package init(primaries: UInt32, transfer: UInt32, matrix: UInt32) {
            (self.primaries, self.transfer, self.matrix) = (primaries, transfer, matrix)
        }
    }

    /// Presented width in pixels.
    package var width: Int
    /// Presented height in pixels.
    package var height: Int
    package var chroma: Chroma
    /// Bits per sample.
    package var bitDepth: Int
    /// Pixel aspect ratio; 0/1 if unspecified.
    package var sampleAspectRatio: Rational
    /// Whether samples use the full range; nil if unspecified.
    package var isFullRange: Bool?
    /// Color properties; nil if unspecified.
    package var color: Color?
    /// Number of frames by which decoding order may precede presentation order.
    package var reorderDelay = 0
    /// Chroma sample location as a code point of ISO/IEC 14496-10 (0: left).
    package var chromaLocation = 0

    /// Creates a description without aspect ratio, range and color.
    package init(width: Int, height: Int, chroma: Chroma, bitDepth: Int) {
        (self.width, self.height, self.chroma, self.bitDepth) = (width, height, chroma, bitDepth)
        sampleAspectRatio = Rational(0, 1)
    }

    /// Sets codec parameters as the decoder would. Returns false, so that frames must be decoded, if the container
    /// declares another size, if the size exceeds `maxPixels`, or if FFmpeg has no corresponding pixel format.
    func apply(_ parameters: inout AVCodecParameters, maxPixels: Int64) -> Bool {
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
