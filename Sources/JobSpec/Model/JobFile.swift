public import Diagnostics
public import LibAV
public import Media

/// A value and where it was written.
public struct Located<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// Where it was written.
    public var range: SourceRange

    /// Makes a located value.
    public init(_ value: Value, at range: SourceRange) {
        self.value = value
        self.range = range
    }
}

extension Located: Equatable where Value: Equatable {}

/// A decoded job file: the jobs with matrix and defaults applied, each ready to be planned.
public struct JobFile: Sendable {
    /// The file as the user named it.
    public var path: String
    /// The batch's name.
    public var name: String
    /// Assets by id, in file order.
    public var assets: [(id: Located<String>, asset: AssetSpec)]
    /// Jobs in file order, every run of a matrix on its own. A job whose asset is a pattern stands here once
    /// until `expanded` puts its runs in its place.
    public var jobs: [JobSpec]
    /// What the jobs were made of, for expanding patterns.
    let definition: BatchDefinition

    /// The absolute path of a written one: relative to the file that it stands in.
    public func absolutePath(_ written: Located<String>) -> String {
        definition.absolutePath(written)
    }
}

/// A source as a job file says it.
public struct AssetSpec: Sendable {
    /// Where media come from.
    public enum Source: Sendable {
        /// A file; the path as written.
        case file(Located<String>)
        /// What a URL leads to.
        case url(Located<String>)
        /// Every file that a pattern matches.
        case glob(Located<String>)
        /// A test signal.
        case pattern(TestPattern)
        /// What a job publishes: its id, and the full id of the run.
        case job(Located<String>, run: String)
    }
    /// Where media come from.
    public var source: Source
    /// How times are found out.
    public var timing: AssetTiming
    /// Where it was written.
    public var range: SourceRange
}

/// What happens to source tracks that no rule selects.
public enum Leftover: String, Codable, Sendable, CaseIterable {
    /// They are listed in plan and report.
    case drop
    /// They are warned of.
    case warn
    /// The job can't be planned.
    case error
}

/// How a range is cut.
public enum CutMode: String, Codable, Hashable, Sendable, CaseIterable {
    /// To the picture and the sample; what can't be copied so is compressed anew.
    case exact
    /// Copied pictures widen the range to where they can begin and end.
    case keyframe
    /// To the picture, with copied pictures compressed anew at the edges only.
    case smart
    /// The same, and all of it compressed anew where that can't be.
    case smartOrExact = "smart-or-exact"
}

/// What becomes of the source's chapters.
public enum ChapterSpec: Sendable {
    /// They are trimmed and shifted with the range.
    case keep
    /// The output has none.
    case drop
    /// The output has these.
    case list([(start: Located<TimeExpression>, title: String)])
}

/// One run of a job as a job file says it.
public final class JobSpec: Sendable {
    /// The full id: the job's, and in brackets which run of it (`web[height=1080]`).
    public let id: Located<String>
    /// The job's id as the file has it.
    public let base: String
    /// What it reads.
    public let asset: AssetSpec
    /// The asset's id, where it has one and was named by it.
    public let assetID: Located<String>?
    /// What parts of it, to be joined in this order; empty for all of it.
    public let ranges: [RangeSpec]
    /// What becomes of its tracks, in output order.
    public let tracks: [TrackRule]
    /// The kind of file; nil while it hangs on what a pattern matches.
    public let container: Located<ContainerType>?
    /// The index goes to the front.
    public let optimizeForNetwork: Located<Bool>?
    /// The output's tags.
    public let metadata: MetadataSpec
    /// The output's chapters.
    public let chapters: Located<ChapterSpec>?
    /// How long the output is at most.
    public let durationLimit: Located<TimeExpression>?
    /// How the range is cut.
    public let cut: Located<CutMode>?
    /// What must hold of the output.
    public let expectations: [Expectation]
    /// What becomes of damaged data.
    public let onDamage: Located<DamagePolicy>?
    /// Source tracks that no rule selects.
    public let leftover: Located<Leftover>?
    /// Jobs that must have succeeded first, by the ids that the file has.
    public let needs: [Located<String>]
    /// How a run treats it.
    public let scheduling: JobScheduling
    /// Where the output goes.
    public let destination: DestinationSpec

    /// It reads what a pattern matches, directly or through other jobs, and is expanded by the plan.
    public let isTemplate: Bool

    init(
        id: Located<String>, base: String, asset: AssetSpec, assetID: Located<String>?, ranges: [RangeSpec],
        tracks: [TrackRule], container: Located<ContainerType>?, optimizeForNetwork: Located<Bool>?,
        metadata: MetadataSpec, chapters: Located<ChapterSpec>?, durationLimit: Located<TimeExpression>?,
        cut: Located<CutMode>?, expectations: [Expectation], onDamage: Located<DamagePolicy>?,
        leftover: Located<Leftover>?, needs: [Located<String>], scheduling: JobScheduling,
        destination: DestinationSpec, isTemplate: Bool
    ) {
        self.id = id
        self.base = base
        self.asset = asset
        self.assetID = assetID
        self.ranges = ranges
        self.tracks = tracks
        self.container = container
        self.optimizeForNetwork = optimizeForNetwork
        self.metadata = metadata
        self.chapters = chapters
        self.durationLimit = durationLimit
        self.cut = cut
        self.expectations = expectations
        self.onDamage = onDamage
        self.leftover = leftover
        self.needs = needs
        self.scheduling = scheduling
        self.destination = destination
        self.isTemplate = isTemplate
    }
}

/// How a run treats a job; nothing of it but `threads` reaches the output.
public struct JobScheduling: Codable, Hashable, Sendable {
    /// Seconds on the wall's clock after which it fails.
    public var timeout: MediaTime?
    /// Further attempts after failures that can pass.
    public var retries = 0
    /// Higher ones start first.
    public var priority = 0
    /// Threads of its video encoders, and processors that it counts for.
    public var threads: Int?

    /// As where nothing is said.
    public init() {}
}

extension JobSpec {
    /// Where the first range was written.
    public var rangeLocation: SourceRange? { ranges.first?.range }
}

/// A stretch of the asset's time line as a job file says it.
public struct RangeSpec: Sendable {
    /// Where it begins; 0 when absent.
    public var start: Located<TimeExpression>?
    /// Where it ends; the asset's end when absent.
    public var end: Located<TimeExpression>?
    /// How long it is, instead of an end.
    public var duration: Located<TimeExpression>?
    /// Where it was written.
    public var range: SourceRange
}

/// Which tracks of a kind a rule takes.
public enum TrackSelection: Hashable, Sendable {
    /// The first one.
    case first
    /// All of them.
    case all
    /// All for which everything said holds.
    case matching(TrackCriteria)
}

/// What must hold of a track; what is nil may be anything.
public struct TrackCriteria: Hashable, Sendable {
    /// Position among the tracks of the kind, from 0.
    public var index: Int?
    /// The container's own number.
    public var id: Int?
    /// Language.
    public var language: String?
    /// The codec's libav name.
    public var codec: String?
    /// What it is for; all of these.
    public var disposition: [String] = []
    /// What it does: `visual`, `audible`, `legible`.
    public var characteristic: String?
    /// The track's name.
    public var title: String?
}

/// What a track can be for, by libav's names of dispositions.
public enum TrackDisposition {
    /// The names.
    public static let names = [
        "default", "dub", "original", "comment", "lyrics", "karaoke", "forced", "hearing_impaired",
        "visual_impaired", "clean_effects", "captions", "descriptions", "metadata",
    ]
}

/// What becomes of some tracks.
public struct TrackRule: Sendable {
    /// What is done with them.
    public enum Action: Sendable {
        /// Packets as they are; `otherwise` says how what can't be copied is made.
        indirect case copy(SourceRange, otherwise: Action?)
        /// Compressed anew as pictures.
        indirect case encodeVideo(VideoEncodeSpec)
        /// Compressed anew as sound.
        indirect case encodeAudio(AudioEncodeSpec)

        /// Turned into another kind of text.
        indirect case encodeSubtitle(SubtitleEncodeSpec)

        /// Where it was written.
        public var range: SourceRange {
            switch self {
            case .copy(let range, _): range
            case .encodeSubtitle(let spec): spec.range
            case .encodeVideo(let spec): spec.range
            case .encodeAudio(let spec): spec.range
            }
        }

        /// Packets are taken as they are, where that can be.
        public var isCopy: Bool { if case .copy = self { true } else { false } }

        /// Pictures of a codec compressed anew in it so that nobody sees it. Nil for codecs that can't be.
        public static func nearLossless(_ codec: String, at range: SourceRange) -> Action? {
            guard let info = CodecCatalog.codec(codec, of: .video), info.libavName == codec,
                ["h264", "hevc"].contains(codec)
            else { return nil }
            return .encodeVideo(
                VideoEncodeSpec(
                    codec: Located(info, at: range), rateControl: Located(.crf(12_000), at: range),
                    preset: Located("veryfast", at: range),
                    options: [], range: range))
        }
    }
    /// The kind.
    public var mediaType: MediaType
    /// Which ones.
    public var selection: Located<TrackSelection>
    /// What is done with them.
    public var action: Action
    /// The selected tracks become one.
    public var mix: MixSpec?
    /// A selection that matches nothing is no error.
    public var isOptional: Bool
    /// Language of the output's track.
    public var language: Located<String>?
    /// Name of the output's track.
    public var title: Located<String>?
    /// What the output's track is for; empty for nothing.
    public var disposition: [String]?
    /// Tags of the output's track, in order.
    public var metadata: [(key: Located<String>, value: String)]
    /// Where it was written.
    public var range: SourceRange
}

/// How some tracks become one, as a job file says it.
public struct MixSpec: Sendable {
    /// How loud some of them are; the others are as they are.
    public var inputs: [Input]
    /// Where it was written.
    public var range: SourceRange

    /// Some tracks and their volume.
    public struct Input: Sendable {
        /// Which ones.
        public var selection: Located<TrackSelection>
        /// Their volume in thousandths; `at` is a time of the output, nil where there is one volume for all of it.
        public var points: [(at: Located<TimeExpression>?, thousandths: Int)]
    }
}

/// How much of what the encoder may spend.
public enum RateControl: Hashable, Sendable {
    /// Constant quality, in thousandths.
    case crf(Int)
    /// Constant quantiser.
    case qp(Int)
    /// Average bits a second.
    case bitRate(Int64)
    /// Without loss.
    case lossless
}

/// A private option of an encoder.
public struct EncoderOption: Sendable {
    /// Its name.
    public var name: Located<String>
    /// Its value as text.
    public var value: Located<String>
}

/// How pictures are compressed, as a job file says it.
public struct VideoEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<CodecInfo>
    /// Rate control.
    public var rateControl: Located<RateControl>?
    /// Highest bit rate.
    public var maxBitRate: Located<Int64>?
    /// Rate-control buffer.
    public var bufferSize: Located<Int64>?
    /// Preset.
    public var preset: Located<String>?
    /// Profile.
    public var profile: Located<String>?
    /// Level.
    public var level: Located<String>?
    /// Size.
    public var size: Located<Dimensions>?
    /// How the picture gets into the size.
    public var fit: Located<PictureFit>?
    /// What part of the coded picture is kept.
    public var crop: Located<CropSpec>?
    /// How the picture is turned.
    public var orientation: Located<OrientationSpec>?
    /// Frames out of fields.
    public var deinterlace: Located<Deinterlacing>?
    /// Colour.
    public var color: ColorSpec?
    /// Shape of a pixel, written as it is.
    public var pixelAspectRatio: Located<Rational>?
    /// A chain of filters.
    public var filters: Located<String>?
    /// What the encoder optimises for.
    public var tune: Located<String>?
    /// 1 or 2.
    public var passes: Located<Int>?
    /// Most B-frames in a row.
    public var bFrames: Located<Int>?
    /// Pixel format.
    public var pixelFormat: Located<PixelFormat>?
    /// Frame rate.
    public var frameRate: Located<Rational>?
    /// Key-frame interval: frames, or a time.
    public var keyframeInterval: Located<KeyframeInterval>?
    /// Private options.
    public var options: [EncoderOption]
    /// Where it was written.
    public var range: SourceRange
}

/// Most frames or time between key frames.
public enum KeyframeInterval: Hashable, Sendable {
    /// Frames.
    case frames(Int)
    /// Time.
    case time(MediaTime)
}

/// Which part of the coded picture is kept.
public enum CropSpec: Hashable, Sendable {
    /// What the source says is to be seen.
    case cleanAperture
    /// This.
    case rectangle(PixelRectangle)
}

/// How a picture is turned.
public enum OrientationSpec: Hashable, Sendable {
    /// The display matrix goes along.
    case keep
    /// The picture is turned, and the matrix is left.
    case bake
    /// Clockwise by so many degrees, instead of the matrix.
    case angle(Int)
}

/// Colour as a job file says it.
public struct ColorSpec: Sendable {
    /// Primaries.
    public var primaries: Located<String>?
    /// Transfer function.
    public var transfer: Located<String>?
    /// Matrix.
    public var matrix: Located<String>?
    /// `tv` or `pc`.
    public var levels: Located<String>?
    /// Where it was written.
    public var range: SourceRange
}

/// How sound is compressed, as a job file says it.
public struct AudioEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<CodecInfo>
    /// Bit rate.
    public var bitRate: Located<Int64>?
    /// Quality in thousandths, instead of a bit rate.
    public var quality: Located<Int>?
    /// Profile.
    public var profile: Located<String>?
    /// Sample rate.
    public var sampleRate: Located<Int32>?
    /// Sample format.
    public var sampleFormat: Located<SampleFormat>?
    /// Bits a sample.
    public var bitDepth: Located<Int>?
    /// Thousandths of a decibel.
    public var gain: Located<Int>?
    /// Loudness.
    public var normalize: Located<LoudnessTarget>?
    /// A chain of filters.
    public var filters: Located<String>?
    /// Channels.
    public var channels: Located<ChannelLayout>?
    /// Private options.
    public var options: [EncoderOption]
    /// Where it was written.
    public var range: SourceRange
}

/// How subtitles are written, as a job file says it.
public struct SubtitleEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<SubtitleCodec>
    /// Where it was written.
    public var range: SourceRange
}

/// The output's tags as a job file says them.
public struct MetadataSpec: Sendable {
    /// Which of the source's are kept.
    public enum Keep: Hashable, Sendable {
        /// All.
        case all
        /// None.
        case none
        /// Those named.
        case keys([String])

        /// It keeps one of that name.
        public func contains(_ key: String) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .keys(let keys): keys.contains(key)
            }
        }
    }
    /// Which of the source's are kept.
    public var keep: Keep = .all
    /// Tags to write, in order.
    public var set: [(key: Located<String>, value: String)] = []
}

/// What happens to a file at the destination that Tandem did not publish.
public enum IfExists: String, Codable, Hashable, Sendable, CaseIterable {
    /// It stays, and the job fails.
    case fail
    /// It is replaced.
    case replace
    /// It stays, and the job is skipped.
    case skip
}

/// Where the output goes, as a job file says it.
public struct DestinationSpec: Sendable {
    /// The path as written.
    public var path: Located<String>
    /// What happens to somebody else's file there.
    public var ifExists: IfExists
    /// Missing folders are made.
    public var makesDirectories: Bool
}
