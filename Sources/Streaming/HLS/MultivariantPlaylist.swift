internal import LibAV
internal import Media

/// The multivariant playlist of a package (RFC 8216bis, 4.4.6), as Apple's authoring specification requires it.
struct MultivariantPlaylist {
    private let package: StreamingPackage
    private let targetDuration: Int64
    /// Bit rates by rendition.
    private let rates: [String: BitRates]

    init(_ package: StreamingPackage) {
        self.package = package
        targetDuration = package.targetDuration
        rates = package.bitRates
    }

    /// Average bit rate in bits per second up to which a variant is listed first, so that players start with it.
    private static let startBitRate: Int64 = 2_000_000

    var text: String {
        let variants = variants
        let groups = groups(of: variants)
        let ids = Self.groupIDs(groups)
        // Players of the media playlists require the same version; groups of renditions are of version 4.
        let version: MediaPlaylist.Version = package.container == .mp4 ? .initialization : .ranges
        var lines = ["#EXTM3U", "#EXT-X-VERSION:\(version.rawValue)"]
        if package.renditions.allSatisfy({ $0.video?.accessPoint != .open }) {
            lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
        }
        lines.append("")
        for (group, id) in zip(groups, ids) { lines += media(group, id: id) }
        lines += subtitleMedia
        if lines.last != "" { lines.append("") }
        for variant in variants {
            let group = variant.audio.flatMap { groups.firstIndex(of: $0) }.map { ids[$0] }
            lines += streamInformation(of: variant, group: group)
        }
        let keyframes = keyframeInformation
        if !keyframes.isEmpty { lines += [""] + keyframes }
        let images = imageInformation
        if !images.isEmpty { lines += [""] + images }
        return (lines + [""]).joined(separator: "\n")
    }

    // MARK: Variants

    /// A video with a group of audio.
    private struct Variant {
        let video: StreamingRendition?
        let audio: AudioGroups.Group?
        let rates: BitRates
        /// Whether the audio is the group that the package lists first.
        let hasFirstAudio: Bool
    }

    /// Variants in the order of the playlist: the one to start with, then by decreasing bit rate.
    private var variants: [Variant] {
        let videos = package.renditions.filter { $0.video != nil }
        var variants: [Variant] = []
        func add(
            _ video: StreamingRendition?, audio: [StreamingRendition], name: String? = nil,
            isFirst: Bool = true
        ) {
            let groups = AudioGroups(audio, name: name).groups
            for group in groups.isEmpty ? [nil] : groups.map(Optional.some) {
                variants.append(
                    Variant(
                        video: video, audio: group, rates: combinedRates(video: video, audio: group),
                        hasFirstAudio: isFirst && group == groups.first))
            }
        }
        if package.variants.isEmpty {
            let audio = package.renditions.filter { $0.audio != nil }
            for video in videos.isEmpty ? [nil] : videos.map(Optional.some) { add(video, audio: audio) }
        } else {
            for video in videos.map(Optional.some) + [nil] {
                let chosen = package.variants.filter { $0.video == video?.id }
                guard !chosen.isEmpty else { continue }
                let names = chosen.filter { $0.audio != nil }.map(\.audioGroup).distinct
                for name in names {
                    let ids = Set(chosen.filter { $0.audioGroup == name }.compactMap(\.audio))
                    let audio = package.renditions.filter { ids.contains($0.id) }
                    add(video, audio: audio, name: name, isFirst: name == names.first)
                }
                if chosen.contains(where: { $0.audio == nil }) { add(video, audio: []) }
            }
        }
        variants = variants.enumerated().sorted {
            ($1.element.rates.peak, $0.offset) < ($0.element.rates.peak, $1.offset)
        }.map(\.element)
        // Audio alone isn't a start for packages with video. All players decode the first format of audio.
        let starts = variants.indices.filter {
            videos.isEmpty || variants[$0].video != nil && variants[$0].hasFirstAudio
        }
        if let start = starts.first(where: { variants[$0].rates.average <= Self.startBitRate }) ?? starts.last
        {
            variants.insert(variants.remove(at: start), at: 0)
        }
        return variants
    }

    /// Returns the highest bit rates that a combination of the video, an audio rendition of the group and subtitles has.
    private func combinedRates(video: StreamingRendition?, audio: AudioGroups.Group?) -> BitRates {
        let choices = [
            video.map { [$0] } ?? [], audio?.renditions ?? [],
            package.renditions.filter { $0.subtitles != nil },
        ]
        return choices.reduce(.zero) { sum, renditions in
            let rates = renditions.compactMap { self.rates[$0.id] }
            return BitRates(
                peak: sum.peak + (rates.map(\.peak).max() ?? 0),
                average: sum.average + (rates.map(\.average).max() ?? 0))
        }
    }

    private func streamInformation(of variant: Variant, group: String?) -> [String] {
        guard let main = variant.video ?? variant.audio?.defaultRendition else { return [] }
        var attributes = AttributeList()
        attributes.add("BANDWIDTH", variant.rates.peak)
        attributes.add("AVERAGE-BANDWIDTH", variant.rates.average)
        attributes.add("CODECS", quoted: codecs(of: variant))
        if let video = variant.video?.video { add(video, to: &attributes) }
        attributes.add("AUDIO", quoted: group)
        if package.renditions.contains(where: { $0.subtitles != nil }) {
            attributes.add("SUBTITLES", quoted: Self.subtitleGroup)
        }
        attributes.add("CLOSED-CAPTIONS", "NONE")
        return ["#EXT-X-STREAM-INF:\(attributes.text)", package.layout.playlist(of: main.id)]
    }

    private func add(_ video: StreamingRendition.Video, to attributes: inout AttributeList, rate: Bool = true)
    {
        let size = video.displaySize
        attributes.add("RESOLUTION", "\(size.width)x\(size.height)")
        if rate, let frameRate = video.frameRate { attributes.add("FRAME-RATE", Self.thousandths(frameRate)) }
        attributes.add("VIDEO-RANGE", VideoRange(video.color).rawValue)
    }

    /// Returns the codecs of all renditions of a variant, each once.
    private func codecs(of variant: Variant) -> String {
        var codecs: [String] = []
        for rendition in (variant.video.map { [$0] } ?? []) + (variant.audio?.renditions ?? []) {
            guard let codec = rendition.codec?.hls, !codecs.contains(codec) else { continue }
            codecs.append(codec)
        }
        return codecs.joined(separator: ",")
    }

    /// Returns a frame rate with three decimals.
    private static func thousandths(_ rate: Rational) -> String {
        let value = (Int64(rate.num) * 1000 + Int64(rate.den) / 2) / Int64(max(1, rate.den))
        return "\(value / 1000).\(padded(value % 1000, digits: 3))"
    }

    // MARK: Renditions

    private static let subtitleGroup = "subtitles"

    /// Returns an id for each group: its format, with a number if several groups have the same.
    private static func groupIDs(_ groups: [AudioGroups.Group]) -> [String] {
        RenditionNames.distinct(groups.map(\.name)).map {
            String($0.map { $0 == " " ? "-" : $0 })
        }
    }

    /// Returns the groups of all variants in the order of the package's renditions, on which the groups' ids depend.
    private func groups(of variants: [Variant]) -> [AudioGroups.Group] {
        let positions = Dictionary(
            package.renditions.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        func order(_ group: AudioGroups.Group) -> [Int] { group.renditions.map { positions[$0.id] ?? 0 } }
        let groups = variants.compactMap(\.audio).sorted {
            order($0).lexicographicallyPrecedes(order($1))
        }
        return groups.reduce(into: []) { distinct, group in
            if distinct.last != group { distinct.append(group) }
        }
    }

    private func media(_ group: AudioGroups.Group, id: String) -> [String] {
        let standard = group.defaultIndex
        var automatic = AutomaticSelection()
        // The default has precedence over renditions that players can't distinguish from it.
        if let rendition = group.defaultRendition { _ = automatic.take(rendition) }
        return group.renditions.enumerated().map { index, rendition in
            var attributes = AttributeList()
            attributes.add("TYPE", "AUDIO")
            attributes.add("GROUP-ID", quoted: id)
            add(
                rendition, name: group.names[index], isDefault: index == standard,
                isAutomatic: index == standard || automatic.take(rendition), to: &attributes)
            if let audio = rendition.audio { attributes.add("CHANNELS", quoted: "\(audio.layout.channels)") }
            attributes.add("URI", quoted: package.layout.playlist(of: rendition.id))
            return "#EXT-X-MEDIA:\(attributes.text)"
        }
    }

    private var subtitleMedia: [String] {
        let renditions = package.renditions.filter { $0.subtitles != nil }
        let names = RenditionNames.distinct(
            renditions.map {
                $0.title
                    ?? RenditionNames.name(language: $0.language, roles: $0.roles, unknown: "Subtitles")
            })
        // Forced subtitles belong to the audio, so that they aren't a default.
        let standard = renditions.firstIndex { $0.isDefault && !$0.roles.contains(.forced) }
        var automatic = AutomaticSelection()
        if let standard { _ = automatic.take(renditions[standard]) }
        return renditions.enumerated().map { index, rendition in
            var attributes = AttributeList()
            attributes.add("TYPE", "SUBTITLES")
            attributes.add("GROUP-ID", quoted: Self.subtitleGroup)
            add(
                rendition, name: names[index], isDefault: index == standard,
                isAutomatic: index == standard || automatic.take(rendition), to: &attributes)
            if rendition.roles.contains(.forced) { attributes.add("FORCED", "YES") }
            attributes.add("URI", quoted: package.layout.playlist(of: rendition.id))
            return "#EXT-X-MEDIA:\(attributes.text)"
        }
    }

    private func add(
        _ rendition: StreamingRendition, name: String, isDefault: Bool, isAutomatic: Bool,
        to attributes: inout AttributeList
    ) {
        attributes.add("NAME", quoted: name)
        attributes.add("LANGUAGE", quoted: rendition.language?.value)
        attributes.add("DEFAULT", isDefault ? "YES" : "NO")
        attributes.add("AUTOSELECT", isAutomatic ? "YES" : "NO")
        let characteristics = StreamingRole.allCases.filter(rendition.roles.contains).flatMap(
            \.characteristics)
        if !characteristics.isEmpty {
            attributes.add("CHARACTERISTICS", quoted: characteristics.joined(separator: ","))
        }
    }

    // MARK: Keyframes and thumbnails

    /// Thumbnails by an extension, which other players ignore as they do all unknown tags.
    private var imageInformation: [String] {
        package.renditions.compactMap { rendition in
            guard let sheet = rendition.thumbnails else { return nil }
            var attributes = AttributeList()
            attributes.add("BANDWIDTH", max(1, rates[rendition.id]?.peak ?? 0))
            attributes.add("CODECS", quoted: sheet.format.rawValue)
            attributes.add("RESOLUTION", "\(sheet.width)x\(sheet.height)")
            attributes.add("URI", quoted: package.layout.playlist(of: rendition.id))
            return "#EXT-X-IMAGE-STREAM-INF:\(attributes.text)"
        }
    }

    private var keyframeInformation: [String] {
        package.renditions.filter { package.offersKeyframes(of: $0) }.map { rendition in
            let rates = rendition.keyframeBitRates(targetDuration: targetDuration)
            var attributes = AttributeList()
            attributes.add("BANDWIDTH", rates.peak)
            attributes.add("AVERAGE-BANDWIDTH", rates.average)
            attributes.add("CODECS", quoted: rendition.codec?.hls)
            if let video = rendition.video { add(video, to: &attributes, rate: false) }
            attributes.add("URI", quoted: package.layout.keyframePlaylist(of: rendition.id))
            return "#EXT-X-I-FRAME-STREAM-INF:\(attributes.text)"
        }
    }
}

/// The renditions of a group that players may select by language and characteristics alone, which must differ in these.
private struct AutomaticSelection {
    private struct Key: Hashable {
        let language: LanguageTag?
        let roles: Set<StreamingRole>
    }
    private var taken: Set<Key> = []

    /// Returns whether players can distinguish a rendition from all earlier ones. Comments on the content are selected by
    /// users only.
    mutating func take(_ rendition: StreamingRendition) -> Bool {
        guard !rendition.roles.contains(.commentary) else { return false }
        return taken.insert(Key(language: rendition.language, roles: rendition.roles)).inserted
    }
}

extension Array where Element: Equatable {
    /// The elements without repetitions, in the order of their first occurrences.
    fileprivate var distinct: [Element] {
        reduce(into: []) { distinct, element in
            if !distinct.contains(element) { distinct.append(element) }
        }
    }
}
