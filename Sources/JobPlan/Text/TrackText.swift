internal import Diagnostics
internal import LibAV
internal import Media

extension TrackDescription {
    /// Type and index, for messages: `audio track 1`.
    var label: String { "\(mediaType.rawValue) track \(index)" }

    /// Message about a track that this build can't decode.
    var missingDecoderText: String { "\(label): this build has no decoder for \(knownCodec ?? "its codec")" }
}

extension [TrackPlan.Setting] {
    mutating func note(_ key: String, _ value: String, _ origin: TrackPlan.Setting.Origin) {
        append(TrackPlan.Setting(key: key, value: value, origin: origin))
    }

    /// Adds a setting of the job file, whose origin follows from its location.
    mutating func note(_ key: String, _ value: String, at range: SourceRange?) {
        note(key, value, TrackPlan.Setting.Origin(range))
    }
}
