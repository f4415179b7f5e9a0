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
    /// What it is for, by libav's names (`forced`, `hearing_impaired`, …), sorted.
    public var disposition: [String]
    /// Which cues, in the order in which they stand; none is repeated.
    public var clips: [ClipPlacement]

    /// Makes a track.
    public init(
        language: String? = nil, title: String? = nil, disposition: [String] = [], clips: [ClipPlacement] = []
    ) {
        self.language = language
        self.title = title
        self.disposition = disposition
        self.clips = clips
    }
}

extension Composition {
    /// Has the cues of a clip move along with it: those of a language and a purpose follow the ones of the same language and purpose before
    /// them, the second track of them the second. Tracks whose cues are images are left out (`SubtitleCodec.canConvert`).
    ///
    /// - Parameters:
    ///   - tracks: of the clip's source.
    ///   - placement: where the clip stands; its track is not looked at.
    ///   - spelled: one code for all that mean the same language.
    package mutating func carry(
        _ tracks: [TrackDescription], of placement: ClipPlacement, spelled: (String) -> String = { $0 }
    ) {
        struct Kind: Hashable {
            var language: String?
            var disposition: [String]
        }
        var seen: [Kind: Int] = [:]
        for track in tracks
        where track.mediaType == .subtitle && SubtitleCodec.canConvert(from: track.codec) {
            let language = track.language.flatMap { $0 == "und" || $0.isEmpty ? nil : $0 }
            // Which one is usual is for the output to say.
            let disposition = track.disposition.filter { $0 != "default" }.sorted()
            let kind = Kind(language: language.map(spelled), disposition: disposition)
            let number = seen[kind, default: 0]
            seen[kind] = number + 1
            let known = subtitles.indices.filter {
                subtitles[$0].language.map(spelled) == kind.language
                    && subtitles[$0].disposition == disposition
            }
            var own = placement
            own.track = track.index
            if known.indices.contains(number) {
                subtitles[known[number]].clips.append(own)
            } else {
                subtitles.append(
                    SubtitleTrack(
                        language: language, title: track.title, disposition: disposition, clips: [own]))
            }
        }
    }
}
