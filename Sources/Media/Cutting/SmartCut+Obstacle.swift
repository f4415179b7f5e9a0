extension SmartCut {
    /// Why a range can't be cut so.
    public enum Obstacle: Error, Codable, Hashable, Sendable, CustomStringConvertible {
        /// Another codec.
        case codec(String)
        /// Parameter sets that can't be joined.
        case headers
        /// The profile is one that the encoder doesn't make.
        case profile(String)
        /// This build has no encoder for it.
        case noEncoder(String)
        /// Two frames have one time.
        case equalTimes
        /// Its frames are reordered and its packets have decoding times alone.
        case lostTimes
        /// Nothing between start and end can be copied.
        case nothingToCopy
        /// Dolby Vision's description belongs to each frame.
        case dolbyVision
        /// Several edits that show media.
        case edits
        /// The container can't have two kinds of the codec's parameter sets.
        case container(String)
        /// Fields of ranges that are compressed as a whole, before copied ones, in a container that has parameter sets between
        /// frames alone.
        case joints(String)
        /// How the edges are to be made doesn't fit the source.
        case edges(String)

        /// For people.
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
