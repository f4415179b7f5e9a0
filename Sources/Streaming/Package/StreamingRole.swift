/// A purpose of an audio or subtitle rendition other than the main content. `characteristics` are HLS's names, `dashRole`
/// is a role of `urn:mpeg:dash:role:2011`.
package enum StreamingRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Comments on the content, such as a director's.
    case commentary
    /// A translation of the original audio.
    case dub
    /// Audio that describes the video for visually impaired people.
    case description
    /// Subtitles with speakers and sounds for hearing impaired people (SDH, captions).
    case captions
    /// Subtitles of foreign dialogue only, which players show with audio of the same language.
    case forced
    /// Subtitles that are simplified for easy reading.
    case easyReader

    /// Returns the roles that libavformat's dispositions declare.
    package static func roles(ofDisposition disposition: some Sequence<String>) -> Set<StreamingRole> {
        Set(disposition.compactMap { named[$0] })
    }

    private static let named: [String: StreamingRole] = [
        "comment": .commentary, "dub": .dub, "visual_impaired": .description, "descriptions": .description,
        "hearing_impaired": .captions, "captions": .captions, "forced": .forced,
    ]

    /// Values of HLS's `CHARACTERISTICS`.
    var characteristics: [String] {
        switch self {
        case .description: ["public.accessibility.describes-video"]
        case .captions:
            [
                "public.accessibility.transcribes-spoken-dialog",
                "public.accessibility.describes-music-and-sound",
            ]
        case .easyReader: ["public.easy-to-read"]
        case .commentary, .dub, .forced: []
        }
    }

    /// Value of DASH's `Role`.
    var dashRole: String {
        switch self {
        case .commentary: "commentary"
        case .dub: "dub"
        case .description: "description"
        case .captions: "caption"
        case .forced: "forced-subtitle"
        case .easyReader: "easyreader"
        }
    }

    /// Value of DASH's `Accessibility` (`urn:tva:metadata:cs:AudioPurposeCS:2007`): 1 for visually impaired, 2 for hearing
    /// impaired people; nil for other roles.
    var audioPurpose: String? {
        switch self {
        case .description: "1"
        case .captions: "2"
        case .commentary, .dub, .forced, .easyReader: nil
        }
    }

    /// Suffix of a rendition's name; nil if players show it themselves.
    var label: String? {
        switch self {
        case .commentary: "commentary"
        case .description: "audio description"
        case .captions: "SDH"
        case .forced: "forced"
        case .easyReader: "easy reading"
        case .dub: nil
        }
    }
}
