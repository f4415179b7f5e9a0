internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of an audio track's encoding: settings of the job, properties of the source, and defaults.
struct AudioEncodingPlanner {
    let spec: AudioEncodeSpec
    let track: TrackDescription
    let encoder: EncoderInfo
    let container: ContainerType
    private var reasons = Reasons()
    private var settings: [TrackPlan.Setting] = []

    init(
        spec: AudioEncodeSpec, track: TrackDescription, encoder: EncoderInfo, container: ContainerType
    ) {
        self.spec = spec
        self.track = track
        self.encoder = encoder
        self.container = container
    }

    consuming func decide() -> Decision<TrackPlan.Encoding> {
        let encoding = encoding()
        return Decision(encoding, reasons)
    }

    private mutating func encoding() -> TrackPlan.Encoding {
        let codec = spec.codec.value
        let rate = sampleRate
        let layout = layout
        let format = sampleFormat
        var configuration = EncoderConfiguration(
            encoder: encoder.name, mediaType: .audio, timeBase: Rational(1, rate))
        configuration.sampleRate = rate
        configuration.channelLayout = layout
        configuration.sampleFormat = format
        codec.encoder.set(spec.choices, in: &configuration)
        settings.note("codec", "\(codec.name) (\(encoder.name))", at: spec.codec.range)
        if let range = spec.encoderRange, !codec.isAutomatic {
            settings.note("encoder", encoder.name, at: range)
        }
        if let profile = spec.profile { settings.note("profile", profile.value, at: profile.range) }
        if let depth = spec.bitDepth {
            configuration.bitsPerSample = depth.value
            settings.note("bit_depth", "\(depth.value)", at: depth.range)
        }
        if let bitRate = spec.bitRate {
            configuration.bitRate = bitRate.value
            settings.note("bitrate", "\(bitRate.value)", at: bitRate.range)
        } else if let quality = spec.quality {
            configuration.quality = quality.value
            settings.note("quality", ThousandthsText.text(quality.value), at: quality.range)
        } else if let bitRate = spec.codec.value.rate.defaultBitRate(layout.channels) {
            configuration.bitRate = bitRate
            settings.note("bitrate", "\(bitRate)", .default)
        }
        settings.note(
            "sample_rate", "\(rate)",
            spec.sampleRate.map { TrackPlan.Setting.Origin($0.range) }
                ?? (rate == track.sampleRate ? .source : .default))
        settings.note(
            "channels", layout.description,
            spec.channels.map { TrackPlan.Setting.Origin($0.range) }
                ?? (layout == track.channelLayout ? .source : .default))
        for option in spec.options {
            settings.note(option.name.value, option.value.value, at: option.name.range)
        }
        let chain = filters()
        if codec.samples.hasEncoderDelay, !container.hidesBeginning(ofCodec: codec.name) {
            reasons.note(
                "\(container.name) can't mark the delay of \(encoder.name): the output begins with some milliseconds of silence"
            )
        }
        if let source = track.channelLayout, let text = describe(source, as: layout) { reasons.note(text) }
        if let other = container.otherLayout(of: layout, codec: codec.libavName) {
            reasons.note(
                "\(container.name) can't store the channel layout \(layout) for \(codec.name): players assume \(other)"
            )
        }
        if codec.isLossless, let most = codec.samples.bitDepths?.max(), spec.bitDepth == nil,
            CodecNames.bitsPerSample(of: track.codec) > most
        {
            reasons.note("\(track.codec) is reduced to \(most) bits, the maximum of \(encoder.name)")
        }
        var audio = AudioOutputSettings(sampleFormat: format, sampleRate: rate, layout: layout)
        audio.filters = chain
        let (target, isShared) = (spec.normalize?.value.target, spec.normalize?.value.sharesGain == true)
        return TrackPlan.Encoding(
            codec: codec.name, encoder: configuration, video: nil, audio: audio,
            loudness: isShared ? nil : target, sharedGain: isShared ? target.map { SharedGain($0) } : nil,
            hasTwoPasses: false, settings: settings)
    }

    /// Returns the filters: gain, then those of the job. Normalization follows once the loudness is measured.
    private mutating func filters() -> FilterChain? {
        var chain: [FilterStep] = []
        if let gain = spec.gain, gain.value != 0 {
            chain.append(.volume("\(ThousandthsText.text(gain.value))dB"))
            settings.note("gain", "\(ThousandthsText.text(gain.value)) dB", at: gain.range)
        }
        if let filters = spec.filters {
            chain += filters.value.steps
            settings.note("filters", filters.value.description, at: filters.range)
        }
        if let target = spec.normalize {
            let value = target.value.target
            settings.note(
                TrackPlan.Setting.normalize,
                "\(value.integrated) LUFS, \(value.truePeak) dBTP" + (value.range.map { ", \($0) LU" } ?? "")
                    + (value.writesTags ? ", written as tags" : ""),
                at: target.range)
        }
        return chain.isEmpty ? nil : FilterChain(chain)
    }

    private var sampleFormat: SampleFormat {
        if let format = spec.sampleFormat?.value { return format }
        if let depth = spec.bitDepth?.value {
            return SampleFormat(named: depth <= 16 ? "s16" : "s32") ?? track.sampleFormat
        }
        return track.sampleFormat.nearest(of: encoder.sampleFormats) ?? track.sampleFormat
    }

    /// Sample rate of the output: the job's, else the source's, else the next higher one that the encoder
    /// supports, else its highest.
    private var sampleRate: Int32 {
        if let rate = spec.sampleRate?.value { return rate }
        let rates = encoder.sampleRates
        if rates.isEmpty || rates.contains(track.sampleRate) { return track.sampleRate }
        return rates.filter { $0 > track.sampleRate }.min() ?? rates.max() ?? track.sampleRate
    }

    /// Channel layout of the output: the job's, else the source's, else the supported one that keeps most
    /// channels.
    private var layout: ChannelLayout {
        if let layout = spec.channels?.value { return layout }
        let source = (track.channelLayout ?? .stereo).specified
        let layouts = spec.codec.value.layouts(of: encoder)
        return layouts.isEmpty ? source : source.nearest(of: layouts) ?? source
    }

    /// Returns a note on the change of the source's channel layout; nil if it is kept or requested.
    private func describe(_ source: ChannelLayout, as layout: ChannelLayout) -> String? {
        if layout.channels < source.channels { return "\(source) is mixed down to \(layout)" }
        let own = source.specified
        guard spec.channels == nil, layout != own else { return nil }
        if !layout.contains(own) {
            return "\(own) is mixed to \(layout), the closest layout that \(spec.codec.value.name) supports"
        }
        return layout.channels == own.channels
            ? "\(own) is stored as \(layout): \(spec.codec.value.name) doesn't distinguish the two"
            : "\(own) becomes \(layout) with silent channels: \(spec.codec.value.name) doesn't support \(own)"
    }
}
