package import Media

/// The description of a job's output in a job file, or of the check of its source.
package struct OutputSpec: Sendable {
    /// Id under `outputs`; nil for the only output of a job without `outputs`.
    package let id: Located<String>?
    /// Rules for the source's tracks, in output order. Image outputs and waveforms have one rule, which configures
    /// the encoder.
    package var tracks: [TrackRule]
    package let kind: Kind
    /// Container; nil for a check, and while it depends on the matches of a pattern.
    package let container: Located<ContainerType>?
    /// Whether the index is moved to the front of the file.
    package let optimizeForNetwork: Located<Bool>?
    /// Duration of the file's fragments; nil for a file without fragments.
    package internal(set) var fragmentInterval: Located<MediaTime>?
    package let metadata: MetadataSpec
    /// Chapters; nil for the source's.
    package let chapters: Located<ChapterSpec>?
    /// Maximum duration of the output.
    package let durationLimit: Located<TimeExpression>?
    /// Maximum size of the output in bytes.
    package let sizeLimit: Located<Int64>?
    /// Conditions that the output must meet.
    package let expectations: [Expectation]
    /// Handling of source tracks that no rule selects.
    package let leftover: Located<Leftover>?
    /// Destination; nil for a check.
    package let destination: DestinationSpec?

    /// The kind of an output, with its configuration.
    package enum Kind: Sendable {
        /// Tracks in a container.
        case media
        /// Still images of one track.
        case images(ImagesSpec)
        /// A waveform of one track.
        case waveform(WaveformSpec)
        /// A check of the source, without an output.
        case check(CheckSpec)
        /// A folder of renditions with manifests.
        case package(PackageSpec)
    }

    /// Whether the container depends on the matches of a pattern.
    package var lacksContainer: Bool {
        switch kind {
        case .media, .images, .waveform: container == nil
        case .check, .package: false
        }
    }

    package var isCheck: Bool { if case .check = kind { true } else { false } }

    /// Package; nil for other kinds.
    package var package: PackageSpec? {
        if case .package(let package) = kind { package } else { nil }
    }

    /// Image output; nil for other kinds.
    package var images: ImagesSpec? {
        if case .images(let images) = kind { images } else { nil }
    }
}
