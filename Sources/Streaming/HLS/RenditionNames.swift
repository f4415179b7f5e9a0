/// Names that players show for audio and subtitles.
enum RenditionNames {
    /// Returns the name of a language, followed by the roles. `unknown` is the name without a language.
    static func name(language: LanguageTag?, roles: Set<StreamingRole>, unknown: String) -> String {
        let name = language?.name ?? unknown
        let labels = StreamingRole.allCases.filter(roles.contains).compactMap(\.label)
        return labels.isEmpty ? name : "\(name) (\(labels.joined(separator: ", ")))"
    }

    /// Returns names that differ from each other as quoted strings, by numbers behind repeated names.
    static func distinct(_ names: [String]) -> [String] {
        var taken: Set<String> = []
        // The next number of each name, so that many equal names remain linear.
        var numbers: [String: Int] = [:]
        return names.map { name in
            let plain = AttributeList.quotable(name)
            var (unique, number) = (plain, numbers[plain] ?? 2)
            while !taken.insert(unique).inserted {
                unique = "\(plain) \(number)"
                number += 1
            }
            numbers[plain] = number
            return unique
        }
    }
}
