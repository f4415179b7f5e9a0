public import LibAV
internal import Locking

/// A kind of file that can be written (AVFoundation's `AVFileType`), with what its model says of it.
@dynamicMemberLookup
public final class ContainerType: Hashable, Sendable {
    /// What is known of it.
    public let model: ContainerModel

    /// What is known of it.
    public subscript<Value>(dynamicMember member: KeyPath<ContainerModel, Value>) -> Value {
        model[keyPath: member]
    }

    private init(_ model: ContainerModel) { self.model = model }

    /// There is one of each name.
    public static func == (a: ContainerType, b: ContainerType) -> Bool { a === b }
    /// As `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// What libavformat said, by codec: it looks through all its muxers each time.
    private let known = Guarded<[String: Bool]>([:])

    /// All of them.
    public static let all = ContainerModel.table.map(ContainerType.init)
    /// The names of all of them.
    public static let names = all.map(\.name)
    /// Files of one frame each, which are no movies: none of `all`.
    public static let stills = [ContainerType(.jpeg), ContainerType(.png), webp]
    /// What animations are written as; none of `all` either.
    public static let animations = [gif, webp]
    private static let gif = ContainerType(.gif)
    private static let webp = ContainerType(.webp)
    /// What waveforms are written as; none of `all` either.
    private static let waveforms = ContainerModel.waveforms.map(ContainerType.init)
    private static let byName = Dictionary(
        uniqueKeysWithValues: (all + stills + waveforms + [gif]).map { ($0.name, $0) })
    private static let byExtension = Dictionary(
        all.flatMap { type in type.extensions.map { ($0, type) } }, uniquingKeysWith: { first, _ in first })

    /// The container of that name.
    public static func named(_ name: String) -> ContainerType? { byName[name] }

    /// The format of stills that a file name's extension stands for.
    public static func still(forExtension name: String) -> ContainerType? {
        stills.first { $0.extensions.contains(name.lowercased()) }
    }

    /// The format of animations that a file name's extension stands for.
    public static func animation(forExtension name: String) -> ContainerType? {
        animations.first { $0.extensions.contains(name.lowercased()) }
    }

    /// The container that a file name's extension stands for.
    public static func forExtension(_ name: String) -> ContainerType? {
        byExtension[name] ?? byExtension[name.lowercased()]
    }

    /// Kinds of data that some container holds.
    public static let dataCodecs = Set(all.flatMap(\.dataCodecs)).sorted()

    /// It can hold that codec, named as libav does.
    public func canHold(codec: String) -> Bool {
        switch model.codecs {
        // Muxers for one codec don't answer when asked.
        case .only(let codecs): return codecs.contains(codec)
        case .asked(let spoiled) where spoiled.contains(codec): return false
        case .asked:
            return known.withLock { known in
                if let answer = known[codec] { return answer }
                let answer = MuxerInfo(named: model.muxer)?.canHold(codec: codec) ?? false
                if known.count < 1000 { known[codec] = answer }
                return answer
            }
        }
    }

    /// It can hold a cover of that libav codec beside its tracks.
    public func canHoldCover(codec: String) -> Bool { model.coverCodecs.contains(codec) }

    /// It can hold chapters.
    public var hasChapters: Bool { model.hasChapters }

    /// It can hold chapters beside audio of a codec.
    public func hasChapters(withSound codec: String?) -> Bool {
        guard model.hasChapters, let codecs = model.chapterCodecs, let codec else { return model.hasChapters }
        return codecs.contains(codec)
    }

    /// It says the language of a track of a kind.
    public func hasLanguage(of type: MediaType) -> Bool { model.languages.contains(type) }

    /// What of a track it can say that it is for, by libav's names.
    public func dispositions(of type: MediaType) -> Set<String> { model.dispositions[type] ?? [] }

    /// What players take audio of such a layout for, where neither the container nor the codec in it says more than a
    /// number of channels; nil where it is said, or comes to the same.
    public func otherLayout(of layout: ChannelLayout, codec: String) -> ChannelLayout? {
        model.usualLayout(layout, codec).flatMap { $0.holds(layout) ? nil : $0 }
    }

    /// It can say that the beginning of copied audio is not heard.
    public func hidesBeginning(ofCodec codec: String) -> Bool {
        model.hidesBeginningExcept.map { !$0.contains(codec) } ?? false
    }

    /// Delays at the start of audio can be said, given the encoder's own delay and the codec.
    func canDelayAudio(by samples: Int64, padding: Int64, codec: String) -> Bool {
        // The muxer writes the two edits needed only where something is left of the delay.
        if model.hasEditLists { return samples > padding }
        guard model.hasTimestamps else { return false }
        return padding == 0 || model.delayedCodecs.contains(codec)
    }
}
