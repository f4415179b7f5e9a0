package import LibAV
package import Media

/// Converts language codes: between the codes of one language, and to codes that a container can represent.
package enum LanguageCode {
    /// Returns one code for all codes of the same language.
    package static func canonical(_ code: String) -> String {
        let code = code.lowercased()
        let primary = String(code.prefix { $0 != "-" })
        return LanguageTable.codes(of: primary)?.first ?? code
    }

    /// Returns the code that the container stores; nil if it can't represent the language.
    package static func written(_ code: String, of type: MediaType, in container: ContainerType) -> String? {
        guard container.hasLanguage(of: type) else { return nil }
        if case .any = container.model.languageFormat { return code }
        let lower = code.lowercased()
        let known = LanguageTable.codes(of: lower) ?? [lower]
        let candidates = [lower] + known
        if case .quickTime = container.model.languageFormat {
            return candidates.first { quickTime.contains($0) }
        }
        return candidates.first { $0.utf8.count == 3 && $0.utf8.allSatisfy { (0x61...0x7a).contains($0) } }
    }

    /// Languages for which libavformat has a QuickTime language code (`mov_mdhd_language_map`).
    private static let quickTime: Set<String> = [
        "eng", "fra", "ger", "ita", "dut", "spa", "dan", "por", "nor", "heb", "jpn", "ara", "fin", "gre",
        "ice",
        "mlt", "tur", "chi", "urd", "hin", "tha", "kor", "lit", "pol", "hun", "est", "lav", "per", "rus",
        "alb",
        "ron", "ces", "slk", "slv", "yid", "mac", "bul", "ukr", "bel", "uzb", "kaz", "aze", "arm", "geo",
        "kir",
        "tgk", "tuk", "mon", "pus", "kur", "kas", "snd", "tib", "nep", "san", "mar", "ben", "asm", "guj",
        "ori",
        "mal", "kan", "tam", "tel", "sin", "bur", "khm", "lao", "vie", "ind", "tgl", "may", "amh", "tir",
        "orm",
        "som", "swa", "kin", "run", "nya", "mlg", "epo", "wel", "baq", "cat", "lat", "que", "grn", "aym",
        "tat",
        "uig", "dzo", "jav",
    ]
}
