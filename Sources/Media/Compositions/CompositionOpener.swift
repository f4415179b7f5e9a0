internal import LibAV

/// Reading of one source's track for a composition.
struct CompositionRead {
    let source: CompositionSource
    let reader: AssetReader
    let output: AssetReaderOutput
    /// All tracks of the source.
    let tracks: [AssetTrack]

    /// Returns the next sample, nil at the end; errors contain the source's name.
    func next() throws -> SampleBuffer? { try source.namingSource { try output.copyNextSampleBuffer() } }
}

extension CompositionSource {
    /// Name of the source in messages.
    private var name: String {
        switch self {
        case .file(let path): path
        case .images(let sequence): sequence.path
        case .pattern(let pattern): pattern.name
        }
    }

    /// Calls `body`, and adds the source's name to an error.
    func namingSource<Value: ~Copyable>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw named(error)
        }
    }

    /// Returns an error with the source's name added.
    func named(_ error: any Error) -> any Error {
        guard let error = error as? MediaError else { return error }
        return MediaError.clip(source: name.split(separator: "/").last.map(String.init) ?? name, error)
    }
}

/// Opener of a composition's sources. Each source has a separate reader; all readers share the interrupt flag, the
/// packet counter and the damage tally.
struct CompositionOpener {
    let sources: [CompositionSource]
    let environment: MediaEnvironment
    let interrupt: InterruptFlag
    let movement: MovementCounter
    let damage: DamageTally
    let decoderThreads: Int?

    /// Starts reading a placement's track.
    /// - Throws: `MediaError` if the source has changed since planning.
    func read(
        _ placement: ClipPlacement, as settings: ReaderOutputSettings, _ extent: ReadingExtent
    ) throws -> CompositionRead {
        try read(source: placement.source, track: placement.track, as: settings, extent)
    }

    /// Starts reading a track of the source at an index.
    func read(
        source index: Int, track: Int, as settings: ReaderOutputSettings, _ extent: ReadingExtent
    ) throws -> CompositionRead {
        try read(source: index, track: track) { _ in Reading(settings: settings, extent: extent) }
    }

    /// Settings, extent and event times of a read (`AssetReaderOutput`).
    struct Reading {
        var settings: ReaderOutputSettings
        var extent: ReadingExtent
        var keepsEventTimes = false
    }

    /// Starts reading a track of the source at an index, in a way that depends on the track.
    func read(
        source index: Int, track: Int, as reading: (AssetTrack) -> Reading
    ) throws -> CompositionRead {
        if interrupt.isRaised { throw CancellationError() }
        guard sources.indices.contains(index) else {
            throw MediaError.internalError("the clip has no source")
        }
        let source = sources[index]
        return try source.namingSource { try open(source, track, reading) }
    }

    private func open(
        _ source: CompositionSource, _ index: Int, _ reading: (AssetTrack) -> Reading
    ) throws -> CompositionRead {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents: AssetContents
        do {
            contents = try asset.loadSynchronously()
        } catch let error as InputError {
            throw MediaError.input(error)
        }
        guard let track = contents.tracks.first(where: { $0.index == index }) else {
            throw MediaError.sourceChanged("track \(index) no longer exists")
        }
        let reader = try AssetReader(asset: asset, interrupt: interrupt, movement: movement)
        let reading = reading(track)
        var extent = reading.extent
        extent.damagePolicy = damage.policy
        reader.extent = extent
        reader.decoderThreads = decoderThreads
        let output = AssetReaderTrackOutput(track: track, settings: reading.settings)
        output.keepsEventTimes = reading.keepsEventTimes
        output.damage = damage
        // With whole packets, times count samples: a coarse time base of the container would round packet boundaries.
        if case .wholePackets = reading.settings { output.countsSamples = true }
        try reader.add(output)
        try reader.startReading()
        return CompositionRead(source: source, reader: reader, output: output, tracks: contents.tracks)
    }
}
