internal import LibAV

/// Properties that the packets of two tracks must have in common, so that they can follow one another with the same
/// headers.
package struct CutForm: Hashable, Codable, Sendable {
    private var codec: String
    /// Whether NAL units have length prefixes rather than start codes. Parameter sets are then out of band, otherwise
    /// in band.
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

    /// Nil if smart cut doesn't support the codec, or if its headers can't be parsed.
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

    /// Returns how another format differs, for messages; nil if it is equal.
    package func difference(of other: CutForm) -> String? {
        if self == other { return nil }
        if other.codec != codec { return "it is \(other.codec), and the others \(codec)" }
        if other.hasLengths != hasLengths { return "its container has packets of another form" }
        if other.size != size { return "it has \(other.size) pixels, and the others \(size)" }
        if other.pixelFormat != pixelFormat {
            return "its pixels are \(other.pixelFormat), and the others' \(pixelFormat)"
        }
        if other.pixelAspectRatio != pixelAspectRatio { return "its pixels have another shape" }
        if other.transform != transform { return "it is rotated otherwise" }
        if other.isInterlaced != isInterlaced || other.fieldOrder != fieldOrder {
            return "its fields are others"
        }
        if other.color != color { return "its colors mean something else" }
        return "it was encoded with other settings: its parameter sets are not the others'"
    }
}
