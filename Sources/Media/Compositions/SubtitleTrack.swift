internal import LibAV

/// Subtitle events of clips as one track of a composition (`AVCompositionTrack` of legible media). Events are SubRip
/// text, which outputs convert to their codec. Basic styles such as bold and italic are kept; positions and fonts are
/// dropped.
public struct SubtitleTrack: Hashable, Codable, Sendable {
    /// Codec of the events: SubRip.
    public static let codec = SubtitleCodec.srt
    /// Time base of the events: microseconds, sufficient for any source.
    static let timeBase = Rational(1, 1_000_000)

    /// ISO 639-2 code; nil if unknown.
    public var language: String?
    /// Title; nil if there is none.
    public var title: String?
    /// Dispositions by libavformat's names (`forced`, `hearing_impaired`, …), sorted.
    public var disposition: [String]
    /// Placements of the subtitle sources on the time line, in order of their start.
    public var clips: [ClipPlacement]

    /// Creates a track, by default with unknown language and without title, dispositions and events.
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
    /// Adds the subtitles of a clip. Each track is appended to the composition's track with the same language and
    /// dispositions; if a clip has several such tracks, the second is appended to the second one, and so on. Tracks
    /// with bitmap subtitles are dropped (`SubtitleCodec.canConvert`).
    ///
    /// - Parameters:
    ///   - tracks: tracks of the clip's source.
    ///   - placement: position of the clip; its track index is ignored.
    ///   - spelled: returns one code for all codes of the same language.
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
            // The output determines the default track.
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
