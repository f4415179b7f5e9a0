internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import Media

/// A composition with its source map: the locations of its items in the job file, the descriptions of its sources, and
/// what it doesn't use of them. A composition of the library has an empty map.
struct ComposedSource {
    /// The composition that a run reads.
    var composition: Composition
    /// The composition as the job file specifies it; nil for one of the library.
    let spec: CompositionSpec?
    /// Notes for the plan.
    var notes: [String] = []
    /// Source locations of the video clips, by their index in the composition.
    var clipLocations: [SourceRange] = []
    /// Source locations of the audio items, by their index in the composition.
    var audioLocations: [SourceRange] = []
    /// One chapter for each clip of the sequence; nil for a composition of the library.
    var clipChapters: [AssetChapter]?
    /// Sources that other jobs publish.
    var awaited: [JobOutput] = []
    /// Descriptions of the source files by path, predicted for those that are not published yet.
    var descriptions: [ExactString: SourceDescription] = [:]
    /// Tracks of the sources that the composition doesn't use.
    var unused: [UnusedTrack] = []

    /// Creates an empty map of a composition.
    init(_ composition: Composition, spec: CompositionSpec? = nil) {
        (self.composition, self.spec) = (composition, spec)
        clipChapters = spec.map { _ in [] }
    }

    /// A track that a clip, a layer or an audio item doesn't use.
    struct UnusedTrack {
        /// Description of the item, such as `clip 2, talk.mov`.
        var owner: String
        /// Description of the track, such as `track 1 (audio aac 48000 Hz stereo)`.
        var track: String
        var reason: String
        /// Whether no key of the job file omits the track explicitly.
        var isUnstated: Bool
        var location: SourceRange
    }
}

/// A track of a source file, as a key.
struct SourceTrack: Hashable {
    private let path: ExactString
    private let track: Int

    init(_ track: Int, of path: String) { (self.track, self.path) = (track, path.exact) }
}
