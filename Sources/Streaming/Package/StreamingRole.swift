/// A purpose of an audio or subtitle rendition other than the main content. `characteristics` are HLS's names, `dashRole`
/// is a role of `urn:mpeg:dash:role:2011`.
package enum StreamingRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Comments on the content, such as a director's.
    case commentary
    /// A translation of the original audio.
    case dub
    /// Audio that describes the video for visually impaired people.
    case description
    /// Audio whose dialogue is easier to understand, for hearing impaired people.
    case clearSpeech
    /// Subtitles with speakers and sounds for hearing impaired people (SDH, captions).
    case captions
    /// Subtitles of foreign dialogue only, which players show with audio of the same language.
    case forced
    /// Subtitles that are simplified for easy reading.
    case easyReader

    /// Returns the roles that libavformat's dispositions of an audio or subtitle track declare.
    package static func roles(
        ofDisposition disposition: some Sequence<String>, isAudio: Bool
    ) -> Set<StreamingRole> {
        let names = isAudio ? audioNames : subtitleNames
        return Set(disposition.compactMap { names[$0] })
    }

    private static let audioNames: [String: StreamingRole] = [
        "comment": .commentary, "dub": .dub, "visual_impaired": .description, "descriptions": .description,
        "hearing_impaired": .clearSpeech,
    ]
    private static let subtitleNames: [String: StreamingRole] = [
        "comment": .commentary, "hearing_impaired": .captions, "captions": .captions, "forced": .forced,
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
        case .clearSpeech: ["public.accessibility.enhances-speech-intelligibility"]
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
        case .clearSpeech: "enhanced-audio-intelligibility"
        case .captions: "caption"
        case .forced: "forced-subtitle"
        case .easyReader: "easyreader"
        }
    }

    /// Returns the disposition that a value of HLS's `CHARACTERISTICS` stands for, by libavformat's name; nil for others.
    static func disposition(ofCharacteristic name: Substring) -> String? {
        switch name {
        case "public.accessibility.describes-video": "visual_impaired"
        case "public.accessibility.transcribes-spoken-dialog",
            "public.accessibility.enhances-speech-intelligibility":
            "hearing_impaired"
        default: nil
        }
    }

    /// Returns the disposition that a value of DASH's `Role` stands for, by libavformat's name; nil for others.
    static func disposition(ofDASHRole name: String) -> String? {
        switch name {
        case "main": "default"
        case "commentary": "comment"
        case "dub": "dub"
        case "description": "visual_impaired"
        case "caption", "enhanced-audio-intelligibility": "hearing_impaired"
        case "forced-subtitle": "forced"
        default: nil
        }
    }

    /// Value of DASH's `Accessibility` (`urn:tva:metadata:cs:AudioPurposeCS:2007`): 1 for visually impaired, 2 for hearing
    /// impaired people; nil for other roles.
    var audioPurpose: String? {
        switch self {
        case .description: "1"
        case .clearSpeech: "2"
        case .commentary, .dub, .captions, .forced, .easyReader: nil
        }
    }

    /// Suffix of a rendition's name; nil if players show it themselves.
    var label: String? {
        switch self {
        case .commentary: "commentary"
        case .description: "audio description"
        case .clearSpeech: "clear speech"
        case .captions: "SDH"
        case .forced: "forced"
        case .easyReader: "easy reading"
        case .dub: nil
        }
    }
}
