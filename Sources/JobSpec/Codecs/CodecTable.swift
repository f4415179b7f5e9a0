internal import LibAV

extension CodecModel {
    /// Codecs of tracks, in the order in which they are listed.
    static let table: [CodecModel] = [
        CodecModel("h264", .video) { $0.aliases = ["avc", "h.264"] },
        CodecModel("hevc", .video) { $0.aliases = ["h265", "h.265"] },
        // VP9 declares its color only by `color_space` in the frame header, which can represent these matrices.
        CodecModel("vp9", .video) {
            $0.matrices = ["bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020nc", "gbr"]
        },
        CodecModel("av1", .video),
        CodecModel("prores", .video) { $0.fixedColor = .limited },
        CodecModel("mjpeg", .video) { $0.fixedColor = .jpeg },
        CodecModel("ffv1", .video),
        CodecModel("aac", .audio) { $0.aliases = ["libfdk_aac"] },
        CodecModel("opus", .audio) { $0.hasOwnSampleRate = true },
        CodecModel("mp3", .audio),
        CodecModel("ac3", .audio) { $0.aliases = ["ac-3"] },
        CodecModel("vorbis", .audio),
        CodecModel("flac", .audio),
        CodecModel("alac", .audio),
        CodecModel("pcm_s16le", .audio) { $0.aliases = ["pcm", "wav"] },
        CodecModel("pcm_s24le", .audio),
        CodecModel("pcm_s32le", .audio),
        CodecModel("pcm_f32le", .audio),
    ]

    /// Codecs of still images, named after their file formats, in the order in which they are listed.
    static let imageCodecs: [CodecModel] = [
        CodecModel("jpeg", .video, libavName: "mjpeg", purpose: .stillImages) { $0.fixedColor = .jpeg },
        CodecModel("png", .video, purpose: .stillImages),
        CodecModel("webp", .video, purpose: .stillImages),
    ]

    /// Codecs of animations, named after their file formats, in the order in which they are listed.
    static let animations: [CodecModel] = [
        CodecModel("gif", .video, purpose: .animations),
        CodecModel("webp", .video, purpose: .animations),
    ]

    /// Placeholder codec of waveforms, which are measured from 16-bit PCM.
    static let waveform = CodecModel("waveform", .audio, libavName: "pcm_s16le")
}
