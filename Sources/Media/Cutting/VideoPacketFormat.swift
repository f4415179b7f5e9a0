internal import LibAV

/// Properties that video tracks must share for their packets to be joined in one track with one set of headers.
package struct VideoPacketFormat: Hashable, Codable, Sendable {
    private var codec: String
    /// Whether NAL units have length prefixes rather than start codes. Parameter sets are out of band with length
    /// prefixes, and in band with start codes.
    private var hasLengths: Bool
    private var size: PixelSize
    private var pixelFormat: PixelFormat
    private var pixelAspectRatio: Rational?
    private var color: ColorDescription
    private var transform: DisplayTransform?
    private var isInterlaced: Bool
    private var fieldOrder: FieldOrder?
    /// Hash of all parameter sets, in order.
    private var sets: UInt64

    /// Creates the format of a track; nil if smart cut doesn't support the codec, or if the headers can't be parsed.
    package init?(_ track: AssetTrack) {
        let parameters = track.format.parameters
        guard let bitstream = CutBitstream(parameters) else { return nil }
        let description = track.description
        codec = description.codec
        hasLengths = bitstream.framing != .startCodes
        size = PixelSize(width: description.width, height: description.height)
        pixelFormat = description.pixelFormat
        pixelAspectRatio = description.pixelAspectRatio
        color = description.color
        transform = description.transform
        isInterlaced = description.isInterlaced
        fieldOrder = description.fieldOrder
        let found: [[UInt8]]? =
            switch bitstream.codec {
            case .h264: AVCHeaders(parameters.extradata).map { $0.sequences + $0.pictures }
            case .hevc: HEVCHeaders(parameters.extradata)?.sets
            }
        guard let found else { return nil }
        var hash = UnitDigest()
        for set in found {
            hash.add(UInt64(set.count))
            set.withUnsafeBytes { hash.add($0) }
        }
        sets = hash.value
    }

    /// Returns the first difference of another format, for messages; nil if both are equal.
    package func difference(of other: VideoPacketFormat) -> String? {
        if self == other { return nil }
        if other.codec != codec { return "its codec is \(other.codec), the others' is \(codec)" }
        if other.hasLengths != hasLengths { return "its container stores NAL units in another format" }
        if other.size != size { return "its frames are \(other.size), the others' are \(size)" }
        if other.pixelFormat != pixelFormat {
            return "its pixel format is \(other.pixelFormat), the others' is \(pixelFormat)"
        }
        if other.pixelAspectRatio != pixelAspectRatio {
            return "its pixel aspect ratio differs from the others'"
        }
        if other.transform != transform { return "its rotation differs from the others'" }
        if other.isInterlaced != isInterlaced || other.fieldOrder != fieldOrder {
            return "its field order differs from the others'"
        }
        if other.color != color { return "its color description differs from the others'" }
        return "it was encoded with other settings: its parameter sets differ from the others'"
    }
}
