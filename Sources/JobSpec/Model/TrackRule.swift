package import Diagnostics
package import LibAV

/// Which tracks of a kind a rule takes.
package enum TrackSelection: Hashable, Sendable {
    /// The first one.
    case first
    /// All of them.
    case all
    /// All for which everything said holds.
    case matching(TrackCriteria)
}

/// What must hold of a track; what is nil may be anything.
package struct TrackCriteria: Hashable, Sendable {
    /// Position among the tracks of the kind, from 0.
    package var index: Int?
    /// The container's own number.
    package var id: Int?
    /// Language.
    package var language: String?
    /// The codec's libav name.
    package var codec: String?
    /// What it is for; all of these.
    package var disposition: [String] = []
    /// What it does: `visual`, `audible`, `legible`.
    package var characteristic: String?
    /// The track's name.
    package var title: String?
}

/// What a track can be for, by libav's names of dispositions.
package enum TrackDisposition {
    /// The names.
    package static let names = [
        "default", "dub", "original", "comment", "lyrics", "karaoke", "forced", "hearing_impaired",
        "visual_impaired", "clean_effects", "captions", "descriptions", "metadata",
    ]
}

/// What becomes of some tracks.
package struct TrackRule: Sendable {
    /// What is done with them.
    package enum Action: Sendable {
        /// Packets as they are; `otherwise` says how what can't be copied is made.
        indirect case copy(SourceRange, otherwise: Action?)
        /// Re-encoded as frames.
        indirect case encodeVideo(VideoEncodeSpec)
        /// Re-encoded as audio.
        indirect case encodeAudio(AudioEncodeSpec)

        /// Turned into another kind of text.
        indirect case encodeSubtitle(SubtitleEncodeSpec)

        /// Where it was written.
        package var range: SourceRange {
            switch self {
            case .copy(let range, _): range
            case .encodeSubtitle(let spec): spec.range
            case .encodeVideo(let spec): spec.range
            case .encodeAudio(let spec): spec.range
            }
        }

        /// Where a setting stands, by its key; nil where the rule doesn't say it.
        package func place(of setting: String) -> SourceRange? {
            switch (self, setting) {
            case (.encodeVideo(let spec), "profile"): spec.profile?.range
            case (.encodeVideo(let spec), "level"): spec.level?.range
            case (.encodeAudio(let spec), "bitrate"): spec.bitRate?.range
            case (.copy(_, let otherwise), _): otherwise?.place(of: setting)
            default: nil
            }
        }

        /// How audio is encoded; nil where none is.
        package var audio: AudioEncodeSpec? {
            switch self {
            case .encodeAudio(let spec): spec
            case .copy(_, let otherwise): otherwise?.audio
            case .encodeVideo, .encodeSubtitle: nil
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
        package var isCopy: Bool { if case .copy = self { true } else { false } }

        /// Frames of a codec re-encoded in it so that nobody sees it. Nil for codecs that can't be.
        package static func nearLossless(_ codec: String, at range: SourceRange) -> Action? {
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
    package var mediaType: MediaType
    /// Which ones.
    package var selection: Located<TrackSelection>
    /// What is done with them.
    package var action: Action
    /// The selected tracks become one.
    package var mix: MixSpec?
    /// A selection that matches nothing is no error.
    package var isOptional: Bool
    /// Language of the output's track.
    package var language: Located<String>?
    /// Name of the output's track.
    package var title: Located<String>?
    /// What the output's track is for; empty for nothing.
    package var disposition: Located<[String]>?
    /// Tags of the output's track, in order.
    package var metadata: [(key: Located<String>, value: String)]
    /// Where it was written.
    package var range: SourceRange
}

extension TrackRule {
    /// The rule that re-encodes the first video track and says nothing else of it.
    init(video spec: VideoEncodeSpec, at place: SourceRange) {
        self.init(
            mediaType: .video, selection: Located(.first, at: place), action: .encodeVideo(spec),
            isOptional: false, metadata: [], range: place)
    }
}

/// How some tracks become one, as a job file says it.
package struct MixSpec: Sendable {
    /// How loud some of them are; the others are as they are.
    package var inputs: [Input]
    /// Where it was written.
    package var range: SourceRange

    /// Some tracks and their volume.
    package struct Input: Sendable {
        /// Which ones.
        package var selection: Located<TrackSelection>
        /// Their volume in thousandths; `at` is a time of the output, nil where there is one volume for all of it.
        package var points: [(at: Located<TimeExpression>?, thousandths: Int)]
    }
}
