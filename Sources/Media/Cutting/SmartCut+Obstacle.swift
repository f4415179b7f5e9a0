public import Errors

extension SmartCut {
    /// Reason why smart cut doesn't support a range.
    public enum Obstacle: TandemError, Codable, Hashable {
        /// The codec is not supported.
        case codec(String)
        /// The parameter sets can't be parsed or joined.
        case headers
        /// The encoder doesn't support the profile.
        case profile(String)
        /// The encoder is not available in this build.
        case noEncoder(String)
        /// Two frames have the same time.
        case equalTimes
        /// Frames are reordered, but packets have decoding times only.
        case lostTimes
        /// No frame between start and end can be copied.
        case nothingToCopy
        /// Dolby Vision: its metadata belongs to individual frames.
        case dolbyVision
        /// The edit list presents several sections of media.
        case edits
        /// The container can't keep the parameter sets of the source and the encoder apart.
        case container(String)
        /// Interlaced ranges that are re-encoded completely are joined with copied ones, in a container with parameter
        /// sets in band.
        case joints(String)
        /// The edges can't be encoded, or not in a way that matches the source; the string is the reason.
        case edges(String)

        /// The kind of the error.
        public var kind: ErrorKind {
            if case .noEncoder = self { .encoderNotAvailable } else { .notCopyable }
        }

        /// Explanation for messages.
        public var description: String {
            switch self {
            case .codec(let name): "smart cuts support H.264 and HEVC, not \(name)"
            case .headers: "its parameter sets can't be parsed, or combined with those of an encoder"
            case .profile(let name): "the edges can't be encoded in the profile \(name)"
            case .noEncoder(let name):
                "the encoder \(name), which the edges require, is not available in this build"
            case .equalTimes: "two of its frames have the same time"
            case .lostTimes:
                "its frames are reordered and the container has no composition offsets (`ctts`), so their times can only be determined by decoding"
            case .nothingToCopy:
                "the range contains no IDR frame or recovery point, so nothing can be copied"
            case .dolbyVision: "it is Dolby Vision, whose metadata belongs to each frame"
            case .edits: "its edit list has several entries"
            case .container(let name):
                "after a seek in \(name), decoders would confuse the parameter sets of the re-encoded HEVC edges with the source's"
            case .joints(let name):
                "in \(name), interlaced ranges that are re-encoded completely can't be joined with copied ones"
            case .edges(let reason): reason
            }
        }
    }
}
