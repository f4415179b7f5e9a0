internal import CFFmpeg

/// The capabilities of an encoder of this build (`AVCodec`).
package struct EncoderInfo: Sendable {
    /// Name of the encoder in FFmpeg.
    package let name: String
    /// Name of the codec in FFmpeg.
    package let codecName: String
    /// Supported pixel formats; empty for any.
    package let pixelFormats: [PixelFormat]
    /// Supported sample formats; empty for any.
    package let sampleFormats: [SampleFormat]
    /// Supported sample rates; empty for any.
    package let sampleRates: [Int32]
    /// Supported channel layouts; empty for any.
    package let layouts: [ChannelLayout]

    /// Looks up an encoder by name; nil if this build doesn't contain it.
    package init?(named name: String) {
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

    /// Returns the declaration of a private option; nil if the encoder has no such option.
    package func option(_ option: String) -> OptionInfo? {
        guard let codec = avcodec_find_encoder_by_name(name), let type = codec.pointee.priv_class else {
            return nil
        }
        return OptionInfo.find(option, in: type)
    }
}

/// A muxer of this build (`AVOutputFormat`).
package struct MuxerInfo: Sendable {
    /// Name of the muxer in FFmpeg.
    package let name: String

    /// Looks up a muxer by name; nil if this build doesn't contain it.
    package init?(named name: String) {
        guard av_guess_format(name, nil, nil) != nil else { return nil }
        self.name = name
    }

    /// Returns whether the container supports a codec, by FFmpeg's name (`avformat_query_codec`).
    package func canHold(codec: String) -> Bool {
        guard let format = av_guess_format(name, nil, nil),
            let descriptor = avcodec_descriptor_get_by_name(codec)
        else {
            return false
        }
        return avformat_query_codec(format, descriptor.pointee.id, FF_COMPLIANCE_NORMAL) == 1
    }
}

/// Versions of FFmpeg's libraries, for reports and fingerprints.
package enum LibraryVersions {
    /// Name and version of each library; `none` for libavfilter if it isn't available.
    package static var all: [MetadataEntry] {
        let loaded = [
            ("libavutil", avutil_version()), ("libavcodec", avcodec_version()),
            ("libavformat", avformat_version()), ("libswresample", swresample_version()),
            ("libswscale", swscale_version()),
        ].map { name, version in
            MetadataEntry(key: name, value: "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)")
        }
        // The order must not change, because fingerprints contain it.
        let filters = MetadataEntry(key: "libavfilter", value: FilterLibrary.version ?? "none")
        return loaded.prefix(3) + [filters] + loaded.dropFirst(3)
    }
    /// Version of FFmpeg's release or build (`av_version_info`).
    package static var ffmpeg: String { String(cString: av_version_info()) }
}
