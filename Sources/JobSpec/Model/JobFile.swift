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

/// A decoded job file.
public struct JobFile: Sendable {
    /// The file as the user named it.
    public var path: String
    /// The absolute folder that relative paths start from.
    public var directory: String
    /// The batch's name.
    public var name: String
    /// Assets by id, in file order.
    public var assets: [(id: Located<String>, asset: AssetSpec)]
    /// Jobs in file order.
    public var jobs: [JobSpec]
}

/// A source as a job file says it.
public struct AssetSpec: Sendable {
    /// Where media come from.
    public enum Source: Sendable {
        /// A file; the path as written.
        case file(Located<String>)
        /// A test signal.
        case pattern(TestPattern)
        /// What another job publishes.
        case job(Located<String>)
    }
    /// Where media come from.
    public var source: Source
    /// How times are found out.
    public var timing: AssetTiming
    /// Where it was written.
    public var range: SourceRange
}

/// What a job reads.
public enum AssetReference: Sendable {
    /// An asset of the file by its id.
    case id(Located<String>)
    /// An asset written in place.
    case inline(AssetSpec)
}

/// One job as a job file says it.
public struct JobSpec: Sendable {
    /// The job's id.
    public var id: Located<String>
    /// What it reads.
    public var asset: AssetReference
    /// What part of it.
    public var range: RangeSpec?
    /// What becomes of its tracks, in output order.
    public var tracks: [TrackRule]
    /// The kind of file.
    public var container: Located<ContainerType>
    /// The index goes to the front.
    public var optimizeForNetwork: Located<Bool>?
    /// The output's tags.
    public var metadata: MetadataSpec
    /// Where the output goes.
    public var destination: DestinationSpec
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
    case matching(index: Int?, language: String?)
}

/// What becomes of some tracks.
public struct TrackRule: Sendable {
    /// What is done with them.
    public enum Action: Sendable {
        /// Packets as they are.
        case copy(SourceRange)
        /// Compressed anew as pictures.
        case encodeVideo(VideoEncodeSpec)
        /// Compressed anew as sound.
        case encodeAudio(AudioEncodeSpec)
    }
    /// The kind.
    public var mediaType: MediaType
    /// Which ones.
    public var selection: Located<TrackSelection>
    /// What is done with them.
    public var action: Action
    /// A selection that matches nothing is no error.
    public var isOptional: Bool
    /// Where it was written.
    public var range: SourceRange
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

/// How sound is compressed, as a job file says it.
public struct AudioEncodeSpec: Sendable {
    /// The codec.
    public var codec: Located<CodecInfo>
    /// Bit rate.
    public var bitRate: Located<Int64>?
    /// Sample rate.
    public var sampleRate: Located<Int32>?
    /// Channels.
    public var channels: Located<ChannelLayout>?
    /// Private options.
    public var options: [EncoderOption]
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
