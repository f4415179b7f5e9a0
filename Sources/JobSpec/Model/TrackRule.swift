package import Diagnostics
package import LibAV
package import Media

/// The selection of tracks of a kind: those of the first entry that matches at least one track.
package struct TrackSelection: Equatable, Sendable {
    /// A selection without alternatives.
    package enum Entry: Hashable, Sendable {
        /// The first track whose format is known.
        case first
        /// All tracks whose format is known.
        case all
        /// All tracks that meet the criteria.
        case matching(TrackCriteria)
        /// The tracks with these indices in the file, for the library's API.
        case indices([Int])
    }
    /// The entries in order of preference; at least one.
    package let entries: [Located<Entry>]
    /// The selection's location in the job file.
    package let range: SourceRange

    /// Creates a selection without alternatives.
    package init(_ entry: Entry, at range: SourceRange) {
        entries = [Located(entry, at: range)]
        self.range = range
    }

    /// Creates a selection from the entries of a list, which has at least one.
    init(list entries: [Located<Entry>], at range: SourceRange) {
        self.entries = entries
        self.range = range
    }

    /// The entries of a list with a leading space, such as " `language: fra` or `first`", for messages about a
    /// selection that matches nothing; empty for a selection without alternatives.
    package var alternatives: String {
        guard entries.count > 1, let last = entries.last else { return "" }
        let others = entries.dropLast().map { "`\($0.value.text)`" }.joined(separator: ", ")
        return " \(others) or `\(last.value.text)`"
    }
}

extension TrackSelection.Entry {
    /// The entry as in a job file, without braces: `first`, `2`, `language: eng`.
    package var text: String {
        switch self {
        case .first: "first"
        case .all: "all"
        case .matching(let criteria): criteria.text
        case .indices(let indices): indices.map { "\($0)" }.joined(separator: ", ")
        }
    }

    /// Returns whether the entry matches at least one track of every source of which `other` matches one.
    func covers(_ other: Self, of type: MediaType) -> Bool {
        switch (self, other) {
        case (.first, _), (.all, _): true
        case (.matching(let criteria), .matching(let others)): criteria.covers(others, of: type)
        case (.matching(let criteria), .first), (.matching(let criteria), .all):
            criteria.covers(TrackCriteria(), of: type)
        default: self == other
        }
    }
}

/// Criteria for tracks, all of which must be met; nil matches any value.
package struct TrackCriteria: Hashable, Sendable {
    /// Index among the tracks of the kind, from 0.
    package var index: Int?
    /// Id of the track in the container.
    package var id: Int?
    package var language: String?
    /// FFmpeg's name of the codec.
    package var codec: String?
    /// Dispositions, all of which the track must have.
    package var disposition: [String] = []
    /// Media characteristic: `visual`, `audible` or `legible`.
    package var characteristic: String?
    package var title: String?

    /// Whether the criteria identify a track by a number. Only these match tracks of an unknown format.
    package var isNumbered: Bool { index != nil || id != nil }

    /// Returns the media characteristic of a type's tracks; nil for types without one.
    package static func characteristic(of type: MediaType) -> String? {
        switch type {
        case .video: "visual"
        case .audio: "audible"
        case .subtitle: "legible"
        default: nil
        }
    }

    /// The criteria as in a job file, without braces; an index alone as its number.
    fileprivate var text: String {
        var parts: [String] = []
        if let id { parts.append("id: \(id)") }
        if let language { parts.append("language: \(language)") }
        if let codec { parts.append("codec: \(codec)") }
        if disposition.count == 1 { parts.append("disposition: \(disposition[0])") }
        if disposition.count > 1 {
            parts.append("disposition: [\(disposition.joined(separator: ", "))]")
        }
        if let characteristic { parts.append("characteristic: \(characteristic)") }
        if let title { parts.append("title: \(title)") }
        if let index { parts.insert(parts.isEmpty ? "\(index)" : "index: \(index)", at: 0) }
        return parts.joined(separator: ", ")
    }

    /// Returns whether every track that meets `other` also meets these criteria.
    fileprivate func covers(_ other: TrackCriteria, of type: MediaType) -> Bool {
        func includes<Value: Equatable>(_ own: Value?, _ others: Value?) -> Bool {
            own == nil || own == others
        }
        return (isNumbered || !other.isNumbered) && includes(index, other.index) && includes(id, other.id)
            && includes(language.map(LanguageCode.canonical), other.language.map(LanguageCode.canonical))
            && includes(codec, other.codec) && Set(disposition).isSubset(of: other.disposition)
            && (characteristic == Self.characteristic(of: type)
                || includes(characteristic, other.characteristic))
            && includes(title, other.title)
    }
}

/// FFmpeg's names of the dispositions of tracks.
package enum TrackDisposition {
    package static let names = [
        "default", "dub", "original", "comment", "lyrics", "karaoke", "forced", "hearing_impaired",
        "visual_impaired", "clean_effects", "captions", "descriptions", "metadata",
    ]
}

/// A rule of `tracks`: a selection of source tracks, and their processing.
package struct TrackRule: Sendable {
    /// The processing of the selected tracks.
    package enum Action: Sendable {
        /// Packets are copied; `otherwise` is the encoding of the parts that can't be copied.
        indirect case copy(SourceRange, otherwise: Action?)
        /// Video is re-encoded.
        indirect case encodeVideo(VideoEncodeSpec)
        /// Audio is re-encoded.
        indirect case encodeAudio(AudioEncodeSpec)

        /// Text subtitles are converted to another codec.
        indirect case encodeSubtitle(SubtitleEncodeSpec)

        /// The action's location in the job file.
        package var range: SourceRange {
            switch self {
            case .copy(let range, _): range
            case .encodeSubtitle(let spec): spec.range
            case .encodeVideo(let spec): spec.range
            case .encodeAudio(let spec): spec.range
            }
        }

        /// Returns the location of a setting; nil if the rule doesn't set it.
        package func location(of setting: SettingsValidation.IgnoredSetting.Setting) -> SourceRange? {
            switch self {
            case .copy(_, let otherwise): otherwise?.location(of: setting)
            case .encodeSubtitle: nil
            case .encodeVideo(let spec):
                switch setting {
                // Video encoders adhere to bit rates; only those of audio are compared.
                case .bitRate: nil
                case .level: spec.level?.range
                case .profile: spec.profile?.range
                }
            case .encodeAudio(let spec):
                switch setting {
                case .bitRate: spec.bitRate?.range
                case .level: nil
                case .profile: spec.profile?.range
                }
            }
        }

        /// The audio encoding; nil if no audio is encoded.
        package var audio: AudioEncodeSpec? {
            switch self {
            case .encodeAudio(let spec): spec
            case .copy(_, let otherwise): otherwise?.audio
            case .encodeVideo, .encodeSubtitle: nil
            }
        }

        /// The video encoding; nil if no video is encoded.
        package var video: VideoEncodeSpec? {
            switch self {
            case .encodeVideo(let spec): spec
            case .copy(_, let otherwise): otherwise?.video
            case .encodeAudio, .encodeSubtitle: nil
            }
        }

        /// Returns the action with the frame of a video encoding reduced from a planned size, to one with a given shorter side.
        package func scaled(from whole: PixelSize, toShorterSide side: Int, at range: SourceRange) -> Action {
            switch self {
            case .encodeVideo(var spec):
                let isWide = whole.width >= whole.height
                var size = Dimensions(width: isWide ? nil : side, height: isWide ? side : nil)
                // With both sides, `fit` determines how the frame fills them.
                if let written = spec.size?.value, written.width != nil, written.height != nil {
                    let factor = Double(side) / Double(min(whole.width, whole.height))
                    func even(_ length: Int) -> Int {
                        max(2, Int((Double(length) * factor / 2).rounded()) * 2)
                    }
                    size = Dimensions(width: even(whole.width), height: even(whole.height))
                }
                spec.size = Located(size, at: range)
                return .encodeVideo(spec)
            case .copy(let location, let otherwise):
                return .copy(
                    location, otherwise: otherwise?.scaled(from: whole, toShorterSide: side, at: range))
            case .encodeAudio, .encodeSubtitle: return self
            }
        }

        /// Settings that only a dry open of encoders and filters can validate.
        var settingsChecks: [SettingsCheck] {
            switch self {
            case .copy(_, let otherwise): otherwise?.settingsChecks ?? []
            case .encodeVideo(let spec): spec.checks
            case .encodeAudio(let spec): spec.checks
            case .encodeSubtitle: []
            }
        }

        /// Whether packets are copied where possible.
        package var isCopy: Bool { if case .copy = self { true } else { false } }

        /// Returns a near-lossless encoding for a codec, as fallback for frames that can't be copied; nil for codecs
        /// without one.
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
    package var mediaType: MediaType
    package var selection: TrackSelection
    /// The file whose tracks are selected, in place of the source's; nil for tracks of the source.
    package var file: SubtitleFileSpec?
    package var action: Action
    /// Condition on the source without which the rule doesn't apply; nil for a rule that always applies.
    package var when: SourceCondition?
    /// The entry of `choose` that the rule is; nil for any other rule.
    package var choice: Choice?
    /// Condition on each selected track for copying it; tracks that don't meet it are encoded. Nil if `action` applies to
    /// all of them.
    package var copyCondition: TrackCondition?
    /// The mix that combines the selected tracks into one; nil for separate tracks.
    package var mix: MixSpec?
    /// The complete mix of the library's API, in place of `mix`; nil for none.
    package var audioMix: AudioMix?
    /// The composition of the library's API that combines video tracks into one; nil for separate tracks.
    package var videoComposition: VideoComposition?
    /// Whether the selection may match nothing.
    package var isOptional: Bool
    /// Language of the output's track; nil for the source's.
    package var language: Located<String>?
    /// Title of the output's track; nil for the source's.
    package var title: Located<String>?
    /// Dispositions of the output's track: nil for the source's, empty for none.
    package var disposition: Located<[String]>?
    /// Tags of the output's track, in order.
    package var metadata: [(key: Located<String>, value: String)]
    /// The rule's location in the job file.
    package var range: SourceRange

    /// An entry of `choose`. The rules of all its entries follow each other, and the first whose `when` holds applies.
    package struct Choice: Sendable {
        /// Location of `choose` in the job file.
        package var range: SourceRange
        /// Index of the entry, from 0.
        package var index: Int
        /// Number of entries.
        package var count: Int
    }
}

extension TrackRule {
    /// Whether the rule applies to every source.
    package var isUnconditional: Bool { when == nil && choice == nil }

    /// Whether the selected tracks are combined into one.
    package var combinesTracks: Bool { mix != nil || audioMix != nil || videoComposition != nil }

    /// Creates a rule that re-encodes the first video track.
    init(video spec: VideoEncodeSpec, at location: SourceRange) {
        self.init(
            mediaType: .video, selection: TrackSelection(.first, at: location), action: .encodeVideo(spec),
            isOptional: false, metadata: [], range: location)
    }
}

/// A mix of audio tracks into one.
package struct MixSpec: Sendable {
    /// Volumes of some of the tracks; all others are unchanged.
    package var inputs: [Input]
    /// The value's location in the job file.
    package var range: SourceRange

    /// Tracks of a mix with the same volume.
    package struct Input: Sendable {
        package var selection: TrackSelection
        /// Volume in thousandths. `at` is a time of the output; nil for a constant volume.
        package var points: [(at: Located<TimeExpression>?, thousandths: Int)]
    }
}
