internal import LibAV

/// Cues of clips as one track of a composition (`AVCompositionTrack` of legible media): text, which is SubRip's until an output makes
/// another codec of it. Bold, italic and the like stay; where a cue stood and fonts of its own are not kept.
public struct SubtitleTrack: Hashable, Codable, Sendable {
    /// The codec that its cues have.
    public static let codec = SubtitleCodec.srt
    /// The unit of its times: fine enough for any source's.
    static let timeBase = Rational(1, 1_000_000)

    /// As ISO 639-2 has it; nil where nobody said.
    public var language: String?
    /// Its title.
    public var title: String?
    /// Which cues, in the order in which they stand; none is repeated.
    public var clips: [ClipPlacement]

    /// Makes a track.
    public init(language: String? = nil, title: String? = nil, clips: [ClipPlacement] = []) {
        self.language = language
        self.title = title
        self.clips = clips
    }
}

extension Composition {
    /// Has the cues of a clip move along with it: those of a language follow the ones of the same language before them, the second track of
    /// a language the second. Tracks whose cues are images are left out (`SubtitleCodec.canConvert`).
    ///
    /// - Parameters:
    ///   - tracks: of the clip's source.
    ///   - placement: where the clip stands; its track is not looked at.
    package mutating func carry(_ tracks: [TrackDescription], of placement: ClipPlacement) {
        var seen: [String?: Int] = [:]
        for track in tracks
        where track.mediaType == .subtitle && SubtitleCodec.canConvert(from: track.codec) {
            let language = track.language.flatMap { $0 == "und" || $0.isEmpty ? nil : $0 }
            let number = seen[language, default: 0]
            seen[language] = number + 1
            let known = subtitles.indices.filter { subtitles[$0].language == language }
            var own = placement
            own.track = track.index
            if known.indices.contains(number) {
                subtitles[known[number]].clips.append(own)
            } else {
                subtitles.append(SubtitleTrack(language: language, title: track.title, clips: [own]))
            }
        }
    }
}
