extension SmartCut {
    /// Reason why smart cut doesn't support a range.
    public enum Obstacle: Error, Codable, Hashable, Sendable, CustomStringConvertible {
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
        /// The container can't hold two kinds of the codec's parameter sets.
        case container(String)
        /// Interlaced ranges that are encoded entirely precede copied ones, in a container that stores parameter sets
        /// between frames only.
        case joints(String)
        /// The encoder settings for the edges don't match the source.
        case edges(String)

        /// Explanation for messages.
        public var description: String {
            switch self {
            case .codec(let name): "\(name) can't be cut so; H.264 and HEVC can"
            case .headers: "its parameter sets can't be read or joined with an encoder's"
            case .profile(let name): "the edges can't be compressed in the profile \(name)"
            case .noEncoder(let name): "this build has no encoder \(name) for the edges"
            case .equalTimes: "two of its frames have one time"
            case .lostTimes:
                "its frames are reordered and the container has no composition offsets (`ctts`), so only decoding tells their times"
            case .nothingToCopy:
                "between its ends decoding can begin nowhere anew (no IDR frame or recovery point), so nothing can be copied"
            case .dolbyVision: "it is Dolby Vision, whose description belongs to each frame"
            case .edits: "its edit list shows several parts"
            case .container(let name):
                "in \(name) the parameter sets of HEVC's edges would be taken for the source's behind a seek"
            case .joints(let name):
                "in \(name) interlaced ranges that are compressed as a whole can't be joined with copied ones"
            case .edges(let why): why
            }
        }
    }
}
