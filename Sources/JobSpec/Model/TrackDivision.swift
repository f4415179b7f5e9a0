package import Diagnostics
package import LibAV

/// The division of an output into one for each track of the source that a rule selects. A destination with `${track.…}`
/// requests it.
package struct TrackDivision: Sendable {
    /// A track that has an output of its own, with the values of `${track.…}`.
    package struct Track: Sendable {
        /// Index among the tracks of its kind, from 0.
        package var index: Int
        /// Language code without characters that aren't letters, digits or `-`; `und` if the source states none.
        package var language: String
        /// FFmpeg's name of the codec.
        package var codec: String

        /// Creates a track from values of a source.
        package init(index: Int, language: String?, codec: String) {
            self.index = index
            self.codec = codec
            // The code becomes a part of a path, and containers store any text.
            let text = (language ?? "").map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(
                35)
            self.language = text.isEmpty ? "und" : String(text)
        }
    }

    /// Id of the output before its division, such as `captions`; the kind of the tracks for the only output of a job without
    /// `outputs`.
    package let name: String
    /// Kind of the tracks.
    package let mediaType: MediaType
    /// Selection of the tracks.
    package let selection: TrackSelection
    /// Whether the output is omitted for a source without such a track.
    package let isOptional: Bool
    /// Location of the destination's path.
    package let range: SourceRange
    /// The track of the output; nil for an output that isn't divided yet.
    package internal(set) var track: Track?
    /// Indices of the rules that select the tracks: one, or those of a `choose`.
    let rules: Range<Int>

    /// Selection of the output's track; nil for an output that isn't divided yet.
    package var own: TrackSelection? {
        track.map { TrackSelection(.matching(TrackCriteria(index: $0.index)), at: selection.range) }
    }
}

extension OutputSpec {
    /// Whether the output isn't divided yet, because the source's tracks are unknown.
    package var isUndivided: Bool { division.map { $0.track == nil } ?? false }

    /// Id of the output, or its name before a division; nil for the only output of a job without `outputs`.
    package var undividedName: String? { division?.name ?? id?.value }

    /// Returns the part of a divided output for a track.
    func part(for track: TrackDivision.Track) -> OutputSpec {
        guard let division else { return self }
        var part = self
        part.division?.track = track
        guard let own = part.division?.own else { return part }
        for index in division.rules where part.tracks.indices.contains(index) {
            part.tracks[index].selection = own
        }
        return part
    }
}

extension JobSpec {
    /// Whether an output isn't divided yet.
    package var isUndivided: Bool { outputs.contains(where: \.isUndivided) }
}

extension TrackDivision {
    /// Returns the id of the output of a track.
    func id(of track: Track) -> String { "\(name):\(track.index)" }
}

extension OutputName {
    /// The name of the output without the track's index.
    package var undivided: OutputName {
        OutputName(job: job, output: output.map { String($0.prefix { $0 != ":" }) })
    }
}
