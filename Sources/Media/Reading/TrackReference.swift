public import LibAV

/// The track that an error concerns.
public enum TrackReference: Hashable, Sendable, CustomStringConvertible {
    /// A track of a source, by its index in the file.
    case source(index: Int, Kind)
    /// An input of a writer, by its position in the writer. `id` is the input's `id`.
    case output(index: Int, MediaType, id: Int?)
    /// Data that belongs to no single track.
    case part(Part)

    /// The kind of a source's track.
    public enum Kind: Hashable, Sendable, CustomStringConvertible {
        /// A track of timed samples.
        case media(MediaType)
        /// An attached picture, which libavformat lists as a video track.
        case cover

        /// The kind in messages, such as `video`.
        public var description: String {
            switch self {
            case .media(let type): type.rawValue
            case .cover: "cover"
            }
        }
    }

    /// Data that belongs to no single track.
    public enum Part: String, Sendable {
        /// A file that holds one still image.
        case image
        /// An image that holds several still images.
        case sheet
        /// An animated image.
        case animation
        /// An image layer of a composition.
        case layer
        /// A text layer of a composition.
        case text
        /// The subtitles that a composition renders.
        case subtitles
        /// The video or audio that a composition renders.
        case composition
        /// The file as a whole, outside its tracks.
        case container = "the container"
        /// A video track that hasn't been determined yet.
        case video
    }

    /// The track in messages: `track 0 (video)` for a source, `video 0` for an output.
    public var description: String {
        switch self {
        case .source(let index, let kind): "track \(index) (\(kind))"
        case .output(let index, let type, _): "\(type.rawValue) \(index)"
        case .part(let part): part.rawValue
        }
    }
}

extension MediaError {
    /// The track that the error concerns; nil for errors of whole files and of wrong calls.
    public var track: TrackReference? {
        switch self {
        case .reading(let track, _, _), .damaged(let track, _), .discontinuity(let track, _, _),
            .truncated(let track, _, _), .encoding(let track, _), .incompatiblePacket(let track, _, _, _),
            .noTimes(let track), .unorderedTimes(let track, _), .decodedLate(let track, _, _),
            .hiddenBetween(let track, _), .startsBetweenKeyFrames(let track, _, _, _),
            .endsInsideGroup(let track, _, _), .changedHeaders(let track, _), .lostPages(let track, _, _),
            .joined(let track, _, _), .gap(let track, _, _, _), .lostPackets(let track, _, _),
            .noPackets(let track, _), .undecodable(let track, _), .noKeyFrame(let track, _),
            .beforeKeyFrame(let track, _), .noSamples(let track), .unsupportedConversion(let track, _, _, _):
            track
        case .clip(_, let error): error.track
        case .input, .writing, .nothingFits, .overLimit, .misuse, .invalidArgument, .sourceChanged,
            .limitExceeded,
            .internalError,
            .stalled, .noTrack, .loudnessUnreachable,
            .unplayableUnfinished, .invalidSettings, .noEncoder:
            nil
        }
    }
}
