internal import LibAV

/// The groups of audio renditions that a multivariant playlist offers.
///
/// A group contains one rendition for each member: a language with its roles and, where a format has several of those, a
/// title. Renditions of different formats (codec, number of channels) and of different qualities are in different groups, so
/// that players choose a group by what they can decode and transfer.
///
/// RFC 8216bis (4.4.6.2.1) requires the same members in all groups. Groups therefore contain the first format's rendition
/// of each member that their own format lacks. The reverse doesn't hold: `CODECS` of the first group would contain other
/// formats, and players that don't decode these would reject all variants. A member without the first format is only
/// in groups of its own format.
struct AudioGroups {
    /// A group of audio renditions.
    struct Group: Hashable {
        /// Renditions in the order of members.
        let renditions: [StreamingRendition]
        /// Names of the renditions, which are the same in all groups.
        let names: [String]
        /// Index of the rendition that players choose if users state no preference.
        let defaultIndex: Int

        /// The rendition at `defaultIndex`.
        var defaultRendition: StreamingRendition? {
            renditions.indices.contains(defaultIndex) ? renditions[defaultIndex] : nil
        }

        /// Name of the group: the requested one, or that of the format of the group's own renditions.
        let name: String
    }

    /// The format of audio, by which groups are distinguished.
    private struct Format: Hashable {
        let codec: CodecString?
        let channels: Int

        var name: String { "\(codec?.formatName ?? "audio")-\(channels)ch" }
    }

    /// A member of every group.
    private struct Member: Hashable {
        let language: LanguageTag?
        let roles: Set<StreamingRole>
        let title: String?
    }

    /// Groups in the order of their first renditions.
    let groups: [Group]

    /// Creates the groups of these audio renditions. With a `name`, formats aren't distinguished: there is one group of that
    /// name, and further ones only for other qualities.
    init(_ renditions: [StreamingRendition], name: String? = nil) {
        var formats: [Format] = []
        var byFormat: [Format: [StreamingRendition]] = [:]
        for rendition in renditions {
            guard let audio = rendition.audio else { continue }
            let format =
                name == nil
                ? Format(codec: rendition.codec, channels: audio.layout.channels)
                : Format(codec: nil, channels: 0)
            if byFormat[format] == nil { formats.append(format) }
            byFormat[format, default: []].append(rendition)
        }
        // Renditions of each format and member, in order of quality.
        var members: [Member] = []
        var qualities: [Format: [Member: [StreamingRendition]]] = [:]
        for format in formats {
            for rendition in byFormat[format] ?? [] {
                let member = Self.member(of: rendition, known: members, used: qualities[format] ?? [:])
                if !members.contains(member) { members.append(member) }
                qualities[format, default: [:]][member, default: []].append(rendition)
            }
        }
        let names = Self.names(members)
        let preferred = Set(
            formats.flatMap { format in
                (qualities[format] ?? [:]).filter { $0.value.contains { $0.isDefault } }.keys
            })
        let common = formats.first.flatMap { qualities[$0] } ?? [:]
        var groups: [Group] = []
        for format in formats {
            let own = qualities[format] ?? [:]
            let included = members.indices.filter { own[members[$0]] != nil || common[members[$0]] != nil }
            let defaultIndex =
                included.firstIndex { preferred.contains(members[$0]) }
                ?? included.firstIndex { members[$0].roles.isEmpty } ?? 0
            for quality in 0..<(own.values.map(\.count).max() ?? 0) {
                let renditions = included.compactMap { index -> StreamingRendition? in
                    let offered = own[members[index]] ?? common[members[index]] ?? []
                    return offered.indices.contains(quality) ? offered[quality] : offered.last
                }
                groups.append(
                    Group(
                        renditions: renditions, names: included.map { names[$0] }, defaultIndex: defaultIndex,
                        name: name ?? format.name))
            }
        }
        self.groups = groups
    }

    /// Returns the member that a rendition belongs to. Titles are only compared within a format, because those of
    /// different formats often name the format.
    private static func member(
        of rendition: StreamingRendition, known: [Member], used: [Member: [StreamingRendition]]
    ) -> Member {
        let own = Member(language: rendition.language, roles: rendition.roles, title: rendition.title)
        if known.contains(own) { return own }
        let free = known.first {
            $0.language == own.language && $0.roles == own.roles && used[$0] == nil
        }
        return free ?? own
    }

    /// Returns distinct names: the title, or the language with its roles.
    private static func names(_ members: [Member]) -> [String] {
        RenditionNames.distinct(
            members.map { member in
                member.title
                    ?? RenditionNames.name(language: member.language, roles: member.roles, unknown: "Audio")
            })
    }
}
