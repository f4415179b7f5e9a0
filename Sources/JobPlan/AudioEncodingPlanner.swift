internal import JobSpec
internal import LibAV
internal import Media

/// Resolves how a track of sound is compressed.
struct AudioEncodingPlanner {
    let spec: AudioEncodeSpec
    let track: SourceDescription.Track
    let encoder: EncoderInfo
    var notes: [String] = []
    private var settings: [TrackPlan.Setting] = []

    init(spec: AudioEncodeSpec, track: SourceDescription.Track, encoder: EncoderInfo) {
        self.spec = spec
        self.track = track
        self.encoder = encoder
    }

    mutating func plan() -> TrackPlan.Encoding {
        let codec = spec.codec.value
        let rate = sampleRate
        let layout = layout
        let format = track.sampleFormat.nearest(of: encoder.sampleFormats) ?? track.sampleFormat
        var configuration = EncoderConfiguration(
            encoder: encoder.name, mediaType: .audio, timeBase: Rational(1, rate))
        configuration.sampleRate = rate
        configuration.channelLayout = layout
        configuration.sampleFormat = format
        configuration.options = spec.options.map { MetadataEntry(key: $0.name.value, value: $0.value.value) }
        note("codec", "\(codec.name) (\(encoder.name))", .job)
        if let bitRate = spec.bitRate?.value {
            configuration.bitRate = bitRate
            note("bitrate", "\(bitRate)", .job)
        } else if let usual = usualBitRate(layout.channels) {
            configuration.bitRate = usual
            note("bitrate", "\(usual)", .default)
        }
        note(
            "sample_rate", "\(rate)",
            spec.sampleRate != nil ? .job : rate == track.sampleRate ? .source : .default)
        note(
            "channels", layout.description,
            spec.channels != nil ? .job : layout == track.channelLayout ? .source : .default)
        for option in spec.options { note(option.name.value, option.value.value, .job) }
        if let source = track.channelLayout, layout.channels < source.channels {
            notes.append("\(source) is mixed down to \(layout)")
        }
        let audio = AudioOutputSettings(sampleFormat: format, sampleRate: rate, layout: layout)
        return TrackPlan.Encoding(
            codec: codec.name, encoder: configuration, video: nil, audio: audio, settings: settings)
    }

    private mutating func note(_ key: String, _ value: String, _ origin: TrackPlan.Setting.Origin) {
        settings.append(TrackPlan.Setting(key: key, value: value, origin: origin))
    }

    /// The source's, else the next higher one that the encoder takes, else its highest.
    private var sampleRate: Int32 {
        if let rate = spec.sampleRate?.value { return rate }
        let rates = encoder.sampleRates
        if rates.isEmpty || rates.contains(track.sampleRate) { return track.sampleRate }
        return rates.filter { $0 > track.sampleRate }.min() ?? rates.max() ?? track.sampleRate
    }

    /// The source's, else one of as many channels, else the largest that is smaller.
    private var layout: ChannelLayout {
        if let layout = spec.channels?.value { return layout }
        let source = (track.channelLayout ?? .stereo).specified
        let layouts = encoder.layouts
        if layouts.isEmpty || layouts.contains(source) { return source }
        return layouts.first { $0.channels == source.channels }
            ?? layouts.filter { $0.channels < source.channels }.max { $0.channels < $1.channels } ?? source
    }

    private func usualBitRate(_ channels: Int) -> Int64? {
        switch spec.codec.value.name {
        case "aac": channels <= 1 ? 96_000 : channels == 2 ? 128_000 : 64_000 * Int64(channels)
        case "opus": 48_000 * Int64(max(1, channels))
        case "mp3": 128_000
        case "ac3": channels <= 2 ? 192_000 : 448_000
        default: nil
        }
    }
}
