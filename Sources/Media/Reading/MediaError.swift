public import Errors
public import LibAV

/// An error in reading, converting or writing media.
public enum MediaError: TandemError {
    /// A source could not be opened.
    case input(InputError)
    /// Reading, decoding or converting a track failed; the time is nil if it is unknown.
    case reading(track: TrackReference, at: MediaTime?, AVError)
    /// A sample is damaged, and the damage policy is `fail`.
    case damaged(track: TrackReference, at: MediaTime?)
    /// A track's timestamps jump back, or forward by more than the longest accepted gap.
    case discontinuity(track: TrackReference, from: MediaTime, to: MediaTime)
    /// The source ends before the end that its index declares.
    case truncated(track: TrackReference, expected: MediaTime, actual: MediaTime)
    /// An encoder, or a filter before it, rejected a track's samples.
    case encoding(track: TrackReference, AVError)
    /// The muxer failed, or the file system rejected its data.
    case writing(AVError)
    /// A copied packet can't be written to its container, because it doesn't match the track's headers.
    case incompatiblePacket(track: TrackReference, at: MediaTime, container: String, AVError)
    /// The size limit, in bytes, is too small for a single frame or audio packet.
    case nothingFits(limit: Int64)
    /// An output exceeds its size limit.
    case overLimit(size: Int64, limit: Int64)
    /// A call at the wrong time, such as `append` before `startWriting`. The call changes nothing.
    case misuse(String)
    /// An argument that the call doesn't accept, such as a range outside the asset, or a sample whose time doesn't
    /// increase. The call changes nothing.
    case invalidArgument(String)
    /// A source no longer contains what was found when it was loaded.
    case sourceChanged(String)
    /// A limit on the size of text or results is exceeded.
    case limitExceeded(String)
    /// The parts of the library contradict each other.
    case internalError(String)
    /// A setting is out of bounds, or not supported by the encoder.
    case invalidSettings(String)
    /// A codec, by libavcodec's name, without an encoder in this build.
    case noEncoder(codec: String)
    /// No data was processed for longer than the time limit.
    case stalled(String)
    /// A track's packets have no presentation times.
    case noTimes(track: TrackReference)
    /// A track's decoding times decrease by more than can be corrected, so that no container can store its packets.
    case unorderedTimes(track: TrackReference, at: MediaTime)
    /// A packet's decoding time is after its presentation time.
    case decodedLate(track: TrackReference, at: MediaTime, by: MediaTime)
    /// An edit list hides frames between presented ones, and a copy would present them.
    case hiddenBetween(track: TrackReference, at: MediaTime)
    /// A copied range begins between keyframes, and the container can't hide the frames between the keyframe and the
    /// start.
    case startsBetweenKeyFrames(
        track: TrackReference, container: String, keyFrame: MediaTime, start: MediaTime)
    /// A copied range ends where frames refer to later ones, and the container can't hide those.
    case endsInsideGroup(track: TrackReference, container: String, end: MediaTime)
    /// A track's codec headers change mid-stream, and a copy can store only one set.
    case changedHeaders(track: TrackReference, at: MediaTime)
    /// Audio is missing because pages of an Ogg file are lost.
    case lostPages(track: TrackReference, from: MediaTime, to: MediaTime)
    /// Another file begins inside the file, because files were concatenated. `isSkippable`: whether the damage policy
    /// decides if reading continues.
    case joined(track: TrackReference, at: MediaTime?, isSkippable: Bool)
    /// Copied audio has a gap, which the container can't represent for this codec.
    case gap(track: TrackReference, container: String, from: MediaTime, to: MediaTime)
    /// Packets were lost between the demuxer and their track's reader, which is an internal error.
    case lostPackets(track: TrackReference, after: Int, next: Int)
    /// A track that the source declares has no packets.
    case noPackets(track: TrackReference, length: MediaTime)
    /// A decoder accepted every packet, but returned neither a frame nor an error.
    case undecodable(track: TrackReference, packets: Int)
    /// A stream has no random-access point: references of all its frames are missing.
    case noKeyFrame(track: TrackReference, packets: Int)
    /// A range ends before the first random-access point of the stream.
    case beforeKeyFrame(track: TrackReference, first: MediaTime)
    /// The asset has no track of this media type.
    case noTrack(MediaType)
    /// A track contains no sample in the range.
    case noSamples(track: TrackReference)
    /// A source of a composition failed.
    indirect case clip(source: String, MediaError)
    /// The target loudness can't be reached without exceeding the true-peak limit.
    case loudnessUnreachable(target: Double, reached: Double)
    /// An appended sample can't be converted to the settings of its input. The error is that of the library; nil if the
    /// kinds of sample differ.
    case unsupportedConversion(track: TrackReference, from: String, to: String, AVError?)
    /// A container whose files can't be played before they are finished can't be published immediately.
    case unplayableUnfinished(container: String)

    /// One-line message for the user.
    public var description: String {
        switch self {
        case .input(let error): error.explanation
        case .reading(let track, let time, let error): "\(track)\(Self.at(time)): \(error)"
        case .damaged(let track, let time): "\(track)\(Self.at(time)): the data is damaged or incomplete"
        case .discontinuity(let track, let from, let to):
            "\(track): its timestamps jump from \(from) s to \(to) s; they are damaged, or files were joined"
        case .truncated(let track, let expected, let actual):
            "\(track): the source is truncated: it ends at \(actual) s, its index states \(expected) s"
        case .encoding(let track, let error): "\(track): \(error)"
        case .writing(let error): "writing: \(error)"
        case .incompatiblePacket(let track, let time, let container, let error):
            "\(track), \(time) s of the output: \(container) can't store this packet, which is damaged or contradicts its codec headers: \(error)"
        case .nothingFits(let limit): "`limit` is too small: no sample fits into \(limit) bytes"
        case .overLimit(let size, let limit):
            "the output has \(size) bytes, which exceeds the `limit` of \(limit)"
        case .misuse(let message), .invalidArgument(let message), .invalidSettings(let message),
            .sourceChanged(let message), .limitExceeded(let message), .internalError(let message):
            message
        case .noEncoder(let codec): "this build of FFmpeg has no encoder for \(codec)"
        case .stalled(let message): "stalled: \(message)"
        case .loudnessUnreachable(let target, let reached):
            "\(target) LUFS can't be reached within the true-peak limit; the maximum is \((reached * 10).rounded() / 10) LUFS"
        case .noTimes(let track):
            "\(track): its packets have no presentation times, so they can't be copied"
        case .unorderedTimes(let track, let time):
            "\(track)\(Self.at(time)): the source's decoding times go back (repeating edits, overlapping fragments, or equal times), which a copy can't represent"
        case .decodedLate(let track, let time, let delay):
            "\(track)\(Self.at(time)): the packet's decoding time is \(delay) s after its presentation time, which no container can store"
        case .hiddenBetween(let track, let time):
            "\(track)\(Self.at(time)): the source hides frames (edits or overlapping fragments), which a copy would present"
        case .startsBetweenKeyFrames(let track, let container, let key, let start):
            "\(track): a copy that begins at \(start) s requires the frames from the keyframe at \(key) s on, which \(container) can't hide"
        case .endsInsideGroup(let track, let container, let end):
            "\(track): frames before \(end) s refer to later ones, which \(container) can't hide"
        case .changedHeaders(let track, let time):
            "\(track), \(time) s: its codec headers change within the file (files were joined), and a copy can hold only one set"
        case .lostPages(let track, let from, let to):
            "\(track): its audio from \(from) s to \(to) s is missing: pages of the Ogg stream are lost or damaged"
        case .joined(let track, let time, _):
            "\(track)\(Self.at(time)): files were joined: another file begins here, whose audio can't be read as the same track"
        case .gap(let track, let container, let from, let to):
            "\(track): there is a gap from \(from) s to \(to) s, which \(container) can't represent"
        case .lostPackets(let track, let last, let next):
            "\(track): packet \(last) is followed by packet \(next): Tandem lost packets; please report this"
        case .noPackets(let track, let length):
            "\(track): the source states a duration of \(length) s, but contains no packet: the file is truncated or damaged, or libavformat doesn't support this variant of the codec"
        case .undecodable(let track, let packets):
            "\(track): its decoder returned neither a frame nor an error for \(packets == 1 ? "1 packet" : "\(packets) packets"): libavcodec doesn't support this variant of the codec"
        case .noKeyFrame(let track, let packets):
            "\(track): no frame of its \(packets == 1 ? "1 packet" : "\(packets) packets") decodes without missing references; the stream has no keyframe"
        case .beforeKeyFrame(let track, let first):
            "\(track): the range ends before the stream's first keyframe, at \(first) s; earlier frames lack their references"
        case .unsupportedConversion(let track, let source, let target, let error):
            "\(track) requires \(target); \(source) was appended"
                + (error.map { ", which can't be converted: \($0)" } ?? "")
        case .unplayableUnfinished(let container):
            "\(container) files can't be played before they are finished, and can't be published immediately; use \(Self.playableUnfinished), or publish when finished"
        case .noTrack(let type): "there is no \(type.rawValue) track"
        case .noSamples(let track): "\(track): no samples in this range"
        case .clip(let source, let error): "\(source), \(error)"
        }
    }

    /// The kind of the error.
    public var kind: ErrorKind {
        switch self {
        case .input(let error): error.kind
        case .reading(_, _, let error): error.kind == .failed ? .notReadable : error.kind
        case .damaged, .discontinuity, .truncated, .lostPages, .joined, .noPackets, .noKeyFrame: .damagedData
        case .encoding(_, let error):
            error.kind == .failed || error.kind == .damagedData ? .encodingFailed : error.kind
        case .writing(let error): error.kind == .accessDenied ? .destinationNotWritable : error.kind
        case .incompatiblePacket, .noTimes, .unorderedTimes, .decodedLate, .hiddenBetween,
            .startsBetweenKeyFrames, .endsInsideGroup, .changedHeaders, .gap:
            .notCopyable
        case .nothingFits, .overLimit: .sizeLimitExceeded
        case .misuse: .misuse
        case .invalidArgument: .invalidArgument
        case .sourceChanged: .sourceChanged
        case .limitExceeded: .limitExceeded
        case .invalidSettings, .loudnessUnreachable: .invalidSettings
        case .noEncoder: .encoderNotAvailable
        case .stalled: .stalled
        case .lostPackets, .internalError: .failed
        case .undecodable, .unplayableUnfinished: .unsupportedFormat
        case .unsupportedConversion(_, _, _, nil): .invalidArgument
        case .unsupportedConversion: .unsupportedFormat
        case .beforeKeyFrame, .noSamples: .noSamples
        case .noTrack: .noSuchTrack
        case .clip(_, let error): error.kind
        }
    }

    /// Names of the containers whose unfinished files can be played.
    private static var playableUnfinished: String {
        ContainerType.all.filter(\.isPlayableUnfinished).map(\.name).joined(separator: ", ")
    }

    private static func at(_ time: MediaTime?) -> String { time.map { ", \($0) s" } ?? "" }

    /// The system's error number (ENOSPC, EACCES, …); nil for errors without one.
    public var errnoValue: Int32? {
        switch self {
        case .writing(let error), .encoding(_, let error): error.errnoValue
        case .clip(_, let error): error.errnoValue
        default: nil
        }
    }

    /// Whether a call was refused and changed nothing, so that others can follow.
    var isRefusal: Bool {
        switch self {
        case .misuse, .invalidArgument, .unsupportedConversion: true
        default: false
        }
    }

    /// The error itself, or the error inside `clip`.
    package var withoutSource: MediaError { if case .clip(_, let error) = self { error } else { self } }
}
