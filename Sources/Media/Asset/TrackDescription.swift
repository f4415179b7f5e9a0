package import LibAV

/// Properties of an existing or predicted track that plans store and compare. `AssetTrack` adds the properties that
/// only readers use.
package struct TrackDescription: Codable, Hashable, Sendable {
    /// Index of the track in the file.
    package var index: Int
    /// Track ID of the container.
    package var id: Int
    /// Media type of the samples.
    package var mediaType: MediaType
    /// Whether the track is cover art rather than video.
    package var isAttachedPicture: Bool
    /// Codec by libavcodec's name.
    package var codec: String
    /// Profile of the codec by libavcodec's name, such as `High`; nil if unknown.
    package var profile: String?
    /// Whether this build has a decoder for the codec.
    package var isDecodable: Bool
    /// Whether compression is lossless.
    package var isLossless: Bool
    /// Range on the asset's time line.
    package var timeRange: TimeRange
    /// Whether `timeRange` was measured, or comes from the container's index.
    package var isExact: Bool
    /// Whether the end of `timeRange` is specific to the track; otherwise it is the end of the file.
    package var hasOwnDuration: Bool
    /// Number of presented samples; nil if unknown.
    package var sampleCount: Int?
    /// Time base of the samples' times.
    package var timeBase: Rational
    /// Width of coded frames in pixels; 0 for audio.
    package var width: Int
    /// Height of coded frames in pixels; 0 for audio.
    package var height: Int
    /// Pixel format; `none` for audio.
    package var pixelFormat: PixelFormat
    /// Sample aspect ratio; nil if unspecified (square).
    package var pixelAspectRatio: Rational?
    /// Primaries, transfer, matrix and range.
    package var color: ColorDescription
    /// Dolby Vision profile; nil for other video.
    package var dolbyVisionProfile: Int?
    /// Whether the video is interlaced; false if unknown.
    package var isInterlaced: Bool
    /// Field order; nil for progressive frames, and if unknown.
    package var fieldOrder: FieldOrder?
    /// Average frame rate in frames per second; nil if unknown.
    package var frameRate: Rational?
    /// Whether all frames have the same duration.
    package var hasConstantFrameRate: Bool
    /// Rotation and reflection of frames for display; nil if the container declares none.
    package var transform: DisplayTransform?
    /// The visible part of the frame (`clap`); nil for the whole frame.
    package var cleanAperture: CleanAperture?
    /// Sample rate in Hz.
    package var sampleRate: Int32
    /// Sample format; `none` for video.
    package var sampleFormat: SampleFormat
    /// Channel layout; nil for video.
    package var channelLayout: ChannelLayout?
    /// Language code of the container; nil if unspecified.
    package var language: String?
    /// Title from the container; nil if there is none.
    package var title: String?
    /// Tags of the track; empty in containers that store the file's tags in a stream (Ogg).
    package var tags: [MetadataEntry]
    /// File name of an attachment; nil for other tracks.
    package var fileName: String?
    /// Whether the track's samples are timecodes.
    package var isTimecode: Bool
    /// Whether the track has the titles of a QuickTime or mp4 file's chapters, as samples with text.
    package var isChapterText: Bool { mediaType == .data && codec == "text" }
    /// Dispositions by libavformat's names.
    package var disposition: [String]
    /// Global side data, and states of the track's time line.
    package var sideData: [TrackProperty]
    /// Kinds of side data, which can be kept or dropped.
    package var sideDataKinds: [SideDataKind] {
        sideData.compactMap { if case .sideData(let kind) = $0 { kind } else { nil } }
    }
    /// Number of samples that an edit list hides in the first presented packet; nil if none.
    package var hiddenPartOfPacket: Int?
    /// Bits per second as the container declares it; 0 if unknown.
    package var bitRate: Int64

    /// Whether the time base can represent the position of every audio sample.
    package var countsWholeSamples: Bool {
        timeBase.num == 1 && sampleRate > 0 && timeBase.den.isMultiple(of: sampleRate)
    }

    /// Returns whether the track has a state.
    package func has(_ state: TrackState) -> Bool { sideData.contains(.state(state)) }

    /// libavcodec's name of the codec; nil if the codec is unknown.
    package var knownCodec: String? { codec == CodecParameters.unknownCodec ? nil : codec }

    /// Whether packets have a separate alpha plane (VP8 and VP9 in Matroska).
    package var hasSeparateAlpha: Bool { tags.contains(where: \.isSeparateAlphaTag) }
}

extension TrackDescription {
    /// Creates a description from a stream's headers, with an empty `timeRange`. Out-of-range sizes and rates are
    /// clamped.
    init(_ stream: StreamInfo, _ format: FormatDescription, container: DemuxerModel) {
        let parameters = format.parameters
        let tags = stream.metadata
        self.init(
            index: stream.index, id: stream.id, mediaType: parameters.mediaType,
            isAttachedPicture: stream.isAttachedPicture, codec: format.codec,
            profile: format.profile, isDecodable: parameters.isDecodable, isLossless: parameters.isLossless,
            timeRange: TimeRange(start: .zero, duration: .zero),
            isExact: false, hasOwnDuration: false, timeBase: stream.timeBase,
            width: min(1 << 20, max(0, format.width)), height: min(1 << 20, max(0, format.height)),
            pixelFormat: format.pixelFormat, pixelAspectRatio: format.pixelAspectRatio, color: format.color,
            dolbyVisionProfile: stream.sideData.first { $0.kind == .dolbyVision }.flatMap {
                // The profile is in the third byte of the configuration record.
                $0.bytes.count > 2 ? Int($0.bytes[2]) : nil
            },
            isInterlaced: format.isInterlaced == true, fieldOrder: format.fieldOrder,
            hasConstantFrameRate: container.hasConstantFrameRate,
            transform: stream.displayMatrix.flatMap { DisplayTransform(matrix: $0) },
            cleanAperture: format.cleanAperture, sampleRate: max(0, format.sampleRate),
            sampleFormat: format.sampleFormat, channelLayout: format.channelLayout,
            language: tags.first { $0.key == "language" && $0.value != "und" }?.value,
            tags: container.hasTagsInStream ? [] : tags,
            fileName: parameters.mediaType == .attachment
                ? tags.first { $0.key == "filename" }?.value : nil,
            isTimecode: parameters.mediaType == .data
                && tags.contains(where: \.isTimecode),
            disposition: stream.disposition.sorted(),
            sideData: stream.sideData.map(\.kind).filter { $0 != .displayMatrix }.map(TrackProperty.sideData),
            bitRate: format.bitRate)
    }
}
