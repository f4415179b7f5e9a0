public import LibAV

/// What a track's samples are (AVFoundation's `CMFormatDescription`).
public struct FormatDescription: Sendable {
    /// The codec's parameters, to be handed on unchanged by a passthrough.
    public private(set) var parameters: CodecParameters
    /// The codec's name (`h264`); of data that libavcodec has no name for, the container's (`gpmd`).
    public private(set) var codec: String
    /// The profile's name, where known.
    public let profile: String?
    /// The level as the codec numbers it.
    public private(set) var level: Int?
    /// The container's four-character code.
    public private(set) var codecTag: String?
    /// Bits per second as the container says, 0 where unknown.
    public let bitRate: Int64

    /// Coded pixels, width and height; 0 × 0 for audio.
    public let width: Int
    /// Coded pixels, height.
    public let height: Int
    /// Shape of a pixel; nil where unspecified (then square).
    public let pixelAspectRatio: Rational?
    /// The part of the frame that is meant to be seen (`clap`).
    public let cleanAperture: CleanAperture?
    /// Pixel format.
    public let pixelFormat: PixelFormat
    /// What the numbers of the frame mean.
    public let color: ColorDescription
    /// Frames per second of video in which all frames last equally long, as far as container and probe can tell; nil otherwise. Containers
    /// that state a rate (Matroska) state this one of a copy.
    public private(set) var constantFrameRate: Rational?
    /// Coded as fields; nil where unknown.
    public private(set) var isInterlaced: Bool?
    /// Which of two fields comes first; nil for whole frames, and where unknown.
    public private(set) var fieldOrder: FieldOrder?

    /// Samples per second.
    public let sampleRate: Int32
    /// Sample format.
    public let sampleFormat: SampleFormat
    /// Channels and their places; nil for frames.
    public let channelLayout: ChannelLayout?

    /// The same track with other codec parameters.
    func with(_ parameters: CodecParameters, codec: String? = nil) -> FormatDescription {
        var copy = self
        copy.parameters = parameters
        copy.codec = codec ?? self.codec
        copy.level = parameters.level
        copy.codecTag = parameters.codecTag
        return copy
    }

    init(_ stream: StreamInfo, cleanAperture: CleanAperture?) {
        self.init(
            stream.parameters, pixelAspectRatio: stream.sampleAspectRatio, cleanAperture: cleanAperture)
        if let fields = stream.fields { (isInterlaced, fieldOrder) = (true, fields) }
        constantFrameRate = Self.constantFrameRate(of: stream)
    }

    /// The base rate, the lowest at which the time of every frame can be represented, where it is the average rate as well
    /// (`r_frame_rate`, `avg_frame_rate`). A track whose last frame is cut short averages slightly more.
    private static func constantFrameRate(of stream: StreamInfo) -> Rational? {
        guard stream.parameters.mediaType == .video, !stream.isAttachedPicture,
            let base = stream.baseFrameRate, let average = stream.averageFrameRate
        else { return nil }
        return abs(average.double / base.double - 1) < 0.001 ? base : nil
    }

    /// Compressed video that a program makes or has by itself, for an input that writes packets as they are
    /// (`CMVideoFormatDescriptionCreate`): the codec by libav's name, its headers as the container has them (`avcC`, `hvcC`).
    /// - Throws: `MediaError.misuse` of what is no video codec or no size.
    public static func video(
        codec: String, size: PixelSize, pixelFormat: PixelFormat = .yuv420p, headers: [UInt8] = []
    ) throws -> FormatDescription {
        do throws(AVError) {
            let parameters = try CodecParameters.video(
                codec: codec, width: size.width, height: size.height, pixelFormat: pixelFormat,
                extradata: headers)
            return FormatDescription(parameters, pixelAspectRatio: nil, cleanAperture: nil)
        } catch {
            throw MediaError.misuse("\(error)")
        }
    }

    /// The same of audio (`CMAudioFormatDescriptionCreate`). `samplesPerPacket` is 0 where it varies.
    public static func audio(
        codec: String, sampleRate: Int32, layout: ChannelLayout, sampleFormat: SampleFormat,
        samplesPerPacket: Int = 0, headers: [UInt8] = []
    ) throws -> FormatDescription {
        do throws(AVError) {
            let form = AudioFormat(sampleFormat: sampleFormat, sampleRate: sampleRate, layout: layout)
            let parameters = try CodecParameters.audio(
                codec: codec, format: form, frameSize: samplesPerPacket, extradata: headers)
            return FormatDescription(parameters, pixelAspectRatio: nil, cleanAperture: nil)
        } catch {
            throw MediaError.misuse("\(error)")
        }
    }

    private init(
        _ parameters: CodecParameters, pixelAspectRatio: Rational?, cleanAperture: CleanAperture?
    ) {
        self.parameters = parameters
        codec = Self.name(of: parameters)
        profile = parameters.profileName
        level = parameters.level
        codecTag = parameters.codecTag
        bitRate = parameters.bitRate
        width = parameters.width
        height = parameters.height
        self.pixelAspectRatio =
            pixelAspectRatio
            ?? (parameters.sampleAspectRatio.isPositive ? parameters.sampleAspectRatio : nil)
        self.cleanAperture = cleanAperture
        pixelFormat = parameters.mediaType == .video ? parameters.pixelFormat : .none
        color = parameters.color
        isInterlaced = parameters.isInterlaced
        fieldOrder = parameters.fieldOrder
        sampleRate = parameters.sampleRate
        sampleFormat = parameters.mediaType == .audio ? parameters.sampleFormat : .none
        channelLayout = parameters.mediaType == .audio ? parameters.channelLayout : nil
    }

    /// libavcodec knows few kinds of data.
    private static func name(of parameters: CodecParameters) -> String {
        guard parameters.mediaType == .data, parameters.traits.isNameless,
            let tag = parameters.codecTag?.trimmingPrefix(while: { $0 == " " }), !tag.isEmpty
        else { return parameters.codecName }
        return String(tag.prefix { $0 != " " })
    }

    /// Size on a screen with square pixels, before any rotation: the clean aperture where there is one,
    /// widened by the pixel aspect.
    public var presentationSize: (width: Double, height: Double) {
        let aspect = pixelAspectRatio?.double ?? 1
        if let cleanAperture { return (cleanAperture.width.double * aspect, cleanAperture.height.double) }
        return (Double(width) * aspect, Double(height))
    }
}

/// The rectangle of a coded frame that is meant to be shown (`clap` of the sample description), exact.
public struct CleanAperture: Hashable, Codable, Sendable {
    /// Width in pixels.
    public var width: Rational
    /// Height in pixels.
    public var height: Rational
    /// Its centre's distance to the right of the frame's centre.
    public var horizontalOffset: Rational
    /// Its centre's distance below the frame's centre.
    public var verticalOffset: Rational
}
