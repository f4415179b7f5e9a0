package import Diagnostics
internal import JobSpec
package import LibAV
package import Media

/// The plan of one track of an output.
package struct TrackPlan: Codable, Hashable, Sendable {
    /// The action on a track. Large payloads are indirect, because most of the tracks of a large batch are copied.
    package enum Action: Codable, Hashable, Sendable {
        /// The packets are copied.
        case copy
        /// The packets are copied except for the edges of the range, which are re-encoded.
        indirect case smartCut(SmartCut)
        /// Subtitle events are converted to another text format.
        case subtitle(SubtitleCodec)
        /// The track is decoded and encoded.
        indirect case encode(Encoding)
        /// The track is read, decoded or as packets, and nothing is written.
        case read(decodes: Bool)

        /// Whether all packets of the track are decoded. For a smart cut, only those at the edges are.
        package var isDecoded: Bool {
            switch self {
            case .encode, .read(decodes: true): true
            case .copy, .smartCut, .subtitle, .read: false
            }
        }

        /// Returns the sample rate of the decoded audio of a track; nil for packets.
        package func sampleRate(of source: TrackDescription) -> Int32? {
            switch self {
            case .encode(let encoding): encoding.encoder.sampleRate
            case .read(decodes: true): source.sampleRate
            case .copy, .smartCut, .subtitle, .read: nil
            }
        }
    }

    /// The settings with which a track is encoded.
    package struct Encoding: Codable, Hashable, Sendable {
        /// Name of the codec as in job files.
        package var codec: String
        /// Configuration with which the encoder is opened.
        package var encoder: EncoderConfiguration
        /// Format of the decoded video; nil for audio.
        package var video: VideoOutputSettings?
        /// Format of the decoded audio; nil for video.
        package var audio: AudioOutputSettings?
        /// Subtitles that are drawn into the frames of video; nil for none.
        package var burn: BurnPlan? = nil
        /// Target loudness of audio, for which the loudness of the source is measured first.
        package var loudness: LoudnessTarget?
        /// Gain that the track shares with other files, which is the last filter of `audio`; nil for none.
        @Annotation package var sharedGain: SharedGain? = nil
        package var hasTwoPasses: Bool
        /// Maximum number of chunks that are encoded at a time; nil for the number of processors. The result doesn't depend
        /// on it.
        @Annotation package var maxChunks: Int? = nil
        /// Files with encoded chunks, created by other parts of a submitted batch, any of which may be missing; empty in a
        /// plan, and nil unless the chunks are distributed.
        @Annotation package var chunkFiles: [ChunkFilePlan]? = nil
        /// Size of the finished file that this track's bit rate is corrected for; nil without one.
        package var targetSize: TargetSize?
        /// Similarity to the encoder's input for which `crf` is searched; nil without one.
        package var targetQuality: TargetQuality? = nil
        /// Settings with their origins, for the user.
        @Annotation package var settings: [Setting]
        /// Keys of the encoder's color that the job sets: `primaries`, `transfer`, `matrix`, `range`. If one of them
        /// is missing in the finished file, the job fails; a missing value of the source is only a warning.
        @Annotation package var requestedColor: [String] = []

        /// Adds the filter of a gain that is shared with other files.
        mutating func apply(_ gain: SharedGain, from layout: ChannelLayout?) {
            sharedGain = gain
            let steps = stepsBeforeGain(from: layout)
            audio?.filters = FilterChain(steps + [.volume("\(gain.decibels)dB")])
            for index in settings.indices where settings[index].key == Setting.normalize {
                settings[index].value += "; " + gain.text
            }
        }

        /// Returns the filters before a gain that is shared with other files: those of the job, and a conversion from the
        /// source's channel layout to the output's.
        func stepsBeforeGain(from layout: ChannelLayout?) -> [FilterStep] {
            LoudnessNormalizer.steps(
                after: audio?.filters, from: layout, to: encoder.channelLayout ?? .stereo)
        }

        /// Sets the bit rate of the encoder, also in the settings that are displayed.
        mutating func take(bitRate: Int64) {
            encoder.bitRate = bitRate
            for index in settings.indices where settings[index].key == "bitrate" {
                settings[index].value = "\(bitRate)"
            }
        }
    }

    /// A resolved setting with its origin.
    package struct Setting: Codable, Hashable, Sendable {
        package enum Origin: String, Codable, Sendable {
            /// Set by the job.
            case job
            /// Named settings set it.
            case settings
            /// `defaults` sets it.
            case defaults
            /// The export preset sets it.
            case preset
            /// The value is the source's.
            case source
            /// The value is the default.
            case `default`
        }
        package var key: String
        package var value: String
        package var origin: Origin

        /// The key of a loudness normalization.
        static let normalize = "normalize"
    }

    /// The predicted properties of an output's track.
    package struct Expectation: Codable, Hashable, Sendable {
        /// Number of frames, for video.
        package var frames: Int?
        /// Number of samples per channel, for audio that is encoded.
        package var samples: Int64?
        /// Range on the output's time line.
        package var timeRange: TimeRange
        /// Whether the values are exact, not estimates.
        package var isExact: Bool
    }

    /// Track of the source, or of `file`.
    package var source: TrackDescription
    /// The subtitle file that the track is read from; nil for a track of the source.
    package var file: SubtitleFilePlan? = nil
    /// Mix of several source tracks into this one; `source` then contains their common properties.
    package var mix: AudioMix?
    /// Composition of several source tracks into this one; `source` then describes the composed frames.
    package var composing: VideoComposition?
    package var action: Action
    /// Encoding of the track; nil if it is copied or cut.
    package var encoding: Encoding? { if case .encode(let encoding) = action { encoding } else { nil } }
    /// Predicted properties of the output's track.
    @Annotation package var expected: Expectation
    /// Rotation of the output's frames for display.
    package var transform: DisplayTransform?
    /// Location of the track's rule in the job file.
    package var location: SourceRange
    /// Tags of the output's track.
    package var metadata: [MetadataEntry]
    /// Keys of the tags that the rule sets, in lower case.
    @Annotation package var requestedTags: [String] = []
    /// Dispositions by libavformat's names, such as `default`.
    package var disposition: [String]
    /// Kinds of side data that are kept.
    package var sideData: [SideDataKind]
    /// Reason why the track is re-encoded although its rule copies it; nil if it isn't.
    @Annotation package var fallbackReason: String?
    /// Difference from the preliminary plan, which was predicted before another job created the source; nil if there is
    /// none.
    @Annotation package var deviation: String?
}

extension TrackPlan.Action {
    fileprivate static func part(of path: ArraySlice<String>) -> RecipeName.TrackPart {
        guard path.first.flatMap(CodingKeys.init(stringValue:)) == .encode else { return .other }
        // The second component is the label of the case's value.
        return TrackPlan.Encoding.part(of: path.dropFirst(2))
    }
}

extension TrackPlan.Encoding {
    fileprivate static func part(of path: ArraySlice<String>) -> RecipeName.TrackPart {
        switch path.first.flatMap(CodingKeys.init(stringValue:)) {
        case .encoder, .video, .audio, .burn, .targetSize, .targetQuality: .setting
        default: .other
        }
    }
}

extension TrackPlan {
    /// Returns the part of a track that the value at a path in the encoded form belongs to.
    static func part(of path: ArraySlice<String>) -> RecipeName.TrackPart {
        switch path.first.flatMap(CodingKeys.init(stringValue:)) {
        case .source: .source
        case .file: .setting
        case .action: Action.part(of: path.dropFirst())
        default: .other
        }
    }

    /// Type and index of the source track, for messages.
    package var label: String { source.label }

    /// The source track in messages of a run, such as `source track 2`.
    package var sourceLabel: String {
        file.map { "track \(source.index) of \($0.name)" } ?? "source track \(source.index)"
    }

    /// Returns type, format and language of the source track, with the file that it is read from. The text may contain
    /// untrusted text.
    package func sourceText(_ files: FileNames) -> String {
        LedgerText.plainName(source) + (file.map { " of \(files[$0.path])" } ?? "")
    }

    /// Smart cut of the track; nil if it is copied as a whole or encoded.
    package var cut: SmartCut? { if case .smartCut(let cut) = action { cut } else { nil } }

    /// Returns whether the track reads a source track, by its index, alone or in a mix.
    package func takes(_ index: Int) -> Bool {
        if file != nil { return false }
        if let mix { return mix.inputs.contains { $0.track == index } }
        if let composing { return composing.inputs.contains { $0.track == index } }
        return source.index == index
    }
}

extension TrackPlan.Setting.Origin {
    /// Determines the origin from the context of a setting's location.
    init(_ range: SourceRange?) {
        if range?.context?.contains(.preset) == true {
            self = .preset
        } else if range?.context?.contains(.settings) == true {
            self = .settings
        } else if range?.isDefault == true {
            self = .defaults
        } else {
            self = .job
        }
    }
}

extension TrackPlan.Encoding {
    /// Codec of the encoder's packets by libavcodec's name, which `codec`, the name in the job file, may differ from.
    package var writtenCodec: String { EncoderInfo(named: encoder.encoder)?.codecName ?? codec }
}

extension TrackPlan {
    /// Codec of the output's track; nil for subtitles.
    var outputCodec: String? {
        switch action {
        case .copy, .smartCut, .read: source.codec
        case .encode(let encoding): encoding.codec
        case .subtitle: nil
        }
    }
}
