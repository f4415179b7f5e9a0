internal import JobSpec
internal import LibAV

extension SourceDescription.Track {
    /// Everything that a rule says holds of the track, the `position`th of its kind.
    func meets(_ criteria: TrackCriteria, position: Int) -> Bool {
        if let index = criteria.index, index != position { return false }
        if let id = criteria.id, id != self.id { return false }
        if let wanted = criteria.language, !Self.isSameLanguage(language, wanted) { return false }
        if let wanted = criteria.codec, wanted != codec { return false }
        if !Set(criteria.disposition).isSubset(of: disposition) { return false }
        if let wanted = criteria.characteristic, wanted != Self.characteristic(of: mediaType) { return false }
        if let wanted = criteria.title, wanted != title { return false }
        return true
    }

    private static func characteristic(of type: MediaType) -> String? {
        switch type {
        case .video: "visual"
        case .audio: "audible"
        case .subtitle: "legible"
        default: nil
        }
    }

    /// Containers write `deu` or `ger`, people also `de`.
    private static func isSameLanguage(_ have: String?, _ wanted: String) -> Bool {
        guard let have else { return wanted.lowercased() == "und" }
        return canonical(have) == canonical(wanted)
    }

    private static func canonical(_ code: String) -> String {
        let code = code.lowercased()
        let primary = String(code.prefix { $0 != "-" })
        return sameLanguages.first { $0.contains(primary) }?.first ?? code
    }

    /// ISO 639: three letters by terminology and by bibliography, and two letters.
    private static let sameLanguages: [[String]] = [
        ["deu", "ger", "de"], ["fra", "fre", "fr"], ["eng", "en"], ["spa", "es"], ["ita", "it"],
        ["por", "pt"], ["nld", "dut", "nl"], ["zho", "chi", "zh"], ["jpn", "ja"], ["kor", "ko"],
        ["rus", "ru"], ["ara", "ar"], ["ces", "cze", "cs"], ["pol", "pl"], ["swe", "sv"], ["dan", "da"],
        ["nor", "no"], ["nob", "nb"], ["fin", "fi"], ["tur", "tr"], ["ell", "gre", "el"], ["hun", "hu"],
        ["ron", "rum", "ro"], ["slk", "slo", "sk"], ["heb", "he"], ["hin", "hi"], ["ukr", "uk"],
        ["fas", "per", "fa"], ["hrv", "hr"], ["srp", "sr"], ["bul", "bg"], ["cat", "ca"],
        ["eus", "baq", "eu"],
        ["isl", "ice", "is"], ["mkd", "mac", "mk"], ["msa", "may", "ms"], ["mya", "bur", "my"],
        ["sqi", "alb", "sq"], ["hye", "arm", "hy"], ["kat", "geo", "ka"], ["cym", "wel", "cy"],
        ["bod", "tib", "bo"], ["mri", "mao", "mi"], ["vie", "vi"], ["tha", "th"], ["ind", "id"],
    ]
}
