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
    /// Whether codec headers are stored in the container's header instead of the packets
    /// (`AVFMT_GLOBALHEADER`).
    package let requiresGlobalHeaders: Bool

    /// Looks up a muxer by name; nil if this build doesn't contain it.
    package init?(named name: String) {
        guard let format = av_guess_format(name, nil, nil) else { return nil }
        self.name = name
        requiresGlobalHeaders = format.pointee.flags & AVFMT_GLOBALHEADER != 0
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
    /// The version of a library (`AV_VERSION_INT`).
    package struct Version: Hashable, Sendable {
        package var major: Int
        package var minor: Int
        package var micro: Int
        package var text: String { "\(major).\(minor).\(micro)" }

        package init(_ major: Int, _ minor: Int, _ micro: Int) {
            (self.major, self.minor, self.micro) = (major, minor, micro)
        }

        fileprivate init(_ number: UInt32) {
            self.init(Int(number >> 16), Int(number >> 8 & 0xff), Int(number & 0xff))
        }

        fileprivate init(_ major: Int32, _ minor: Int32, _ micro: Int32) {
            self.init(Int(major), Int(minor), Int(micro))
        }
    }

    /// The versions of a library: of the headers that the program was compiled with, and of the loaded library.
    package struct Pair: Hashable, Sendable {
        package var name: String
        package var compiled: Version
        /// Loaded version; nil if the library can't be loaded.
        package var loaded: Version?

        package init(name: String, compiled: Version, loaded: Version?) {
            (self.name, self.compiled, self.loaded) = (name, compiled, loaded)
        }

        /// Whether the loaded library has the functions and structures of the headers: the same major version, and at
        /// least the same minor version.
        package var isCompatible: Bool {
            guard let loaded else { return false }
            return loaded.major == compiled.major && loaded.minor >= compiled.minor
        }
    }

    /// Compiled and loaded versions of all libraries. libavfilter is loaded by this call.
    package static var pairs: [Pair] {
        let filters = FilterLibrary.version?.split(separator: ".").compactMap { Int($0) }
        return [
            Pair(
                name: "libavutil",
                compiled: Version(LIBAVUTIL_VERSION_MAJOR, LIBAVUTIL_VERSION_MINOR, LIBAVUTIL_VERSION_MICRO),
                loaded: Version(avutil_version())),
            Pair(
                name: "libavcodec",
                compiled: Version(
                    LIBAVCODEC_VERSION_MAJOR, LIBAVCODEC_VERSION_MINOR, LIBAVCODEC_VERSION_MICRO),
                loaded: Version(avcodec_version())),
            Pair(
                name: "libavformat",
                compiled: Version(
                    LIBAVFORMAT_VERSION_MAJOR, LIBAVFORMAT_VERSION_MINOR, LIBAVFORMAT_VERSION_MICRO),
                loaded: Version(avformat_version())),
            Pair(
                name: "libavfilter",
                compiled: Version(
                    LIBAVFILTER_VERSION_MAJOR, LIBAVFILTER_VERSION_MINOR, LIBAVFILTER_VERSION_MICRO),
                loaded: filters?.count == 3 ? filters.map { Version($0[0], $0[1], $0[2]) } : nil),
            Pair(
                name: "libswresample",
                compiled: Version(
                    LIBSWRESAMPLE_VERSION_MAJOR, LIBSWRESAMPLE_VERSION_MINOR, LIBSWRESAMPLE_VERSION_MICRO),
                loaded: Version(swresample_version())),
            Pair(
                name: "libswscale",
                compiled: Version(
                    LIBSWSCALE_VERSION_MAJOR, LIBSWSCALE_VERSION_MINOR, LIBSWSCALE_VERSION_MICRO),
                loaded: Version(swscale_version())),
        ]
    }

    /// Version of FFmpeg's release or build (`av_version_info`).
    package static var ffmpeg: String { String(cString: av_version_info()) }
}
