public import Diagnostics
public import LibAV

/// Which tracks of a kind a rule takes.
public enum TrackSelection: Hashable, Sendable {
    /// The first one.
    case first
    /// All of them.
    case all
    /// All for which everything said holds.
    case matching(TrackCriteria)
}

/// What must hold of a track; what is nil may be anything.
public struct TrackCriteria: Hashable, Sendable {
    /// Position among the tracks of the kind, from 0.
    public var index: Int?
    /// The container's own number.
    public var id: Int?
    /// Language.
    public var language: String?
    /// The codec's libav name.
    public var codec: String?
    /// What it is for; all of these.
    public var disposition: [String] = []
    /// What it does: `visual`, `audible`, `legible`.
    public var characteristic: String?
    /// The track's name.
    public var title: String?
}

/// What a track can be for, by libav's names of dispositions.
public enum TrackDisposition {
    /// The names.
    public static let names = [
        "default", "dub", "original", "comment", "lyrics", "karaoke", "forced", "hearing_impaired",
        "visual_impaired", "clean_effects", "captions", "descriptions", "metadata",
    ]
}

/// What becomes of some tracks.
public struct TrackRule: Sendable {
    /// What is done with them.
    public enum Action: Sendable {
        /// Packets as they are; `otherwise` says how what can't be copied is made.
        indirect case copy(SourceRange, otherwise: Action?)
        /// Re-encoded as frames.
        indirect case encodeVideo(VideoEncodeSpec)
        /// Re-encoded as audio.
        indirect case encodeAudio(AudioEncodeSpec)

        /// Turned into another kind of text.
        indirect case encodeSubtitle(SubtitleEncodeSpec)

        /// Where it was written.
        public var range: SourceRange {
            switch self {
            case .copy(let range, _): range
            case .encodeSubtitle(let spec): spec.range
            case .encodeVideo(let spec): spec.range
            case .encodeAudio(let spec): spec.range
            }
        }

        /// Where a setting stands, by its key; nil where the rule doesn't say it.
        public func place(of setting: String) -> SourceRange? {
            switch (self, setting) {
            case (.encodeVideo(let spec), "profile"): spec.profile?.range
            case (.encodeVideo(let spec), "level"): spec.level?.range
            case (.encodeAudio(let spec), "bitrate"): spec.bitRate?.range
            case (.copy(_, let otherwise), _): otherwise?.place(of: setting)
            default: nil
            }
        }

        /// What no table says of it, and has to be tried.
        var settingsChecks: [SettingsCheck] {
            switch self {
            case .copy(_, let otherwise): otherwise?.settingsChecks ?? []
            case .encodeVideo(let spec): spec.checks
            case .encodeAudio(let spec): spec.checks
            case .encodeSubtitle: []
            }
        }

        /// Packets are taken as they are, where that can be.
        public var isCopy: Bool { if case .copy = self { true } else { false } }

        /// Frames of a codec re-encoded in it so that nobody sees it. Nil for codecs that can't be.
        public static func nearLossless(_ codec: String, at range: SourceRange) -> Action? {
            guard let info = CodecCatalog.codec(codec, of: .video), info.libavName == codec,
                let quality = info.nearLossless
            else { return nil }
            return .encodeVideo(
                VideoEncodeSpec(
                    codec: Located(info, at: range),
                    rateControl: Located(.crf(quality.crf * 1000), at: range),
                    preset: Located(quality.preset, at: range),
                    options: [], range: range))
        }
    }
    /// The kind.
    public var mediaType: MediaType
    /// Which ones.
    public var selection: Located<TrackSelection>
    /// What is done with them.
    public var action: Action
    /// The selected tracks become one.
    public var mix: MixSpec?
    /// A selection that matches nothing is no error.
    public var isOptional: Bool
    /// Language of the output's track.
    public var language: Located<String>?
    /// Name of the output's track.
    public var title: Located<String>?
    /// What the output's track is for; empty for nothing.
    public var disposition: Located<[String]>?
    /// Tags of the output's track, in order.
    public var metadata: [(key: Located<String>, value: String)]
    /// Where it was written.
    public var range: SourceRange
}

/// How some tracks become one, as a job file says it.
public struct MixSpec: Sendable {
    /// How loud some of them are; the others are as they are.
    public var inputs: [Input]
    /// Where it was written.
    public var range: SourceRange

    /// Some tracks and their volume.
    public struct Input: Sendable {
        /// Which ones.
        public var selection: Located<TrackSelection>
        /// Their volume in thousandths; `at` is a time of the output, nil where there is one volume for all of it.
        public var points: [(at: Located<TimeExpression>?, thousandths: Int)]
    }
}
