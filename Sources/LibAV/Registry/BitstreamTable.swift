extension BitstreamTraits {
    /// Traits of codecs by FFmpeg's names.
    static let table: [String: BitstreamTraits] = [
        // Audio
        "aac": makeTraits {
            ($0.lengths, $0.fillsPackets, $0.mayDoubleRate) = (.fixed, true, true)
            $0.manifestString = .mpeg4Audio
            $0.unwrappingFilter = "aac_adtstoasc"
        },
        "mp1": makeTraits { $0.lengths = .fixed },
        "mp2": makeTraits { ($0.lengths, $0.fillsPackets) = (.fixed, true) },
        // A packet may refer to up to 511 bytes of earlier packets (bit reservoir), which may be many small packets.
        "mp3": makeTraits {
            ($0.lengths, $0.fillsPackets, $0.preroll) = (.fixed, true, 250)
            $0.manifestString = .mpegAudio
        },
        "ac3": makeTraits {
            ($0.lengths, $0.fillsPackets, $0.manifestString) = (.fixed, true, .fixed("ac-3"))
        },
        "eac3": makeTraits {
            ($0.lengths, $0.fillsPackets, $0.manifestString) = (.enhancedAC3, true, .fixed("ec-3"))
        },
        "amr_nb": makeTraits { $0.lengths = .fixed },
        "amr_wb": makeTraits { $0.lengths = .fixed },
        "gsm": makeTraits { $0.lengths = .fixed },
        "dts": makeTraits { $0.lengths = .dts },
        "truehd": meridian,
        "mlp": meridian,
        "opus": makeTraits {
            ($0.lengths, $0.preroll, $0.packetsASecond) = (.opus, 80, 9)
            ($0.hasDelayInHeader, $0.hasUnevenPackets, $0.hasOwnLoudnessTags) = (true, true, true)
            $0.manifestString = .fixed("opus")
        },
        "vorbis": makeTraits { ($0.lengths, $0.hasUnevenPackets) = (.vorbis, true) },
        "flac": makeTraits {
            ($0.lengths, $0.storesLengthInHeader, $0.hasChecksums) = (.flac, true, true)
            $0.manifestString = .fixed("fLaC")
        },
        "alac": makeTraits { ($0.lengths, $0.manifestString) = (.alac, .fixed("alac")) },
        "wavpack": makeTraits { $0.hasChecksums = true },
        "tta": makeTraits { $0.hasChecksums = true },
        // Video
        "h264": makeTraits {
            ($0.parameterSets, $0.storedColor, $0.carriesCaptions) = (.avc, .all, true)
            ($0.playsPlainAs, $0.randomAccess, $0.manifestString) = ("H.264", .recoveryPoint, .avc)
        },
        "hevc": makeTraits {
            ($0.parameterSets, $0.storedColor, $0.carriesCaptions) = (.hevc, .all, true)
            // `hvc1` declares that parameter sets are only in the header, which Apple's players require.
            ($0.movieTag, $0.randomAccess, $0.manifestString) = ("hvc1", .keyframe, .hevc)
        },
        "vvc": makeTraits { ($0.storedColor, $0.randomAccess) = (.all, .keyframe) },
        "av1": makeTraits {
            ($0.storedColor, $0.randomAccess, $0.manifestString) = (.all, .keyframe, .av1)
        },
        "vp8": makeTraits { ($0.randomAccess, $0.hidesFrames) = (.keyframe, true) },
        "vp9": makeTraits {
            ($0.storedColor, $0.randomAccess, $0.manifestString) = (.all, .keyframe, .vp9)
        },
        "vc1": makeTraits { ($0.storedColor, $0.randomAccess) = (.all, .keyframe) },
        "dnxhd": makeTraits { ($0.storedColor, $0.declaresFieldsInFrames) = (.matrix, true) },
        "dvvideo": makeTraits { $0.declaresFieldsInFrames = true },
        "prores": makeTraits { ($0.storedColor, $0.declaresProfileInTag) = (.all, true) },
        "mpeg1video": makeTraits { ($0.olderVideo, $0.randomAccess) = (.mpeg2, .withheld) },
        "mpeg2video": makeTraits {
            ($0.storedColor, $0.carriesCaptions) = (.all, true)
            ($0.olderVideo, $0.randomAccess) = (.mpeg2, .withheld)
        },
        "mpeg4": makeTraits {
            ($0.olderVideo, $0.randomAccess, $0.declaresFieldsInFrames) = (.mpeg4, .keyframe, true)
        },
        "ffv1": makeTraits { $0.hasChecksums = true },
        // Images
        "mjpeg": makeTraits {
            ($0.storedColor, $0.cover) = ([.matrix, .range], Cover(mime: "image/jpeg", name: "cover.jpg"))
            $0.declaresFieldsInFrames = true
        },
        "png": makeTraits {
            ($0.hasChecksums, $0.cover) = (true, Cover(mime: "image/png", name: "cover.png"))
        },
        "bmp": makeTraits { $0.cover = Cover(mime: "image/bmp", name: "cover.bmp") },
        "gif": makeTraits { $0.cover = Cover(mime: "image/gif", name: "cover.gif") },
        "webp": makeTraits { $0.cover = Cover(mime: "image/webp", name: "cover.webp") },
        "tiff": makeTraits { $0.cover = Cover(mime: "image/tiff", name: "cover.tiff") },
        "rawvideo": makeTraits { $0.isGenerated = true },
        // PCM that can't be cut at any sample
        "pcm_bluray": blockedPCM, "pcm_dvd": blockedPCM, "pcm_lxf": blockedPCM, "pcm_s24daud": blockedPCM,
        "pcm_s8_planar": blockedPCM, "pcm_s16le_planar": blockedPCM, "pcm_s16be_planar": blockedPCM,
        "pcm_s24le_planar": blockedPCM, "pcm_s32le_planar": blockedPCM,
        // Data
        "bin_data": makeTraits { $0.isNameless = true },
        CodecParameters.unknownCodec: makeTraits { $0.isNameless = true },
        "unknown": makeTraits { $0.isNameless = true },
        // Subtitles
        "mov_text": makeTraits { $0.hasEmptyCues = true },
        "ass": makeTraits { $0.hasStyles = true },
        "ssa": makeTraits { $0.hasStyles = true },
        "webvtt": makeTraits { ($0.hasCuePositions, $0.manifestString) = (true, .fixed("wvtt")) },
        "ttml": makeTraits { $0.manifestString = .fixed("stpp") },
        "hdmv_pgs_subtitle": makeTraits { $0.displaySets = .pgs },
        "dvb_subtitle": makeTraits { $0.displaySets = .dvb },
    ]

    /// Traits of interleaved PCM.
    static let pcm = makeTraits { ($0.lengths, $0.isPCM, $0.isCutAtSamples) = (.fixed, true, true) }
    /// Traits of PCM in blocks or with planar channels.
    private static let blockedPCM = makeTraits { ($0.lengths, $0.isPCM) = (.fixed, true) }

    private static let meridian = makeTraits {
        ($0.lengths, $0.preroll, $0.hasSyncPackets, $0.hasChecksums) = (.trueHD, 150, true, true)
    }

    private static func makeTraits(_ change: (inout BitstreamTraits) -> Void) -> BitstreamTraits {
        var traits = BitstreamTraits()
        change(&traits)
        return traits
    }
}
