internal import CFFmpeg

/// The kind of a track (`AVMediaType`).
public enum MediaType: String, Hashable, Codable, Sendable, CaseIterable {
    /// Video frames.
    case video
    /// Audio samples.
    case audio
    /// Subtitles as text or bitmaps.
    case subtitle
    /// Timed data of any other kind.
    case data
    /// An attached file, such as a font.
    case attachment

    init(_ type: AVMediaType) {
        switch type {
        case AVMEDIA_TYPE_VIDEO: self = .video
        case AVMEDIA_TYPE_AUDIO: self = .audio
        case AVMEDIA_TYPE_SUBTITLE: self = .subtitle
        case AVMEDIA_TYPE_ATTACHMENT: self = .attachment
        default: self = .data
        }
    }
}

/// A pixel format (`AVPixelFormat`), encoded by its name.
public struct PixelFormat: Hashable, Codable, Sendable, CustomStringConvertible {
    let value: Int32
    var av: AVPixelFormat { AVPixelFormat(rawValue: value) }

    init(_ format: AVPixelFormat) { value = format.rawValue }

    /// Looks up a pixel format by name (`yuv420p`); nil if it doesn't exist.
    public init?(named name: String) {
        let format = av_get_pix_fmt(name)
        guard format != AV_PIX_FMT_NONE else { return nil }
        self.init(format)
    }

    /// Returns the size of a frame in bytes (`av_image_get_buffer_size`); 0 for formats of hardware frames.
    package func frameSize(width: Int, height: Int) -> Int {
        max(0, Int(av_image_get_buffer_size(av, Int32(clamping: width), Int32(clamping: height), 1)))
    }

    /// Names of the most common formats, for suggestions.
    package static let commonNames = [
        "yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "yuv444p10le", "yuvj420p",
        "nv12", "gray", "rgb24",
    ]

    /// No format, or an unknown one.
    public static var none: PixelFormat { PixelFormat(AV_PIX_FMT_NONE) }
    /// 8-bit 4:2:0, which all players support.
    public static var yuv420p: PixelFormat { PixelFormat(AV_PIX_FMT_YUV420P) }

    /// 8-bit 4:4:4.
    public static var yuv444p: PixelFormat { PixelFormat(AV_PIX_FMT_YUV444P) }
    /// 8-bit 4:4:4 with alpha.
    public static var yuva444p: PixelFormat { PixelFormat(AV_PIX_FMT_YUVA444P) }
    /// 10-bit 4:2:0.
    public static var yuv420p10: PixelFormat { PixelFormat(AV_PIX_FMT_YUV420P10LE) }
    /// 8-bit 4:2:0 with alpha.
    public static var yuva420p: PixelFormat { PixelFormat(AV_PIX_FMT_YUVA420P) }

    /// 8-bit packed RGB.
    public static var rgb24: PixelFormat { PixelFormat(AV_PIX_FMT_RGB24) }
    /// 8-bit packed RGB with alpha.
    public static var rgba: PixelFormat { PixelFormat(AV_PIX_FMT_RGBA) }
    /// 8-bit packed BGR with alpha.
    public static var bgra: PixelFormat { PixelFormat(AV_PIX_FMT_BGRA) }
    /// 8-bit grayscale.
    public static var gray: PixelFormat { PixelFormat(AV_PIX_FMT_GRAY8) }
    /// 8-bit 4:2:0 in two planes.
    public static var nv12: PixelFormat { PixelFormat(AV_PIX_FMT_NV12) }

    /// Name of the format in FFmpeg; `none` if it has no name.
    public var description: String { av_get_pix_fmt_name(av).map { String(cString: $0) } ?? "none" }

    /// Whether the format has an alpha plane.
    public var hasAlpha: Bool {
        av_pix_fmt_desc_get(av).map { $0.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 } ?? false
    }
    /// Whether the components are RGB (planar, packed or a palette) or XYZ.
    public var isRGB: Bool {
        let flags = UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)
        return av_pix_fmt_desc_get(av).map { $0.pointee.flags & flags != 0 } ?? false
            || description.hasPrefix("xyz")
    }
    /// Whether the format's name implies full range, as `yuvj420p` does.
    package var isFullRangeByName: Bool { description.hasPrefix("yuvj") }
    /// Equivalent format whose name doesn't imply full range.
    package var withoutRangeByName: PixelFormat {
        isFullRangeByName ? PixelFormat(named: "yuv" + description.dropFirst(4)) ?? self : self
    }
    /// Whether players assume full range if none is declared. This applies to formats whose name implies it, RGB and
    /// grayscale.
    package var isFullRangeByDefault: Bool {
        isFullRangeByName || isRGB || description.hasPrefix("gray") || description.hasPrefix("ya")
    }
    /// Bits per component; 8 if unknown.
    public var bitDepth: Int { av_pix_fmt_desc_get(av).map { Int($0.pointee.comp.0.depth) } ?? 8 }

    /// Size of a component in bytes, if all components of the planes are whole, aligned and in the machine's byte order:
    /// 1, 2 or, for floating point, 4. Nil for formats that pack components into shared bytes, for palettes, and for
    /// hardware formats.
    package var componentSize: Int? {
        guard let descriptor = av_pix_fmt_desc_get(av) else { return nil }
        let flags = descriptor.pointee.flags
        let excluded = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_PAL
        guard flags & UInt64(excluded) == 0 else { return nil }
        let isFloat = flags & UInt64(AV_PIX_FMT_FLAG_FLOAT) != 0
        return withUnsafeBytes(of: descriptor.pointee.comp) { bytes in
            let components = bytes.bindMemory(to: AVComponentDescriptor.self)
                .prefix(Int(descriptor.pointee.nb_components))
            let depth = components.map(\.depth).max() ?? 0
            let size = depth <= 8 ? 1 : depth <= 16 ? 2 : 4
            guard isFloat == (size == 4), size == 1 || flags & UInt64(AV_PIX_FMT_FLAG_BE) == 0,
                components.allSatisfy({
                    Int($0.step) % size == 0 && Int($0.offset) % size == 0
                        && Int($0.depth + $0.shift) <= size * 8
                })
            else { return nil }
            return size
        }
    }

    /// Number of pixels that share one chroma sample, horizontally and vertically.
    public var chromaSubsampling: (x: Int, y: Int) {
        av_pix_fmt_desc_get(av).map {
            (1 << Int($0.pointee.log2_chroma_w), 1 << Int($0.pointee.log2_chroma_h))
        } ?? (1, 1)
    }
    /// Whether frames have chroma planes: neither RGB nor grayscale, and not unknown.
    package var hasChroma: Bool {
        av_pix_fmt_desc_get(av).map { $0.pointee.nb_components >= 3 && !isRGB } ?? false
    }
    /// Returns the format to which a conversion loses least (`avcodec_find_best_pix_fmt_of_list`). Returns this
    /// format if the list is empty.
    package func nearest(of formats: [PixelFormat]) -> PixelFormat? {
        if formats.isEmpty || formats.contains(self) { return self }
        var list = formats.map(\.av)
        list.append(AV_PIX_FMT_NONE)
        let best = avcodec_find_best_pix_fmt_of_list(list, av, hasAlpha ? 1 : 0, nil)
        return best == AV_PIX_FMT_NONE ? nil : PixelFormat(best)
    }

    /// Decodes a name; an unknown name becomes `none`.
    public init(from decoder: any Decoder) throws {
        self = PixelFormat(named: try decoder.singleValueContainer().decode(String.self)) ?? .none
    }
    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A sample format (`AVSampleFormat`), encoded by its name.
public struct SampleFormat: Hashable, Codable, Sendable, CustomStringConvertible {
    let value: Int32
    var av: AVSampleFormat { AVSampleFormat(rawValue: value) }

    init(_ format: AVSampleFormat) { value = format.rawValue }

    /// Looks up a sample format by name (`s16`, `fltp`); nil if it doesn't exist.
    public init?(named name: String) {
        let format = av_get_sample_fmt(name)
        guard format != AV_SAMPLE_FMT_NONE else { return nil }
        self.init(format)
    }

    /// No format, or an unknown one.
    public static var none: SampleFormat { SampleFormat(AV_SAMPLE_FMT_NONE) }
    /// 16-bit integers, interleaved.
    public static var s16: SampleFormat { SampleFormat(AV_SAMPLE_FMT_S16) }
    /// 32-bit floating point, interleaved.
    public static var float: SampleFormat { SampleFormat(AV_SAMPLE_FMT_FLT) }
    /// 32-bit floating point, planar.
    public static var planarFloat: SampleFormat { SampleFormat(AV_SAMPLE_FMT_FLTP) }
    /// Name of the format in FFmpeg; `none` if it has no name.
    public var description: String { av_get_sample_fmt_name(av).map { String(cString: $0) } ?? "none" }
    /// Size of one sample of one channel, in bytes.
    public var bytesPerSample: Int { Int(max(0, av_get_bytes_per_sample(av))) }
    /// Whether each channel is stored in a separate plane.
    public var isPlanar: Bool { av_sample_fmt_is_planar(av) != 0 }
    /// The same format with interleaved channels; the format itself if they are interleaved.
    public var interleaved: SampleFormat { SampleFormat(av_get_packed_sample_fmt(av)) }
    /// 64-bit floating point, interleaved.
    public static var double: SampleFormat { SampleFormat(AV_SAMPLE_FMT_DBL) }
    /// 32-bit integers, interleaved.
    public static var s32: SampleFormat { SampleFormat(AV_SAMPLE_FMT_S32) }
    /// 8-bit unsigned integers, interleaved.
    public static var u8: SampleFormat { SampleFormat(AV_SAMPLE_FMT_U8) }

    /// Returns the format to which a conversion loses least. Returns this format if the list is empty.
    package func nearest(of formats: [SampleFormat]) -> SampleFormat? {
        if formats.isEmpty || formats.contains(self) { return self }
        let packed = SampleFormat(av_get_packed_sample_fmt(av))
        if let same = formats.first(where: { SampleFormat(av_get_packed_sample_fmt($0.av)) == packed }) {
            return same
        }
        // The smallest of the wider formats is preferred, then the widest format, to avoid an unnecessary loss of bit
        // depth.
        let wider = formats.filter { $0.bytesPerSample >= bytesPerSample }
        return wider.min { $0.bytesPerSample < $1.bytesPerSample }
            ?? formats.max { $0.bytesPerSample < $1.bytesPerSample }
    }

    /// Decodes a name; an unknown name becomes `none`.
    public init(from decoder: any Decoder) throws {
        self = SampleFormat(named: try decoder.singleValueContainer().decode(String.self)) ?? .none
    }
    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A channel layout (`AVChannelLayout`), encoded by its description: `stereo`, `5.1(side)`, `3 channels`.
public struct ChannelLayout: Hashable, Codable, Sendable, CustomStringConvertible {
    /// Number of channels.
    public let channels: Int
    /// libavutil's name of the layout.
    public let description: String

    init(_ layout: AVChannelLayout) {
        var copy = layout
        channels = Int(min(max(0, layout.nb_channels), Int32(UInt16.max)))
        description = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress,
                av_channel_layout_describe(&copy, base, buffer.count) >= 0
            else { return "\(min(max(0, layout.nb_channels), Int32(UInt16.max))) channels" }
            return String(cString: base)
        }
    }

    /// Looks up a layout by name (`mono`, `stereo`, `5.1`, `7.1(wide)`, `3c`); nil if it doesn't exist.
    public init?(named name: String) {
        var layout = AVChannelLayout()
        guard av_channel_layout_from_string(&layout, name) >= 0 else { return nil }
        defer { av_channel_layout_uninit(&layout) }
        guard layout.nb_channels > 0, layout.nb_channels <= 64 else { return nil }
        self.init(layout)
    }

    /// Creates the default layout for a number of channels (`av_channel_layout_default`).
    public init(defaultFor channels: Int) {
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, Int32(clamping: channels))
        self.init(layout)
        av_channel_layout_uninit(&layout)
    }

    /// The layout with a single center channel.
    public static var mono: ChannelLayout { ChannelLayout(defaultFor: 1) }
    /// The layout with a left and a right channel.
    public static var stereo: ChannelLayout { ChannelLayout(defaultFor: 2) }

    /// Whether the layout assigns speaker positions to its channels. A mere channel count doesn't.
    package var isSpecified: Bool {
        var layout = AVChannelLayout()
        guard av_channel_layout_from_string(&layout, description) >= 0 else { return false }
        defer { av_channel_layout_uninit(&layout) }
        return layout.order != AV_CHANNEL_ORDER_UNSPEC
    }

    /// The layout if it assigns speaker positions, otherwise the default layout for its channel count.
    package var specified: ChannelLayout { isSpecified ? self : ChannelLayout(defaultFor: channels) }

    /// Speaker positions as a bit mask (`AV_CH_…`); 0 without positions.
    private var speakers: UInt64 {
        var layout = AVChannelLayout()
        guard av_channel_layout_from_string(&layout, description) >= 0 else { return 0 }
        defer { av_channel_layout_uninit(&layout) }
        return layout.order == AV_CHANNEL_ORDER_NATIVE ? layout.u.mask : 0
    }

    /// Returns speaker positions with side surrounds as back surrounds, if the layout has no back channels.
    private static func normalized(_ speakers: UInt64) -> UInt64 {
        let (side, back, centre): (UInt64, UInt64, UInt64) = (0x600, 0x30, 0x100)
        return speakers & side == side && speakers & (back | centre) == 0 ? speakers & ~side | back : speakers
    }

    /// Returns the number of channels with a position in another layout.
    private func commonChannels(in other: ChannelLayout) -> Int {
        let (own, others) = (speakers, other.speakers)
        return max(
            (own & others).nonzeroBitCount, (Self.normalized(own) & Self.normalized(others)).nonzeroBitCount)
    }

    /// Returns whether the layout contains all speaker positions of another layout.
    package func contains(_ other: ChannelLayout) -> Bool {
        other.speakers != 0 && other.commonChannels(in: self) == other.channels
    }

    /// Returns the layout that preserves the most channels at their positions, with as few additional channels as
    /// possible; nil if the list is empty.
    package func nearest(of layouts: [ChannelLayout]) -> ChannelLayout? {
        if layouts.contains(self) { return self }
        let best = layouts.filter { candidate in
            !layouts.contains { commonChannels(in: $0) > commonChannels(in: candidate) }
        }
        return best.filter { $0.channels >= channels }.min { $0.channels < $1.channels }
            ?? best.max { $0.channels < $1.channels }
    }

    func copy(to target: inout AVChannelLayout) throws(AVError) {
        av_channel_layout_uninit(&target)
        if av_channel_layout_from_string(&target, description) < 0 {
            av_channel_layout_default(&target, Int32(clamping: channels))
        }
    }

    /// Creates a layout from a channel count that libavutil rejects: 0, or more than its maximum.
    private init?(counted text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[1] == "channels", let count = UInt16(words[0]) else { return nil }
        (channels, description) = (Int(count), "\(count) channels")
    }

    /// Decodes a description, including channel counts that libavutil rejects, which come from file headers.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let layout = ChannelLayout(named: text) ?? ChannelLayout(counted: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a channel layout: \(text)"))
        }
        self = layout
    }
    /// Encodes the description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
