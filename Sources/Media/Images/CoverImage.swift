package import LibAV

/// An image file that becomes the cover of an output: a complete JPEG or PNG file that can be decoded.
package struct CoverImage: Codable, Hashable, Sendable {
    /// Codec by libavcodec's name: `mjpeg` or `png`.
    package var codec: String
    /// Width in pixels.
    package var width: Int
    /// Height in pixels.
    package var height: Int
    /// Pixel format of the decoded image.
    package var pixelFormat: PixelFormat
    /// Size of the file in bytes.
    package var size: Int64
    /// SHA-256 of the file.
    package var digest: String

    /// Maximum size of a file in bytes. FLAC stores covers of up to 16 MiB with their description.
    package static let maxBytes: Int64 = 16_000_000
    /// Maximum number of pixels, which limits the memory for decoding.
    package static let maxPixels: Int64 = 40_000_000
    /// Maximum width and height in pixels.
    package static let maxSide = Int(UInt16.max)
    /// Codecs of covers from files. Each container that supports covers supports these.
    package static let codecs: Set<String> = ["mjpeg", "png"]

    package init(
        codec: String, width: Int, height: Int, pixelFormat: PixelFormat, size: Int64, digest: String
    ) {
        (self.codec, self.width, self.height) = (codec, width, height)
        (self.pixelFormat, self.size, self.digest) = (pixelFormat, size, digest)
    }

    /// Name of the format in messages.
    package var formatName: String { codec == "png" ? "PNG" : "JPEG" }

    /// Whether all values are within limits. Checked for values from untrusted input.
    package var isValid: Bool {
        Self.codecs.contains(codec) && (1...Self.maxSide).contains(width)
            && (1...Self.maxSide).contains(height)
            && Int64(width) * Int64(height) <= Self.maxPixels && (1...Self.maxBytes).contains(size)
            && SHA256Hasher.isDigest(digest)
    }

    /// Probes a file: parses its structure and decodes it.
    package static func probe(
        path: String, environment: SourceEnvironment
    ) throws(FileProblem) -> CoverImage {
        let bytes = try bytes(ofFile: path, environment: environment)
        let structure: ImageFileStructure
        do throws(ImageFileStructure.Problem) {
            structure = try ImageFileStructure(bytes)
        } catch {
            throw FileProblem("\(error)")
        }
        let (width, height) = (structure.width, structure.height)
        guard max(width, height) <= maxSide, Int64(width) * Int64(height) <= maxPixels else {
            throw FileProblem(
                "the image has \(width)x\(height) pixels; at most \(maxPixels / 1_000_000) megapixels and \(maxSide) per side are allowed"
            )
        }
        let decoder: StillImageDecoder
        do throws(AVError) {
            let parameters = try CodecParameters.video(
                codec: structure.codec, width: width, height: height, pixelFormat: .none, extradata: [])
            decoder = StillImageDecoder(parameters, limits: environment.limits, isStrict: true)
        } catch {
            throw FileProblem("it can't be decoded: \(error)")
        }
        if let problem = decoder.problem(
            in: structure.image(in: bytes), size: PixelSize(width: width, height: height))
        {
            throw FileProblem("it can't be decoded: \(problem)")
        }
        return CoverImage(
            codec: structure.codec, width: width, height: height, pixelFormat: decoder.pixelFormat,
            size: Int64(bytes.count), digest: SHA256Hasher.digest(of: bytes))
    }

    /// Reads the file again; throws if its content has changed.
    func read(path: String, environment: SourceEnvironment) throws(FileProblem) -> [UInt8] {
        let bytes = try Self.bytes(ofFile: path, environment: environment)
        guard SHA256Hasher.digest(of: bytes) == digest else {
            throw .changed
        }
        return bytes
    }

    /// Returns whether a cover of an output is this image, byte for byte.
    package func isSame(as cover: CoverArt) -> Bool {
        cover.parameters.codecName == codec && SHA256Hasher.digest(of: cover.bytes) == digest
    }

    private static func bytes(
        ofFile path: String, environment: SourceEnvironment
    ) throws(FileProblem) -> [UInt8] {
        try FileContents.bytes(
            of: path, limit: maxBytes, noun: "an image file", environment: environment)
    }
}
