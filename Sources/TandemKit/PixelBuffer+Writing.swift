public import FoundationEssentials
internal import FileSystem
internal import JobSpec
internal import LibAV
public import Media
internal import Publishing

extension PixelBuffer {
    /// Writes the pixels as a still image: JPEG, PNG or WebP, according to the file's extension. `quality`, from 1 to
    /// 100, applies to lossy formats; nil for the format's default. An existing file isn't replaced; the new one is
    /// complete or absent.
    /// - Throws: `ExportError` if the format is unknown, `PublishingError` if the file exists.
    public func write(to url: URL, quality: Int? = nil) throws {
        guard url.isFileURL else { throw MediaError.invalidArgument("the URL must be a file URL") }
        guard let type = ContainerType.stillImage(forExtension: url.pathExtension),
            let codec = CodecCatalog.imageCodec(type.name), let encoder = codec.availableEncoder
        else {
            throw ExportError(
                .unsupportedFormat, "unknown image format `\(url.pathExtension)`; expected jpg, png or webp")
        }
        if let quality {
            guard codec.stillQuality != nil else {
                throw ExportError(.invalidSettings, "\(codec.name) is lossless and doesn't support a quality")
            }
            guard (1...100).contains(quality) else {
                throw ExportError(.invalidSettings, "`quality` must be from 1 to 100")
            }
        }
        let isJPEG = codec.codec.fixedColor == .jpeg
        let formats = codec.pixelFormats(of: encoder).filter { format in
            codec.frames.supports(format, nil, false) && (!isJPEG || format.isFullRangeByName)
        }
        guard let format = pixelFormat.nearest(of: formats) else {
            throw ExportError(.unsupportedFormat, "\(codec.name) doesn't support \(pixelFormat)")
        }
        var configuration = EncoderConfiguration(
            encoder: encoder.name, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height, configuration.pixelFormat) = (width, height, format)
        if isJPEG { (configuration.color.matrix, configuration.color.range) = ("bt470bg", .full) }
        if let imageQuality = codec.stillQuality {
            configuration.set(
                "\(imageQuality.step(quality ?? imageQuality.defaultValue))", at: codec.rate.qpOption)
        }
        let file = try TemporaryFile(destination: url.path, in: .anywhere)
        do {
            let imageEncoder = try StillImageEncoder(configuration, limits: InputLimits())
            try imageEncoder.encode(self) { bytes in try file.write(bytes, at: 0) }
            try file.synchronize()
            try file.publish(replacing: false)
        } catch {
            file.discard()
            throw error
        }
    }
}
