internal import CFFmpeg

/// The color properties of a frame: primaries, transfer, matrix, range and chroma location. Those without a type are
/// FFmpeg's names of the values; nil if unspecified.
public struct ColorDescription: Hashable, Codable, Sendable {
    /// Color primaries, such as `bt709`, `bt2020` or `smpte170m`.
    public var primaries: String?
    /// Transfer function, such as `bt709`, `smpte2084` or `arib-std-b67`.
    public var transfer: String?
    /// Matrix coefficients, such as `bt709`, `bt2020nc` or `smpte170m`.
    public var matrix: String?
    /// Range of the samples.
    public var range: ColorRange?
    /// Location of chroma samples, such as `left` or `topleft`.
    public var chromaLocation: String?

    /// Creates a description in which all properties are unspecified.
    public init() {}

    /// BT.709 in limited range.
    public static var standard: ColorDescription {
        var color = ColorDescription()
        (color.primaries, color.transfer, color.matrix, color.range) = ("bt709", "bt709", "bt709", .limited)
        return color
    }

    // FFmpeg's names of values with a special treatment.

    /// Matrix of RGB, which isn't converted to luma and chroma.
    package static let rgbMatrix = "gbr"
    /// Matrix of JPEG files (JFIF).
    package static let jpegMatrix = "bt470bg"
    /// Primaries of wide color (BT.2020).
    package static let widePrimaries = "bt2020"
    /// Matrix of wide color with non-constant luminance (BT.2020).
    package static let wideMatrix = "bt2020nc"
    /// Transfer function PQ (SMPTE ST 2084).
    package static let pq = "smpte2084"
    /// Transfer function HLG (ARIB STD-B67).
    package static let hlg = "arib-std-b67"

    /// Whether the matrix is that of RGB.
    package var hasRGBMatrix: Bool { matrix == Self.rgbMatrix }

    /// Whether the transfer function is an HDR one (PQ, HLG).
    package var isHighRange: Bool { transfer.map { Self.isHighRange($0) } ?? false }
    /// Returns whether a transfer function is an HDR one (PQ, HLG).
    package static func isHighRange(_ transfer: String) -> Bool {
        transfer == pq || transfer == hlg
    }

    init(parameters: AVCodecParameters) {
        primaries = ColorDescription.name(
            parameters.color_primaries.rawValue, AVCOL_PRI_UNSPECIFIED.rawValue,
            av_color_primaries_name(parameters.color_primaries))
        transfer = ColorDescription.name(
            parameters.color_trc.rawValue, AVCOL_TRC_UNSPECIFIED.rawValue,
            av_color_transfer_name(parameters.color_trc))
        matrix = ColorDescription.name(
            parameters.color_space.rawValue, AVCOL_SPC_UNSPECIFIED.rawValue,
            av_color_space_name(parameters.color_space))
        range = ColorRange(parameters.color_range)
        chromaLocation = ColorDescription.name(
            parameters.chroma_location.rawValue, AVCHROMA_LOC_UNSPECIFIED.rawValue,
            av_chroma_location_name(parameters.chroma_location))
    }

    init(frame: UnsafePointer<AVFrame>) {
        var parameters = AVCodecParameters()
        parameters.color_primaries = frame.pointee.color_primaries
        parameters.color_trc = frame.pointee.color_trc
        parameters.color_space = frame.pointee.colorspace
        parameters.color_range = frame.pointee.color_range
        parameters.chroma_location = frame.pointee.chroma_location
        self.init(parameters: parameters)
    }

    private static func name(_ value: UInt32, _ unspecified: UInt32, _ name: UnsafePointer<CChar>?) -> String?
    {
        guard value != unspecified, let name else { return nil }
        return String(cString: name)
    }

    /// Sets the specified properties except the chroma location in codec parameters.
    func apply(to parameters: inout AVCodecParameters) {
        if let code = primaries.map({ av_color_primaries_from_name($0) }), code >= 0 {
            parameters.color_primaries = AVColorPrimaries(UInt32(code))
        }
        if let code = transfer.map({ av_color_transfer_from_name($0) }), code >= 0 {
            parameters.color_trc = AVColorTransferCharacteristic(UInt32(code))
        }
        if let code = matrix.map({ av_color_space_from_name($0) }), code >= 0 {
            parameters.color_space = AVColorSpace(UInt32(code))
        }
        if let range { parameters.color_range = range.av }
    }

    /// Sets the specified properties in an encoder's context.
    func apply(to context: UnsafeMutablePointer<AVCodecContext>) {
        if let code = primaries.map({ av_color_primaries_from_name($0) }), code >= 0 {
            context.pointee.color_primaries = AVColorPrimaries(UInt32(code))
        }
        if let code = transfer.map({ av_color_transfer_from_name($0) }), code >= 0 {
            context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(code))
        }
        if let code = matrix.map({ av_color_space_from_name($0) }), code >= 0 {
            context.pointee.colorspace = AVColorSpace(UInt32(code))
        }
        if let range { context.pointee.color_range = range.av }
        if let code = chromaLocation.map({ av_chroma_location_from_name($0) }), code >= 0 {
            context.pointee.chroma_sample_location = AVChromaLocation(UInt32(code))
        }
    }

    /// Numbers of primaries, transfer and matrix (ISO/IEC 23091-2); nil unless all are known.
    package var codes: (primaries: UInt16, transfer: UInt16, matrix: UInt16)? {
        guard let primaries, let transfer, let matrix else { return nil }
        let codes = (
            av_color_primaries_from_name(primaries), av_color_transfer_from_name(transfer),
            av_color_space_from_name(matrix)
        )
        guard codes.0 >= 0, codes.1 >= 0, codes.2 >= 0 else { return nil }
        return (UInt16(clamping: codes.0), UInt16(clamping: codes.1), UInt16(clamping: codes.2))
    }

    /// A color property with a list of names (`names(of:)`).
    package enum Part: Sendable, CaseIterable {
        /// The color primaries.
        case primaries
        /// The transfer function.
        case transfer
        /// The matrix coefficients.
        case matrix
    }

    // Names that FFmpeg 5.1 defines, so that a job file has the same meaning with every version.
    private static let primariesNames = list(through: AVCOL_PRI_EBU3213.rawValue) {
        av_color_primaries_name(AVColorPrimaries($0))
    }
    private static let transferNames = list(through: AVCOL_TRC_ARIB_STD_B67.rawValue) {
        av_color_transfer_name(AVColorTransferCharacteristic($0))
    }
    private static let matrixNames = list(through: AVCOL_SPC_ICTCP.rawValue) {
        av_color_space_name(AVColorSpace($0))
    }

    private static func list(
        through last: UInt32, _ name: (UInt32) -> UnsafePointer<CChar>?
    ) -> [String] {
        (0...last).compactMap { name($0).map { String(cString: $0) } }.filter {
            !["reserved", "unknown"].contains($0)
        }
    }

    /// Returns the supported names of a color property.
    package static func names(of part: Part) -> [String] {
        switch part {
        case .primaries: primariesNames
        case .transfer: transferNames
        case .matrix: matrixNames
        }
    }

    /// Returns the name of the matrix that players assume if none is declared: BT.709 for HD sizes, otherwise BT.601.
    package static func defaultMatrix(width: Int, height: Int) -> String {
        width >= 1280 || height > 576 ? "bt709" : "smpte170m"
    }

    /// Returns whether two names denote the same matrix. FFmpeg has two names for BT.601.
    package static func isSameMatrix(_ one: String?, _ other: String?) -> Bool {
        let names = ["smpte170m", "bt470bg"]
        return one == other || one.map(names.contains) == true && other.map(names.contains) == true
    }

    /// Returns libswscale's name of a matrix; nil if libswscale doesn't support it.
    package static func scaleName(ofMatrix name: String?) -> String? {
        guard let name else { return nil }
        return [
            "bt709": "bt709", "bt470bg": "bt601", "smpte170m": "bt601", "fcc": "fcc",
            "smpte240m": "smpte240m",
            "bt2020nc": "bt2020", "bt2020c": "bt2020",
        ][name]
    }

    /// Filter that converts frames to these properties (`zscale`); nil if no property is specified. The properties of
    /// the frames are the input properties.
    package var conversionFilter: FilterStep? {
        let parts = [("primaries", primaries), ("transfer", transfer), ("matrix", matrix)].compactMap {
            name, value in value.map { MetadataEntry(key: name, value: $0) }
        }
        return parts.isEmpty ? nil : FilterStep("zscale", options: parts)
    }

    /// Filters that convert HDR to these properties by tone mapping in linear light, with white at 100 nits
    /// (`zscale`, `tonemap`). `defaultRange` applies if the description has no range.
    package func toneMappingFilters(defaultRange: ColorRange) -> [FilterStep] {
        var target = FilterStep("zscale", ["transfer": transfer ?? "bt709"])
        if let matrix { target.options.append(MetadataEntry(key: "matrix", value: matrix)) }
        target.options.append(
            MetadataEntry(key: "range", value: (range ?? defaultRange).zscaleName))
        let linear = [
            FilterStep("zscale", ["transfer": "linear", "npl": "100"]),
            FilterStep("format", ["pix_fmts": "gbrpf32le"]),
        ]
        return linear + (primaries.map { [FilterStep("zscale", ["primaries": $0])] } ?? [])
            + [FilterStep("tonemap", ["tonemap": "hable", "desat": "0"]), target]
    }
}
