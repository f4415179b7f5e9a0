public import LibAV

/// What went wrong while media were read, converted or written.
public enum MediaError: Error, Sendable, CustomStringConvertible {
    /// A source could not be opened.
    case input(InputError)
    /// Reading, decoding or converting a track failed.
    case reading(track: String, at: MediaTime?, AVError)
    /// A damaged sample where damage is not tolerated.
    case damaged(track: String, at: MediaTime?)
    /// A track's clock jumps further than any real pause, or back.
    case discontinuity(track: String, from: MediaTime, to: MediaTime)
    /// The source ends before its own index says so.
    case truncated(track: String, expected: MediaTime, got: MediaTime)
    /// Encoding failed.
    case encoding(track: String, AVError)
    /// Writing the output failed.
    case writing(AVError)
    /// A copied packet isn't what its container can hold: its headers promise something else.
    case unfit(track: String, at: MediaTime, container: String, AVError)
    /// Not one frame or packet of audio fits into an output of so many bytes.
    case nothingFits(limit: Int64)
    /// An output is larger than it may be.
    case overLimit(size: Int64, limit: Int64)
    /// A call came at the wrong time, such as `append` before `startWriting`.
    case misuse(String)
    /// Nothing moved for too long.
    case stalled(String)
    /// A track's packets don't say when they are shown.
    case noTimes(track: String)
    /// Packets of a source's track come in an order that no container can hold: their decoding times go back further than
    /// they could be set right.
    case unorderedTimes(track: String, at: MediaTime)
    /// A packet claims to be decoded after it is shown.
    case decodedLate(track: String, at: MediaTime, by: MediaTime)
    /// An edit list hides frames between those that are shown, which a copy would show.
    case hiddenBetween(track: String, at: MediaTime)
    /// A track's headers change, and a copy has one place for them.
    case changedHeaders(track: String, at: MediaTime)
    /// Audio is missing that stood in pages of an Ogg file.
    case lostPages(track: String, from: MediaTime, to: MediaTime)
    /// Another file begins inside the file. `isSkippable`: the damage policy decides whether reading goes on.
    case joined(track: String, at: MediaTime?, isSkippable: Bool)
    /// Copied audio pauses, and the container can't say so of its codec.
    case hole(track: String, container: String, from: MediaTime, to: MediaTime)
    /// Packets that the demuxer read didn't reach their track.
    case lostPackets(track: String, after: Int, next: Int)
    /// A source has nothing of a track that it says to have.
    case noPackets(track: String, length: MediaTime)
    /// A decoder took every packet and gave neither a frame nor an error.
    case undecodable(track: String, packets: Int)
    /// A stream has no random-access point: references of all its frames are missing.
    case noKeyFrame(track: String, packets: Int)
    /// A range ends before the first random-access point of the stream.
    case beforeKeyFrame(track: String, first: MediaTime)
    /// The asset has no track of that kind.
    case noTrack(MediaType)
    /// A track gave no sample at all.
    case noSamples(track: String)
    /// A source of a composition failed.
    indirect case clip(source: String, MediaError)
    /// Audio can't be brought to a loudness without breaking the limit on its peaks.
    case loudnessOutOfReach(target: Double, reached: Double)

    /// One line for people.
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

    /// The system's error number behind it, where there is one: ENOSPC, EACCES, …
    public var errnoValue: Int32? {
        switch self {
        case .writing(let error), .encoding(_, let error): error.errnoValue
        case .clip(_, let error): error.errnoValue
        default: nil
        }
    }

    /// The error itself, whichever source of a composition it is of.
    public var ofSource: MediaError { if case .clip(_, let error) = self { error } else { self } }
}
