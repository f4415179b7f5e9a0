extension BitstreamTraits {
    /// Traits of codecs by libav's names.
    static let table: [String: BitstreamTraits] = [
        // Audio
        "aac": made { ($0.lengths, $0.fillsPackets, $0.mayDoubleRate) = (.usual, true, true) },
        "mp1": made { $0.lengths = .usual },
        "mp2": made { ($0.lengths, $0.fillsPackets) = (.usual, true) },
        // A packet may use up to 511 bytes of earlier ones, which may be many small packets.
        "mp3": made { ($0.lengths, $0.fillsPackets, $0.preroll) = (.usual, true, 250) },
        "ac3": made { ($0.lengths, $0.fillsPackets) = (.usual, true) },
        "eac3": made { ($0.lengths, $0.fillsPackets) = (.enhancedAC3, true) },
        "amr_nb": made { $0.lengths = .usual },
        "amr_wb": made { $0.lengths = .usual },
        "gsm": made { $0.lengths = .usual },
        "dts": made { $0.lengths = .dts },
        "truehd": meridian,
        "mlp": meridian,
        "opus": made {
            ($0.lengths, $0.preroll, $0.packetsASecond) = (.opus, 80, 9)
            ($0.hasDelayInHeader, $0.hasUnevenPackets, $0.hasOwnLoudnessTags) = (true, true, true)
        },
        "vorbis": made { ($0.lengths, $0.hasUnevenPackets) = (.vorbis, true) },
        "flac": made { ($0.lengths, $0.saysLengthAtStart, $0.hasChecksums) = (.flac, true, true) },
        "alac": made { $0.lengths = .alac },
        "wavpack": made { $0.hasChecksums = true },
        "tta": made { $0.hasChecksums = true },
        // Video
        "h264": made {
            ($0.parameterSets, $0.saidColor, $0.carriesCaptions) = (.avc, .all, true)
            ($0.playsPlainAs, $0.randomAccess) = ("H.264", .recoveryPoint)
        },
        "hevc": made {
            ($0.parameterSets, $0.saidColor, $0.carriesCaptions) = (.hevc, .all, true)
            // Parameter sets are only in the header, which Apple's players require the tag to declare.
            ($0.movieTag, $0.randomAccess) = ("hvc1", .keyframe)
        },
        "vvc": made { ($0.saidColor, $0.randomAccess) = (.all, .keyframe) },
        "av1": made { ($0.saidColor, $0.randomAccess) = (.all, .keyframe) },
        "vp8": made { ($0.randomAccess, $0.hidesFrames) = (.keyframe, true) },
        "vp9": made { ($0.saidColor, $0.randomAccess) = (.all, .keyframe) },
        "vc1": made { ($0.saidColor, $0.randomAccess) = (.all, .keyframe) },
        "dnxhd": made { ($0.saidColor, $0.saysFieldsInFrames) = (.matrix, true) },
        "dvvideo": made { $0.saysFieldsInFrames = true },
        "prores": made { ($0.saidColor, $0.saysProfileInTag) = (.all, true) },
        "mpeg1video": made { ($0.olderVideo, $0.randomAccess) = (.mpeg2, .withheld) },
        "mpeg2video": made {
            ($0.saidColor, $0.carriesCaptions) = (.all, true)
            ($0.olderVideo, $0.randomAccess) = (.mpeg2, .withheld)
        },
        "mpeg4": made {
            ($0.olderVideo, $0.randomAccess, $0.saysFieldsInFrames) = (.mpeg4, .keyframe, true)
        },
        "ffv1": made { $0.hasChecksums = true },
        // Images
        "mjpeg": made {
            ($0.saidColor, $0.cover) = ([.matrix, .range], Cover(mime: "image/jpeg", name: "cover.jpg"))
            $0.saysFieldsInFrames = true
        },
        "png": made { ($0.hasChecksums, $0.cover) = (true, Cover(mime: "image/png", name: "cover.png")) },
        "bmp": made { $0.cover = Cover(mime: "image/bmp", name: "cover.bmp") },
        "gif": made { $0.cover = Cover(mime: "image/gif", name: "cover.gif") },
        "webp": made { $0.cover = Cover(mime: "image/webp", name: "cover.webp") },
        "tiff": made { $0.cover = Cover(mime: "image/tiff", name: "cover.tiff") },
        "rawvideo": made { $0.isGenerated = true },
        // Samples that can't be cut at any sample
        "pcm_bluray": blockedPCM, "pcm_dvd": blockedPCM, "pcm_lxf": blockedPCM, "pcm_s24daud": blockedPCM,
        "pcm_s8_planar": blockedPCM, "pcm_s16le_planar": blockedPCM, "pcm_s16be_planar": blockedPCM,
        "pcm_s24le_planar": blockedPCM, "pcm_s32le_planar": blockedPCM,
        // Data
        "bin_data": made { $0.isNameless = true },
        "none": made { $0.isNameless = true },
        "unknown": made { $0.isNameless = true },
        // Subtitles
        "mov_text": made { $0.hasEmptyCues = true },
        "ass": made { $0.hasStyles = true },
        "ssa": made { $0.hasStyles = true },
        "webvtt": made { $0.hasCuePlaces = true },
        "hdmv_pgs_subtitle": made { $0.displaySets = .pgs },
        "dvb_subtitle": made { $0.displaySets = .dvb },
    ]

    /// PCM of any byte order.
    static let pcm = made { ($0.lengths, $0.isPCM, $0.isCutAtSamples) = (.usual, true, true) }
    /// PCM in blocks or with separate channels.
    private static let blockedPCM = made { ($0.lengths, $0.isPCM) = (.usual, true) }

    private static let meridian = made {
        ($0.lengths, $0.preroll, $0.hasSyncPackets, $0.hasChecksums) = (.trueHD, 150, true, true)
    }

    private static func made(_ change: (inout BitstreamTraits) -> Void) -> BitstreamTraits {
        var traits = BitstreamTraits()
        change(&traits)
        return traits
    }
}
