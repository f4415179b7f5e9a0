internal import LibAV

extension ContainerModel {
    /// MPEG-2 transport streams (ISO/IEC 13818-1).
    static let ts: ContainerModel = {
        var model = ContainerModel(
            "ts", muxer: "mpegts", ["ts", "m2ts", "mts"], [.video, .audio, .subtitle, .data])
        model.demuxer = .transportStream
        model.codecs = .only([
            "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "aac", "mp1", "mp2", "mp3", "ac3", "eac3",
            "dts", "truehd", "opus", "dvb_subtitle", "dvb_teletext",
        ])
        // ID3 is excluded: libavformat drops its first five bytes when it reads them.
        model.dataCodecs = ["klv"]
        model.audioTimeBase = Rational(1, 90_000)
        // If a PES packet contains several audio packets, only the first has a timestamp, so gaps between them would be
        // lost.
        model.copiedAudioOptions = [(key: "pes_payload_size", value: "0")]
        model.isMovedToZero = true
        model.canStartAnywhere = true
        model.isPlayableUnfinished = true
        model.delayedCodecs = ["opus"]
        model.hasChapters = false
        model.metadataKeys = []
        model.languageFormat = .threeLetters
        // Video has no language descriptor.
        model.languages = [.audio, .subtitle]
        model.hasTrackTitles = false
        model.dispositions = [
            .audio: ["hearing_impaired", "visual_impaired", "clean_effects"], .subtitle: ["hearing_impaired"],
        ]
        model.framing = .transport
        model.packetStages = { parameters, track in
            if parameters.codecName == "klv" { return [KLVFraming(track: track)] }
            if let headers = InBandHeaders(parameters) { return [headers] }
            return InBandSets(parameters).map { [$0] } ?? []
        }
        return model
    }()
}
