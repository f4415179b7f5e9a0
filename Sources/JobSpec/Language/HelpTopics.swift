/// The topics of `tandem help`: the sections of the reference, and the keys of job files.
package struct HelpTopics: Sendable {
    private let sections: [ReferenceSection]

    /// Creates the topics. `statuses` are the program's exit statuses in order of precedence, with their meanings.
    package init(statuses: [(status: Int32, meaning: String)]) {
        sections = ReferenceGenerator.sections(statuses: statuses)
    }

    /// All topics: sections in the order of the reference, then keys, without repetition.
    package var names: [String] {
        var seen: Set<String> = []
        let keys = ReferenceGenerator.allMappings.flatMap(\.keys).map(\.name)
        return (sections.map(\.topic) + keys).filter { seen.insert($0).inserted }
    }

    /// Returns the list of topics, with lines of at most `width` columns.
    package func listing(width: Int) -> String {
        let grammar = sections.compactMap { section in section.summary.map { [section.topic, $0] } }
        let mappings = sections.filter { $0.summary == nil }.map(\.topic).sorted()
        let blocks: [ReferenceBlock] = [
            .table(["topic", "contents"], rows: grammar),
            .paragraph("Mappings of job files: \(mappings.joined(separator: ", "))."),
            .paragraph("Each key of job files is a topic as well, such as in `tandem help crf`."),
        ]
        return "TOPICS:\n" + blocks.map { $0.text(width: width) }.joined(separator: "\n")
    }

    /// Returns the text of a topic, with lines of at most `width` columns; nil if there is no such topic.
    package func text(of topic: String, width: Int) -> String? {
        let uses = KeyUse.all(of: topic)
        let own = sections.filter { $0.topic == topic }
        // A key without a section of its name is followed by the mappings that are its values.
        let values = Set(
            uses.flatMap { ReferenceGenerator.mappings(in: $0.type) }.map(ReferenceGenerator.topic))
        let shown = own.isEmpty ? sections.filter { values.contains($0.topic) && $0.summary == nil } : own
        var texts = shown.map { $0.text(width: width) }
        if !uses.isEmpty {
            let rows = uses.map { ["of \($0.owners.joined(separator: ", "))", $0.value, $0.meaning] }
            let key = ReferenceSection(
                topic: topic, title: "Key `\(topic)`", summary: nil,
                blocks: rows.map { .table(["of", "value", "meaning"], rows: [$0]) })
            texts.insert(key.text(width: width), at: 0)
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }

    /// A key with equal values and meaning in one or several mappings.
    private struct KeyUse {
        let type: ValueType
        let value: String
        let meaning: String
        var owners: [String]

        static func all(of name: String) -> [KeyUse] {
            var uses: [KeyUse] = []
            for mapping in ReferenceGenerator.allMappings {
                guard let key = mapping.key(name) else { continue }
                let use = KeyUse(
                    type: key.type, value: ReferenceGenerator.describe(key.type),
                    meaning: ReferenceGenerator.meaning(of: key), owners: [mapping.title])
                if let same = uses.firstIndex(where: { $0.value == use.value && $0.meaning == use.meaning }) {
                    if !uses[same].owners.contains(mapping.title) { uses[same].owners.append(mapping.title) }
                } else {
                    uses.append(use)
                }
            }
            return uses
        }
    }
}
