internal import CFFmpeg

/// What an encoder of this build can do (`AVCodec`).
public struct EncoderInfo: Sendable {
    /// Its libav name.
    public let name: String
    /// The codec that it makes.
    public let codecName: String
    /// Pixel formats that it takes, empty where any.
    public let pixelFormats: [PixelFormat]
    /// Sample formats that it takes, empty where any.
    public let sampleFormats: [SampleFormat]
    /// Sample rates that it takes, empty where any.
    public let sampleRates: [Int32]
    /// Layouts that it takes, empty where any.
    public let layouts: [ChannelLayout]

    /// The encoder of that name, or nil where this build has none.
    public init?(named name: String) {
        LogBridge.install()
        guard let codec = avcodec_find_encoder_by_name(name) else { return nil }
        self.name = name
        codecName = String(cString: avcodec_get_name(codec.pointee.id))
        pixelFormats = EncoderInfo.list(tandem_codec_pix_fmts(codec), until: { $0 == AV_PIX_FMT_NONE }).map {
            PixelFormat($0)
        }
        sampleFormats = EncoderInfo.list(tandem_codec_sample_fmts(codec), until: { $0 == AV_SAMPLE_FMT_NONE })
            .map {
                SampleFormat($0)
            }
        sampleRates = EncoderInfo.list(tandem_codec_sample_rates(codec), until: { $0 == 0 })
        layouts = EncoderInfo.list(tandem_codec_layouts(codec), until: { $0.nb_channels == 0 }).map {
            ChannelLayout($0)
        }
    }

    private static func list<T>(_ first: UnsafePointer<T>?, until isEnd: (T) -> Bool) -> [T] {
        guard let first else { return [] }
        var items: [T] = []
        while items.count < 1024, !isEnd(first[items.count]) { items.append(first[items.count]) }
        return items
    }

    /// One of its private options; nil where it has none of that name.
    public func option(_ option: String) -> OptionInfo? {
        guard let codec = avcodec_find_encoder_by_name(name), let type = codec.pointee.priv_class else {
            return nil
        }
        return OptionInfo.find(option, in: type)
    }
}

/// What a container of this build can hold (`AVOutputFormat`).
package struct MuxerInfo: Sendable {
    /// Its libav name.
    package let name: String

    /// The muxer of that name, or nil where this build has none.
    package init?(named name: String) {
        guard av_guess_format(name, nil, nil) != nil else { return nil }
        self.name = name
    }

    /// It can hold that codec, named as libav does (`avformat_query_codec`).
    package func canHold(codec: String) -> Bool {
        guard let format = av_guess_format(name, nil, nil),
            let descriptor = avcodec_descriptor_get_by_name(codec)
        else {
            return false
        }
        return avformat_query_codec(format, descriptor.pointee.id, FF_COMPLIANCE_NORMAL) == 1
    }
}

/// The libraries' own versions, for reports and fingerprints.
package enum LibraryVersions {
    /// Name and version of each, as loaded or, of libavfilter, as it would be.
    package static var all: [MetadataEntry] {
        let loaded = [
            ("libavutil", avutil_version()), ("libavcodec", avcodec_version()),
            ("libavformat", avformat_version()), ("libswresample", swresample_version()),
            ("libswscale", swscale_version()),
        ].map { name, version in
            MetadataEntry(key: name, value: "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)")
        }
        // In an order that never changes: fingerprints are made of it.
        let filters = MetadataEntry(key: "libavfilter", value: FilterLibrary.version ?? "none")
        return loaded.prefix(3) + [filters] + loaded.dropFirst(3)
    }
    /// FFmpeg's release, as its build names it (`av_version_info`).
    package static var ffmpeg: String { String(cString: av_version_info()) }
}
