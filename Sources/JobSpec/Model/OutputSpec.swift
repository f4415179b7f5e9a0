public import Media

/// One output of a job as a job file says it: a movie.
public struct OutputSpec: Sendable {
    /// Its id under `outputs`; nil where the job describes its only output itself.
    public let id: Located<String>?
    /// What becomes of the source's tracks, in output order.
    public let tracks: [TrackRule]
    /// The kind of file; nil while it hangs on what a pattern matches.
    public let container: Located<ContainerType>?
    /// The index goes to the front.
    public let optimizeForNetwork: Located<Bool>?
    /// How long the file's fragments are.
    public let fragmentInterval: Located<MediaTime>?
    /// The output's tags.
    public let metadata: MetadataSpec
    /// The output's chapters.
    public let chapters: Located<ChapterSpec>?
    /// How long the output is at most.
    public let durationLimit: Located<TimeExpression>?
    /// How many bytes the output has at most.
    public let sizeLimit: Located<Int64>?
    /// What must hold of the output.
    public let expectations: [Expectation]
    /// Source tracks that no rule selects.
    public let leftover: Located<Leftover>?
    /// Where the output goes.
    public let destination: DestinationSpec
}
