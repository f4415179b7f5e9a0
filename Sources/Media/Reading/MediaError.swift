public import LibAV

/// An error in reading, converting or writing media.
public enum MediaError: Error, Sendable, CustomStringConvertible {
    /// A source could not be opened.
    case input(InputError)
    /// Reading, decoding or converting a track failed.
    case reading(track: String, at: MediaTime?, AVError)
    /// A sample is damaged, and the damage policy is `fail`.
    case damaged(track: String, at: MediaTime?)
    /// A track's timestamps jump back, or forward by more than the longest accepted gap.
    case discontinuity(track: String, from: MediaTime, to: MediaTime)
    /// The source ends before the end that its index declares.
    case truncated(track: String, expected: MediaTime, got: MediaTime)
    /// Encoding failed.
    case encoding(track: String, AVError)
    /// Writing the output failed.
    case writing(AVError)
    /// A copied packet can't be written to its container, because it doesn't match the track's headers.
    case unfit(track: String, at: MediaTime, container: String, AVError)
    /// The size limit, in bytes, is too small for a single frame or audio packet.
    case nothingFits(limit: Int64)
    /// An output exceeds its size limit.
    case overLimit(size: Int64, limit: Int64)
    /// An API was used wrongly, such as `append` before `startWriting`.
    case misuse(String)
    /// No data was processed for longer than the time limit.
    case stalled(String)
    /// A track's packets have no presentation times.
    case noTimes(track: String)
    /// Packets of a source's track come in an order that no container can store: their decoding times go back further
    /// than can be corrected.
    case unorderedTimes(track: String, at: MediaTime)
    /// A packet's decoding time is after its presentation time.
    case decodedLate(track: String, at: MediaTime, by: MediaTime)
    /// An edit list hides frames between shown ones, and a copy would show them.
    case hiddenBetween(track: String, at: MediaTime)
    /// A track's headers change in mid-stream, and a copy can store only one set.
    case changedHeaders(track: String, at: MediaTime)
    /// Audio is missing because pages of an Ogg file are lost.
    case lostPages(track: String, from: MediaTime, to: MediaTime)
    /// Another file begins inside the file (concatenated files). `isSkippable`: whether the damage policy decides if
    /// reading continues.
    case joined(track: String, at: MediaTime?, isSkippable: Bool)
    /// Copied audio has a gap, which the container can't represent for this codec.
    case hole(track: String, container: String, from: MediaTime, to: MediaTime)
    /// Packets that the demuxer read didn't reach their track's reader.
    case lostPackets(track: String, after: Int, next: Int)
    /// A track that the source declares has no packets.
    case noPackets(track: String, length: MediaTime)
    /// A decoder accepted every packet and returned neither a frame nor an error.
    case undecodable(track: String, packets: Int)
    /// A stream has no random-access point: references of all its frames are missing.
    case noKeyFrame(track: String, packets: Int)
    /// A range ends before the first random-access point of the stream.
    case beforeKeyFrame(track: String, first: MediaTime)
    /// The asset has no track of this media type.
    case noTrack(MediaType)
    /// A track returned no sample.
    case noSamples(track: String)
    /// A source of a composition failed.
    indirect case clip(source: String, MediaError)
    /// The target loudness can't be reached without exceeding the true-peak limit.
    case loudnessOutOfReach(target: Double, reached: Double)

    /// One-line message for the user.
    public var description: String {
        switch self {
        case .input(let error): error.explanation
        case .reading(let track, let time, let error): "\(track)\(Self.at(time)): \(error)"
        case .damaged(let track, let time): "\(track)\(Self.at(time)): the data are damaged or incomplete"
        case .discontinuity(let track, let from, let to):
            "\(track): its clock jumps from \(from) s to \(to) s; the time stamps are damaged, or files were joined"
        case .truncated(let track, let expected, let got):
            "\(track): the source ends at \(got) s, its index says \(expected) s; it is truncated"
        case .encoding(let track, let error): "\(track): \(error)"
        case .writing(let error): "writing: \(error)"
        case .unfit(let track, let time, let container, let error):
            "\(track), \(time) s of the output: \(container) can't hold this packet as it is, which is damaged or not what its headers say: \(error)"
        case .nothingFits(let limit): "nothing of it fits into the \(limit) bytes of `limit`"
        case .overLimit(let size, let limit): "the output has \(size) bytes, `limit` allows \(limit)"
        case .misuse(let what): what
        case .stalled(let what): "stalled: \(what)"
        case .loudnessOutOfReach(let target, let reached):
            "the loudness of \(target) LUFS can't be reached under the limit on true peaks; \((reached * 10).rounded() / 10) LUFS is what comes"
        case .noTimes(let track):
            "\(track): its packets don't say when they are shown, so they can't be copied; `encode` finds it out by decoding"
        case .unorderedTimes(let track, let time):
            "\(track)\(Self.at(time)): the source's decoding times go back (edits that repeat media, fragments that overlap, or two packets with one time), and a copy can't: `encode` it"
        case .decodedLate(let track, let time, let delay):
            "\(track)\(Self.at(time)): the source says that this packet is decoded \(delay) s after it is shown, which no container can hold: `encode` it"
        case .hiddenBetween(let track, let time):
            "\(track)\(Self.at(time)): the source hides frames between those that it shows, because of its edits or of fragments that overlap, and a copy would show them: `encode` it"
        case .changedHeaders(let track, let time):
            "\(track), \(time) s: it goes on with other headers (files were joined), which a copy can't hold beside the first; `encode` it"
        case .lostPages(let track, let from, let to):
            "\(track): its audio from \(from) s to \(to) s is missing: pages of the Ogg stream are lost or damaged"
        case .joined(let track, let time, _):
            "\(track)\(Self.at(time)): files were joined: another one begins here, whose audio can't be read as the same track"
        case .hole(let track, let container, let from, let to):
            "\(track): nothing is heard from \(from) s to \(to) s, and \(container) can't say so of copied samples; `encode` fills it with silence"
        case .lostPackets(let track, let last, let next):
            "\(track): packet \(last) is followed by packet \(next), so that some were lost inside Tandem; please report it"
        case .noPackets(let track, let length):
            "\(track): the source says that it lasts \(length) s, and not one packet of it can be found: the file was cut or damaged, or libavformat can't read this form of the codec"
        case .undecodable(let track, let packets):
            "\(track): its decoder took \(packets == 1 ? "1 packet" : "\(packets) packets") and gave neither a frame nor an error: libavcodec can't decode this form of the codec"
        case .noKeyFrame(let track, let packets):
            "\(track): no frame of its \(packets == 1 ? "1 packet" : "\(packets) packets") decodes without missing references; the stream has no keyframe"
        case .beforeKeyFrame(let track, let first):
            "\(track): the range ends before the stream's first keyframe, at \(first) s; earlier frames lack their references"
        case .noTrack(let type): "there is no \(type.rawValue) track"
        case .noSamples(let track): "\(track): nothing to show in this range"
        case .clip(let source, let error): "\(source), \(error)"
        }
    }

    private static func at(_ time: MediaTime?) -> String { time.map { ", \($0) s" } ?? "" }

    /// The system's error number (ENOSPC, EACCES, …), if the error has one.
    public var errnoValue: Int32? {
        switch self {
        case .writing(let error), .encoding(_, let error): error.errnoValue
        case .clip(_, let error): error.errnoValue
        default: nil
        }
    }

    /// The underlying error, without the source of a composition that it belongs to.
    public var ofSource: MediaError { if case .clip(_, let error) = self { error } else { self } }
}
