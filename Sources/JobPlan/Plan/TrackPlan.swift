package import Diagnostics
internal import JobSpec
package import LibAV
package import Media

/// One track of an output.
package struct TrackPlan: Codable, Hashable, Sendable {
    /// What is done. What there is to say of it is kept apart: of ten thousand tracks most are copied.
    package enum Action: Codable, Hashable, Sendable {
        /// Packets as they are.
        case copy
        /// Packets as they are but for the edges of the range.
        indirect case smartCut(SmartCut)
        /// Cues in another kind of text.
        case subtitle(SubtitleCodec)
        /// Re-encoded.
        indirect case encode(Encoding)
    }

    /// How a track is re-encoded.
    package struct Encoding: Codable, Hashable, Sendable {
        /// The codec's name in job files.
        package var codec: String
        /// Everything the encoder is opened with.
        package var encoder: EncoderConfiguration
        /// In what form frames are read.
        package var video: VideoOutputSettings?
        /// In what form audio is read.
        package var audio: AudioOutputSettings?
        /// The loudness that audio is brought to, after it was measured.
        package var loudness: LoudnessTarget?
        /// Everything is looked at once before.
        package var hasTwoPasses: Bool
        /// The settings for people, each with where it came from.
        package var settings: [Setting]
        /// What of the encoder's colour the job says itself: `primaries`, `transfer`, `matrix`, `range`. Without them there
        /// is no output, without a source's own a warning.
        package var askedColor: [String] = []

        /// The bit rate is another than was thought usual.
        mutating func take(bitRate: Int64) {
            encoder.bitRate = bitRate
            for index in settings.indices where settings[index].key == "bitrate" {
                settings[index].value = "\(bitRate)"
            }
        }
    }

    /// A resolved setting.
    package struct Setting: Codable, Hashable, Sendable {
        /// Where a setting came from.
        package enum Origin: String, Codable, Sendable {
            /// The job says it.
            case job
            /// Named settings say it.
            case settings
            /// `defaults` say it.
            case defaults
            /// The export preset says it.
            case preset
            /// The source has it.
            case source
            /// Nobody said anything.
            case `default`
        }
        /// Its key.
        package var key: String
        /// Its value.
        package var value: String
        /// Where it came from.
        package var origin: Origin
    }

    /// What the output's track will be.
    public struct Expectation: Codable, Hashable, Sendable {
        /// Frames, for video.
        public var frames: Int?
        /// Samples per channel, for audio that is re-encoded.
        public var samples: Int64?
        /// Where it will lie on the output's time line.
        public var timeRange: TimeRange
        /// The figures are exact; estimates otherwise.
        public var isExact: Bool
    }

    /// The source's track.
    package var source: TrackDescription
    /// Several tracks of the source become this one; `source` is then what they have in common.
    package var mix: AudioMix?
    /// What is done.
    package var action: Action
    /// What comes of it.
    package var expected: Expectation
    /// How the output's frames are to be rotated for display.
    package var transform: DisplayTransform?
    /// The rule's place in the file.
    package var location: SourceRange
    /// Tags of the track.
    package var metadata: [MetadataEntry]
    /// The keys among them that the rule sets, in lower case.
    package var askedTags: [String] = []
    /// Dispositions by libav's names.
    package var disposition: [String]
    /// Kinds of side data that go along.
    package var sideData: [String]
    /// What was foretold otherwise before its source was there.
    package var unforetold: String?
}

extension TrackPlan {
    /// How its packets are copied but for edges; nil where they aren't.
    var cut: SmartCut? { if case .smartCut(let cut) = action { cut } else { nil } }

    /// It is made of a track of the source, alone or with others.
    func takes(_ index: Int) -> Bool { mix?.inputs.contains { $0.track == index } ?? (source.index == index) }
}

extension TrackPlan.Setting.Origin {
    /// By the way a written setting came to where it is read.
    init(_ range: SourceRange?) {
        if range?.context?.contains(.preset) == true {
            self = .preset
        } else if range?.context?.contains(.settings) == true {
            self = .settings
        } else if range?.context?.contains(.defaults) == true {
            self = .defaults
        } else {
            self = .job
        }
    }
}

extension TrackPlan {
    /// The codec that the output's track has; nil of subtitles.
    var outputCodec: String? {
        switch action {
        case .copy, .smartCut: source.codec
        case .encode(let encoding): encoding.codec
        case .subtitle: nil
        }
    }
}
