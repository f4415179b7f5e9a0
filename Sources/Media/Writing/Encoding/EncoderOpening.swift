internal import LibAV

/// The opening of an input's encoder.
struct EncoderOpening {
    let configuration: EncoderConfiguration
    let mediaType: MediaType
    let container: ContainerType
    let globalHeaders: Bool
    /// Whether a session feeds the input from a reader, so that its samples have the requested format and times.
    let isFedByReader: Bool
    /// Whether the writer has no other input, and other work doesn't need the processors.
    let isOnlyWork: Bool
    /// Maximum number of chunks that are encoded at a time; nil for the number of processors.
    let maxChunks: Int?
    /// Bits per pixel of the source's coded video; 0 if unknown.
    let sourceBitsPerPixel: Double
    let scaling: VideoScalingMode
    /// Times at which segments begin; nil if the input doesn't determine them.
    let boundaries: SegmentBoundaries?
    /// Chunks that may be encoded already; nil if there are none.
    var storedChunks: StoredChunks?
    /// Recorder of chunks, which receives the packets; nil if they are passed on.
    var recorder: ChunkRecorder?
    /// Whether the container may store a late start of audio.
    let canStartLate: Bool
    let reference: TrackReference

    /// Opens the encoder. Returns the stage that encodes with it, and the track's parameters.
    func open() throws -> (stage: any InputStage, parameters: CodecParameters) {
        let configuration = completed
        do {
            if let chunk = configuration.chunk { return try openChunked(configuration, chunk) }
            let encoder = try FrameEncoder.open(
                configuration.withThreads(
                    for: .current, sourceBitsPerPixel: sourceBitsPerPixel),
                globalHeaders: globalHeaders)
            let parameters = encoder.parameters
            guard mediaType == .audio else {
                return (
                    VideoEncoderStage(
                        encoder: .whole(encoder), configuration: configuration, isFedByReader: isFedByReader,
                        scaling: scaling, boundaries: boundaries, reference: reference), parameters
                )
            }
            // Samples are collected only where nothing waits for their packets: neither a program that appends them, nor
            // packets of other tracks, which are interleaved.
            let concurrent =
                isFedByReader && isOnlyWork
                ? try ConcurrentFLACEncoder(
                    configuration, parameters: parameters, processors: Processors.current.available) : nil
            return (
                AudioEncoderStage(
                    encoder: encoder, concurrent: concurrent, configuration: configuration,
                    container: container, isFedByReader: isFedByReader, canStartLate: canStartLate,
                    reference: reference), parameters
            )
        } catch {
            throw MediaError.encoding(track: reference, error)
        }
    }

    private func openChunked(
        _ configuration: EncoderConfiguration, _ length: Int
    ) throws(AVError) -> (stage: any InputStage, parameters: CodecParameters) {
        var single = configuration
        single.threads = 1
        for (option, value) in configuration.model?.operation.chunkSettings ?? []
        where configuration.value(at: option) == nil {
            single.set(value, at: option)
        }
        let encoder = try FrameEncoder.open(single, globalHeaders: globalHeaders)
        let parameters = encoder.parameters
        let chunked = ChunkedVideoEncoder(
            encoder, configuration: single, globalHeaders: globalHeaders, chunkLength: length,
            maxChunks: min(maxChunks ?? .max, Processors.current.available), stored: storedChunks,
            recorder: recorder)
        return (
            VideoEncoderStage(
                encoder: .chunked(chunked), configuration: configuration, isFedByReader: isFedByReader,
                scaling: scaling, boundaries: boundaries, reference: reference), parameters
        )
    }

    /// The configuration with the color to which frames of a program are converted, and with forced keyframes.
    private var completed: EncoderConfiguration {
        var completed = configuration
        let color = configuration.color
        // A program's frames are converted to this matrix, which players may not assume.
        if !isFedByReader, mediaType == .video, !configuration.pixelFormat.isRGB, color.matrix == nil {
            completed.color.matrix = ColorDescription.defaultMatrix(
                width: configuration.width, height: configuration.height)
            if !configuration.pixelFormat.isFullRangeByName {
                completed.color.range = color.range ?? .limited
            }
        }
        if boundaries != nil, let (option, value) = configuration.model?.gop.forcedKeyframes(configuration) {
            completed.set(value, at: option)
        }
        return completed
    }
}
