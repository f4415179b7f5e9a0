public import LibAV

/// Format of a track's samples (AVFoundation's `CMFormatDescription`).
public struct FormatDescription: Sendable {
    /// Codec parameters as the container stores them; a passthrough copies them unchanged.
    package private(set) var parameters: CodecParameters
    /// The codec's name (`h264`); for data without a libavcodec name, the container's tag (`gpmd`).
    public private(set) var codec: String
    /// The profile's name; nil if unknown.
    public let profile: String?
    /// The level in the codec's own numbering; nil if unknown.
    public private(set) var level: Int?
    /// The container's four-character code; nil if there is none.
    public private(set) var codecTag: String?
    /// Bits per second as the container declares it; 0 if unknown.
    public let bitRate: Int64

    /// Width of coded frames in pixels; 0 for audio.
    public let width: Int
    /// Height of coded frames in pixels; 0 for audio.
    public let height: Int
    /// Sample aspect ratio; nil if unspecified (square).
    public let pixelAspectRatio: Rational?
    /// The visible part of the frame (`clap`); nil for the whole frame.
    public let cleanAperture: CleanAperture?
    /// Pixel format; `none` for audio.
    public let pixelFormat: PixelFormat
    /// Primaries, transfer, matrix and range.
    public let color: ColorDescription
    /// Constant frame rate as determined from container and probe; nil for a variable or unknown rate. A copy declares
    /// it in containers that store a frame rate (Matroska).
    public private(set) var constantFrameRate: Rational?
    /// Whether the video is interlaced; nil if unknown.
    public private(set) var isInterlaced: Bool?
    /// Field order; nil for progressive frames, and if unknown.
    public private(set) var fieldOrder: FieldOrder?

    /// Sample rate in Hz.
    public let sampleRate: Int32
    /// Sample format; `none` for video.
    public let sampleFormat: SampleFormat
    /// Channel layout; nil for video.
    public let channelLayout: ChannelLayout?

    /// Returns this description with other codec parameters.
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

    /// Returns the base rate (`r_frame_rate`, the lowest rate that can represent all frame times) if it equals the
    /// average rate (`avg_frame_rate`) within 0.1%: a shortened last frame raises the average slightly.
    private static func constantFrameRate(of stream: StreamInfo) -> Rational? {
        guard stream.parameters.mediaType == .video, !stream.isAttachedPicture,
            let base = stream.baseFrameRate, let average = stream.averageFrameRate
        else { return nil }
        return abs(average.double / base.double - 1) < 0.001 ? base : nil
    }

    /// Creates a description of compressed video (`CMVideoFormatDescriptionCreate`), for a writer input that receives
    /// packets from outside an asset. `codec` is libavcodec's name, `headers` the extradata as containers store it
    /// (`avcC`, `hvcC`).
    /// - Throws: `MediaError.invalidArgument` for an unknown video codec or an invalid size.
    public static func video(
        codec: String, size: PixelSize, pixelFormat: PixelFormat = .yuv420p, headers: [UInt8] = []
    ) throws -> FormatDescription {
        do throws(AVError) {
            let parameters = try CodecParameters.video(
                codec: codec, width: size.width, height: size.height, pixelFormat: pixelFormat,
                extradata: headers)
            return FormatDescription(parameters, pixelAspectRatio: nil, cleanAperture: nil)
        } catch {
            throw MediaError.invalidArgument("\(error)")
        }
    }

    /// Creates a description of compressed audio (`CMAudioFormatDescriptionCreate`). `samplesPerPacket` is 0 if it
    /// varies.
    /// - Throws: `MediaError.invalidArgument` for an unknown audio codec or an invalid format.
    public static func audio(
        codec: String, sampleRate: Int32, layout: ChannelLayout, sampleFormat: SampleFormat,
        samplesPerPacket: Int = 0, headers: [UInt8] = []
    ) throws -> FormatDescription {
        do throws(AVError) {
            let audioFormat = AudioFormat(sampleFormat: sampleFormat, sampleRate: sampleRate, layout: layout)
            let parameters = try CodecParameters.audio(
                codec: codec, format: audioFormat, frameSize: samplesPerPacket, extradata: headers)
            return FormatDescription(parameters, pixelAspectRatio: nil, cleanAperture: nil)
        } catch {
            throw MediaError.invalidArgument("\(error)")
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

    /// Returns the codec's name; for data without a libavcodec name, the container's tag.
    private static func name(of parameters: CodecParameters) -> String {
        guard parameters.mediaType == .data, parameters.traits.isNameless,
            let tag = parameters.codecTag?.trimmingPrefix(while: { $0 == " " }), !tag.isEmpty
        else { return parameters.codecName }
        return String(tag.prefix { $0 != " " })
    }

    /// Display size with square pixels, before any rotation: the clean aperture if there is one, otherwise the whole
    /// frame, with the width scaled by the sample aspect ratio.
    public var presentationSize: (width: Double, height: Double) {
        let aspect = pixelAspectRatio?.double ?? 1
        if let cleanAperture { return (cleanAperture.width.double * aspect, cleanAperture.height.double) }
        return (Double(width) * aspect, Double(height))
    }
}
