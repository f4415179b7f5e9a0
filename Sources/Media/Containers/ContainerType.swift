public import LibAV
internal import Locking

/// A container that can be written (AVFoundation's `AVFileType`).
public final class ContainerType: Hashable, Sendable {
    /// Capabilities of the container, and its storage of metadata and times.
    package let model: ContainerModel

    /// Name of the container in job files and presets, such as `mp4`.
    public var name: String { model.name }
    /// Extensions of file names without a dot, the preferred one first.
    public var extensions: [String] { model.extensions }

    /// Whether files are written in fragments, if the writer's `movieFragmentInterval` is set.
    public var hasFragments: Bool { model.hasFragments }
    /// Whether unfinished files can be played, so that they can be published immediately.
    public var isPlayableUnfinished: Bool { model.isPlayableUnfinished }

    /// Media types of the tracks that the container supports.
    public var mediaTypes: Set<MediaType> { model.mediaTypes }
    /// Keys of the tags of a file that the container stores; nil for any.
    public var metadataKeys: Set<String>? { model.metadataKeys }
    /// Whether the container has edit lists, with which copied packets can begin and end at any frame.
    public var hasEditLists: Bool { model.hasEditLists }
    /// Whether the container supports chapters, at least with some audio codecs.
    public var hasChapters: Bool { model.hasChapters }

    private init(_ model: ContainerModel) { self.model = model }

    /// Returns whether both are the same instance. There is one instance per name.
    public static func == (a: ContainerType, b: ContainerType) -> Bool { a === b }
    /// Hashes the identity of the instance.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Cached results of libavformat's queries by codec, because each query searches all muxers.
    private let supportedCodecs = Guarded<[String: Bool]>([:])

    /// All containers for tracks; excludes image and waveform formats.
    public static let all = ContainerModel.table.map(ContainerType.init)
    /// Names of the containers in `all`, in the same order.
    package static let names = all.map(\.name)
    /// Image formats with one frame per file; not in `all`.
    public static let stillImages = [ContainerType(.jpeg), ContainerType(.png), webp]
    /// Image formats for animations; not in `all`.
    package static let animations = [gif, webp]
    /// Names by which job files refer to containers that can be read: those of `all`, and of demuxers.
    package static let namesOfSources = names + DemuxerModel.sourceNames.filter { !names.contains($0) }

    /// Returns all names by which job files refer to a source's container. `format` is libavformat's name of the
    /// demuxer, which may be a list.
    package static func names(ofSourceIn format: String) -> [String] {
        let formats = DemuxerModel.names(in: format)
        let types = all.filter { $0.model.demuxer.names.contains(where: formats.contains) }.map(\.name)
        return types + formats.filter { !types.contains($0) }.sorted()
    }

    private static let gif = ContainerType(.gif)
    private static let webp = ContainerType(.webp)
    /// Formats for waveforms; not in `all`.
    private static let waveforms = ContainerModel.waveforms.map(ContainerType.init)
    private static let byName = Dictionary(
        uniqueKeysWithValues: (all + stillImages + waveforms + [gif]).map { ($0.name, $0) })
    private static let byExtension = Dictionary(
        all.flatMap { type in type.extensions.map { ($0, type) } }, uniquingKeysWith: { first, _ in first })

    /// Returns the container with this name, including image and waveform formats; nil if there is none.
    public static func named(_ name: String) -> ContainerType? { byName[name] }

    /// Returns the still image format for a file name extension in any case; nil if there is none.
    public static func stillImage(forExtension name: String) -> ContainerType? {
        stillImages.first { $0.extensions.contains(name.lowercased()) }
    }

    /// Returns the animation format for a file name extension in any case; nil if there is none.
    package static func animation(forExtension name: String) -> ContainerType? {
        animations.first { $0.extensions.contains(name.lowercased()) }
    }

    /// Returns the container of `all` for a file name extension in any case; nil if there is none.
    public static func forExtension(_ name: String) -> ContainerType? {
        byExtension[name] ?? byExtension[name.lowercased()]
    }

    /// Codecs of data tracks that at least one container supports, sorted.
    package static let dataCodecs = Set(all.flatMap(\.model.dataCodecs)).sorted()

    /// Returns whether the container supports a codec, by libavcodec's name (`avformat_query_codec`).
    public func canHold(codec: String) -> Bool {
        switch model.codecs {
        // Muxers for a single codec don't implement the query.
        case .only(let codecs): return codecs.contains(codec)
        case .queried(let spoiled) where spoiled.contains(codec): return false
        case .queried:
            return supportedCodecs.withLock { known in
                if let isSupported = known[codec] { return isSupported }
                let isSupported = MuxerInfo(named: model.muxer)?.canHold(codec: codec) ?? false
                if known.count < 1000 { known[codec] = isSupported }
                return isSupported
            }
        }
    }

    /// Whether codec headers are stored in the container's header instead of the packets.
    var requiresGlobalHeaders: Bool { MuxerInfo(named: model.muxer)?.requiresGlobalHeaders ?? false }

    /// Returns whether the container supports cover art in a codec, by libavcodec's name.
    package func canHoldCover(codec: String) -> Bool { model.coverCodecs.contains(codec) }

    /// Whether the container supports cover art in all formats of image files that are accepted as covers.
    package var supportsCoverImages: Bool { CoverImage.codecs.isSubset(of: model.coverCodecs) }

    /// Names of the containers in `all` that support covers from image files.
    package static let namesWithCoverImages = all.filter(\.supportsCoverImages).map(\.name)

    /// Returns whether the container supports chapters with audio in a codec; nil for an output without audio.
    package func hasChapters(withAudio codec: String?) -> Bool {
        guard model.hasChapters, let codecs = model.chapterCodecs, let codec else { return model.hasChapters }
        return codecs.contains(codec)
    }

    /// Returns whether the container stores the language of tracks of a media type.
    package func hasLanguage(of type: MediaType) -> Bool { model.languages.contains(type) }

    /// Returns the dispositions that the container stores for tracks of a media type, by libavformat's names.
    package func dispositions(of type: MediaType) -> Set<String> { model.dispositions[type] ?? [] }

    /// Returns the layout that players assume for audio with this layout, if neither the container nor the codec
    /// stores more than the number of channels; nil if the layout is stored, or is the same.
    package func otherLayout(of layout: ChannelLayout, codec: String) -> ChannelLayout? {
        model.defaultLayout(layout, codec).flatMap { $0.contains(layout) ? nil : $0 }
    }

    /// Returns whether the start of copied audio can be marked as not presented, by the container or in the bitstream.
    package func hidesBeginning(ofCodec codec: String) -> Bool {
        model.hidesBeginningExcept.map { !$0.contains(codec) } ?? false
    }

    /// Returns whether the container can store a delay of `samples` at the start of audio. `padding` is the encoder
    /// delay in samples.
    func canDelayAudio(by samples: Int64, padding: Int64, codec: String) -> Bool {
        // The muxer writes the two required edits only if the delay exceeds the padding.
        if model.hasEditLists { return samples > padding }
        guard model.hasTimestamps else { return false }
        return padding == 0 || model.delayedCodecs.contains(codec)
    }
}
