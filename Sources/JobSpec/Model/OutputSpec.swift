package import Media

/// One output of a job as a job file describes it.
package struct OutputSpec: Sendable {
    /// Its id under `outputs`; nil where the job describes its only output itself.
    package let id: Located<String>?
    /// What becomes of the source's tracks, in output order. Of stills and a waveform one rule, which says what is made of the track.
    package let tracks: [TrackRule]
    /// What the output consists of.
    package let kind: Kind
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

    /// What an output consists of.
    package enum Kind: Sendable {
        /// Tracks in a container.
        case media
        /// Still images of one track.
        case images(ImagesSpec)
        /// A waveform of one track.
        case waveform(WaveformSpec)
    }

    /// The still images; nil where the output isn't images.
    package var images: ImagesSpec? {
        if case .images(let images) = kind { images } else { nil }
    }
}
