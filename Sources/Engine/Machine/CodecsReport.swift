internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The codecs, containers and image formats that this build supports.
package struct CodecsReport: Encodable, Sendable {
    struct Codec: Encodable, Sendable {
        let name: String
        let kind: String
        let encoder: String?
        let encoders: [Encoder]
        let settings: [String]
        let containers: [String]
    }
    struct Encoder: Encodable, Sendable {
        let name: String
        /// Whether this build of FFmpeg includes the encoder.
        let isInBuild: Bool
        /// Whether the encoder requires a hardware device.
        let isHardware: Bool

        init(_ model: EncoderModel) {
            name = model.name
            isInBuild = EncoderInfo(named: model.name) != nil
            isHardware = model.requirement != nil
        }

        var text: String {
            let notes = [isInBuild ? nil : "not in this build", isHardware ? "hardware" : nil].compactMap(
                \.self)
            return name + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
        }

        enum CodingKeys: String, CodingKey {
            case name
            case isInBuild = "in_build"
            case isHardware = "hardware"
        }
    }
    struct Container: Encodable, Sendable {
        let name: String
        let muxer: String
        let extensions: [String]
        let tracks: [String]
        let holdsOneTrack: Bool
        /// Capabilities as short phrases, such as `edit lists`.
        let abilities: [String]
        /// Keys of the tags that the container can store; nil if it can store any.
        let tags: [String]?
        let covers: [String]
        let codecs: [String]

        enum CodingKeys: String, CodingKey {
            case name, muxer, extensions, tracks, abilities, tags, covers, codecs
            case holdsOneTrack = "one_track"
        }
    }
    /// A format of still images or animations.
    struct ImageFormat: Encodable, Sendable {
        let format: String
        let encoder: String?

        init(_ codec: CodecSelection) { (format, encoder) = (codec.name, codec.availableEncoder?.name) }
    }

    let version = 1
    let codecs: [Codec]
    let containers: [String]
    let models: [Container]
    let stillImages: [ImageFormat]
    let animations: [ImageFormat]
    let decoders: [String]
    private enum CodingKeys: String, CodingKey {
        case version, codecs, containers, animations, decoders
        case stillImages = "still_images"
        case models = "container_models"
    }

    package init() {
        let codecs = (CodecCatalog.video + CodecCatalog.audio).map(Self.describe)
        self.codecs = codecs
        containers = ContainerType.names
        models = ContainerType.all.map { container in
            Self.describe(
                container, codecs: codecs.filter { $0.containers.contains(container.name) }.map(\.name))
        }
        stillImages = CodecCatalog.imageCodecs.map { ImageFormat($0) }
        animations = CodecCatalog.animations.map { ImageFormat($0) }
        decoders = CodecNames.decodable
    }

    private static func describe(_ codec: CodecSelection) -> Codec {
        var settings: [String] = []
        if let crf = codec.crfRange { settings.append("crf \(crf.lowerBound)-\(crf.upperBound)") }
        if let qp = codec.rate.qpRange { settings.append("qp \(qp.lowerBound)-\(qp.upperBound)") }
        if codec.rate.acceptsBitRate { settings.append("bitrate") }
        if let quality = codec.rate.qualities {
            settings.append("quality \(quality.lowerBound)-\(quality.upperBound)")
        }
        if codec.twoPasses != nil { settings.append("two passes") }
        if codec.canBeLossless || codec.isLossless { settings.append("lossless") }
        if let presets = codec.tuning.presets {
            settings.append("preset \(presets.first ?? "") to \(presets.last ?? "")")
        }
        if let profiles = codec.profileNames { settings.append("profile \(profiles.joined(separator: "|"))") }
        return Codec(
            name: codec.name, kind: codec.mediaType.rawValue, encoder: codec.availableEncoder?.name,
            encoders: codec.codec.encoders.map { Encoder($0) }, settings: settings,
            containers: ContainerType.all.filter {
                $0.mediaTypes.contains(codec.mediaType) && $0.canHold(codec: codec.libavName)
            }.map(\.name))
    }

    private static func describe(_ container: ContainerType, codecs: [String]) -> Container {
        let kinds: [MediaType] = [.video, .audio, .subtitle, .data, .attachment]
        let abilities: [(Bool, String)] = [
            (container.hasEditLists, "edit lists"), (!container.model.hasTimestamps, "no timestamps"),
            (container.model.canOptimizeForNetwork, "index at the front"),
            (container.hasFragments, "fragments"),
            (container.hasChapters, "chapters"), (container.model.hasTimecode, "timecode"),
            (container.model.hasDisplayMatrix, "rotation"), (container.model.storesColor, "color"),
            (container.model.storesColorRange, "color range"),
            (container.model.supportsSeparateAlpha, "separate alpha plane of VP8 and VP9"),
            (container.model.storesDolbyVision, "Dolby Vision"),
            (!container.model.languages.isEmpty, "languages"),
            (container.model.hasTrackTitles, "track titles"),
            (container.model.hasTrackTags, "track tags"),
        ]
        return Container(
            name: container.name, muxer: container.model.muxer, extensions: container.extensions,
            tracks: kinds.filter(container.mediaTypes.contains).map(\.rawValue),
            holdsOneTrack: container.model.isSingleTrack,
            abilities: abilities.filter(\.0).map(\.1), tags: container.metadataKeys?.sorted(),
            covers: container.model.coverCodecs.sorted(), codecs: codecs)
    }

    /// Text output of the report.
    package var text: String {
        var lines: [String] = []
        for codec in codecs {
            let encoder = codec.encoder ?? "no encoder in this build"
            lines.append(
                "\(Self.pad(codec.name, 10)) \(Self.pad(codec.kind, 9)) \(Self.pad(encoder, 12)) \(codec.settings.joined(separator: ", "))"
            )
            if codec.encoders.count > 1 {
                lines.append(
                    "\(Self.pad("", 10)) encoders \(codec.encoders.map(\.text).joined(separator: ", "))")
            }
            lines.append("\(Self.pad("", 10)) in \(codec.containers.joined(separator: " "))")
        }
        for container in models {
            let tracks = (container.holdsOneTrack ? ["one track of"] : []) + container.tracks
            var facts = [tracks.joined(separator: " ")] + container.abilities
            if !container.covers.isEmpty {
                facts.append("covers (\(container.covers.joined(separator: " ")))")
            }
            facts.append(container.tags.map { "\(counted($0.count, "tag"))" } ?? "any tag")
            let names = container.extensions.map { "." + $0 }.joined(separator: " ")
            lines.append(
                "\(Self.pad(container.name, 10)) \(Self.pad("file", 9)) \(Self.pad(names, 12)) \(facts.joined(separator: ", "))"
            )
        }
        for (kind, formats) in [("image", stillImages), ("animation", animations)] {
            for image in formats {
                let encoder = image.encoder ?? "no encoder in this build"
                lines.append("\(Self.pad(image.format, 10)) \(Self.pad(kind, 9)) \(encoder)")
            }
        }
        lines.append("decodes     \(decoders.count) codecs: \(decoders.joined(separator: " "))")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }
}
