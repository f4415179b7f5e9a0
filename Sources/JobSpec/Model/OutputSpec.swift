package import Media

/// One output of a job as a job file says it: a movie, stills or a waveform.
package struct OutputSpec: Sendable {
    /// Its id under `outputs`; nil where the job describes its only output itself.
    package let id: Located<String>?
    /// What becomes of the source's tracks, in output order. Of stills and a waveform one rule, which says what is made of the track.
    package let tracks: [TrackRule]
    /// Stills instead of a movie.
    package let images: ImagesSpec?
    /// A waveform instead of a movie.
    package let waveform: WaveformSpec?
    /// The kind of file; nil while it hangs on what a pattern matches.
    package let container: Located<ContainerType>?
    /// The index goes to the front.
    package let optimizeForNetwork: Located<Bool>?
    /// How long the file's fragments are.
    package let fragmentInterval: Located<MediaTime>?
    /// The output's tags.
    package let metadata: MetadataSpec
    /// The output's chapters.
    package let chapters: Located<ChapterSpec>?
    /// How long the output is at most.
    package let durationLimit: Located<TimeExpression>?
    /// How many bytes the output has at most.
    package let sizeLimit: Located<Int64>?
    /// What must hold of the output.
    package let expectations: [Expectation]
    /// Source tracks that no rule selects.
    package let leftover: Located<Leftover>?
    /// Where the output goes.
    package let destination: DestinationSpec
}
