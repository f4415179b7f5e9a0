internal import LibAV

/// The reading of one source of a composition, by its own reader.
struct CompositionRead {
    let source: CompositionSource
    let reader: AssetReader
    let output: AssetReaderOutput

    /// The next sample; an error tells of which source it is.
    func next() throws -> SampleBuffer? { try source.told { try output.copyNextSampleBuffer() } }
}

extension CompositionSource {
    /// What it is called in messages.
    private var name: String {
        switch self {
        case .file(let path): path
        case .images(let sequence): sequence.path
        case .pattern(let pattern): pattern.name
        }
    }

    /// Has an error say that it is of this source.
    func told<Value: ~Copyable>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw named(error)
        }
    }

    /// The same of an error that is there already.
    func named(_ error: any Error) -> any Error {
        guard let error = error as? MediaError else { return error }
        return MediaError.clip(source: name.split(separator: "/").last.map(String.init) ?? name, error)
    }
}

/// Opens a composition's sources for who needs them next: each has a reader of its own, which shares what stops the whole, what is counted
/// and what damage means.
struct CompositionOpener {
    let sources: [CompositionSource]
    let environment: MediaEnvironment
    let interrupt: InterruptFlag
    let movement: MovementCounter
    let damage: DamageTally
    let decoderThreads: Int?

    /// Begins to read a track of a source.
    /// - Throws: `MediaError` where the source is another than was planned.
    func read(
        _ placement: ClipPlacement, as settings: ReaderOutputSettings, _ extent: ReadingExtent
    ) throws -> CompositionRead {
        try read(source: placement.source, track: placement.track, as: settings, extent)
    }

    /// The same of a source by its place.
    func read(
        source index: Int, track: Int, as settings: ReaderOutputSettings, _ extent: ReadingExtent
    ) throws -> CompositionRead {
        if interrupt.isRaised { throw CancellationError() }
        guard sources.indices.contains(index) else {
            throw MediaError.misuse("a clip of no source")
        }
        let source = sources[index]
        return try source.told { try open(source, track, settings, extent) }
    }

    private func open(
        _ source: CompositionSource, _ index: Int, _ settings: ReaderOutputSettings, _ extent: ReadingExtent
    ) throws -> CompositionRead {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents: AssetContents
        do {
            contents = try asset.loadSynchronously()
        } catch let error as InputError {
            throw MediaError.input(error)
        }
        guard let track = contents.tracks.first(where: { $0.index == index }) else {
            throw MediaError.misuse("track \(index) is no longer there")
        }
        let reader = try AssetReader(asset: asset, interrupt: interrupt, movement: movement)
        var extent = extent
        extent.damagePolicy = damage.policy
        reader.extent = extent
        reader.decoderThreads = decoderThreads
        let output = AssetReaderTrackOutput(track: track, settings: settings)
        output.damage = damage
        // Where packets are to be whole, a container's coarse clock would say that some aren't.
        if case .wholePackets = settings { output.countsSamples = true }
        try reader.add(output)
        try reader.startReading()
        return CompositionRead(source: source, reader: reader, output: output)
    }
}
