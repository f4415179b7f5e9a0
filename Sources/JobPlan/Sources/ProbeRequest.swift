package import LibAV
package import Media

package struct ProbeRequest: Codable, Hashable, Sendable {
    /// The requested information.
    package enum Subject: Codable, Hashable, Sendable {
        /// Description of the source's contents.
        case description(AssetTiming)
        /// Description of an image sequence; the first image is probed.
        case images(ImageSequence)
        /// Whether the packets of a track have presentation times.
        case presentationTimes(track: Int)
        /// Whether the order of a track's timestamps allows its packets to be copied. All of them are read.
        case order(track: Int)
        /// Possibilities of copying a range of a video track.
        case cut(track: Int, range: TimeRange, damagePolicy: DamagePolicy, edges: CutEdges)
        /// Possibilities of copying several ranges of a video track, one after the other. `encoder` re-encodes the
        /// edges; nil for the closest match to the source.
        case joinedCut(track: Int, ranges: [TimeRange], encoder: EncoderConfiguration?)
        /// Possibilities of copying ranges in a cut of several sources, whose timestamps are in the common unit `tick`.
        case clipCut(track: Int, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?)
        /// Properties of a track's audio packets, which must match to join the packets of several sources.
        case audioFormat(track: Int)
        /// Presentation times of a track's keyframes, at most `limit`. All its packets are read.
        case keyFrames(track: Int, limit: Int)
        /// Start times of a track's scenes, at most `limit`: a scene starts at a frame that differs from the one
        /// before by more than `difference` thousandths. All frames are decoded.
        case scenes(track: Int, difference: Int, limit: Int)
        /// Positions of a video track's frames by number, in some ranges joined end to end; in the whole track if
        /// `ranges` is empty. Packets are read up to the last of these frames.
        case frames(track: Int, ranges: [TimeRange], numbers: [Int64])
        /// Whether a subtitle track has an event in some ranges; in the whole track if `ranges` is empty.
        case subtitleEvents(track: Int, ranges: [TimeRange])
        /// Frame rate at which every frame of a range of a video track is shown. All packets of the range are read.
        case cadence(track: Int, range: TimeRange)
        /// Size of a track's packets. All of them are read.
        case byteCount(track: Int)
        /// The active area of a track within its black borders, over frames that are distributed over it.
        case activeArea(track: Int)
        /// Loudness of a track's audio, or of a mix of tracks. All of it is decoded.
        case loudness(LoudnessQuery)
        /// Format, size and digest of an image file that becomes a cover. All of it is read and decoded.
        case cover
        /// Size and digest of a file of at most `limit` bytes. All of it is read.
        case fileContents(limit: Int64)
        /// Whether filters or an encoder accept some settings, determined by a dry open. No source is probed.
        case trial(SettingsValidation)
    }

    /// The audio whose loudness is requested.
    package struct LoudnessQuery: Codable, Hashable, Sendable {
        package var track: Int
        /// Mix of several tracks in place of the track; nil for none.
        package var mix: AudioMix?
        /// Ranges of the source, one after the other; the whole track if empty.
        package var ranges: [TimeRange]
        /// Whether the last range continues to the source's end.
        package var isOpen: Bool
        package var damagePolicy: DamagePolicy
        /// Filters before the measurement.
        package var filters: FilterChain?

        /// Creates a query for a track, or for a mix of tracks of which it is the first.
        package init(
            track: Int, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
            filters: [FilterStep] = []
        ) {
            (self.track, self.mix) = (track, mix)
            (ranges, isOpen, damagePolicy) = (extent.ranges, extent.isOpen, extent.damagePolicy)
            self.filters = filters.isEmpty ? nil : FilterChain(filters)
        }
    }

    /// The handling of a cut's edges.
    package enum CutEdges: Codable, Hashable, Sendable {
        /// The edges are not re-encoded: packets are copied, or the cut isn't possible.
        case none
        /// The edges are re-encoded with this configuration; nil for the closest match to the source.
        case encoded(EncoderConfiguration?)
    }

    /// Absolute path or URL; nil for a dry open, which requires no source.
    package var path: String?
    package var subject: Subject
    /// The package whose manifest is at the path; nil for other sources.
    package var package: SegmentedPackage?

    /// Whether headers suffice for the response.
    package var isBrief: Bool {
        // All packets of segments are read for their times.
        if package != nil { return false }
        switch subject {
        case .description(.fast), .images, .cover, .fileContents: return true
        default: return false
        }
    }

    package init(path: String?, subject: Subject) {
        self.path = path
        self.subject = subject
    }
}
