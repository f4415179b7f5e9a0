package import LibAV

/// Encodes each still image to a separate file (`avcodec_send_frame`). Confined to one queue.
package final class StillImageEncoder {
    private let encoder: FrameEncoder
    private let packet: Packet
    private let width: Int
    private let height: Int
    private let format: PixelFormat
    private let limits: InputLimits
    private var reader: StillImageDecoder?
    private var converter: EncoderFormatConverter
    private var count: Int64 = 0

    /// Opens the encoder. All still images must have the size and the pixel format of the configuration. `limits` apply
    /// when encoded files are decoded for verification.
    package init(_ configuration: EncoderConfiguration, limits: InputLimits) throws(MediaError) {
        (width, height, format) = (configuration.width, configuration.height, configuration.pixelFormat)
        self.limits = limits
        do throws(AVError) {
            var configuration = configuration
            // Frame threads would delay output.
            configuration.threads = 1
            encoder = try FrameEncoder.open(configuration, globalHeaders: false)
            converter = EncoderFormatConverter(configuration)
            packet = try Packet()
        } catch {
            throw MediaError.encoding(track: .part(.image), error)
        }
    }

    /// Encodes a frame; `body` receives the bytes of the file, which are valid only during the call.
    package func encode<Result>(
        _ frame: borrowing Frame, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        // The encoder reads the number of rows and columns for which it was opened, regardless of the frame's size.
        guard frame.width == width, frame.height == height, frame.pixelFormat == format else {
            throw MediaError.invalidArgument(
                "the image is \(frame.width)x\(frame.height) \(frame.pixelFormat) instead of \(width)x\(height) \(format)"
            )
        }
        let copy = try frame.reference()
        copy.pts = count
        copy.duration = 1
        copy.clearPictureType()
        count += 1
        var isWhole = false
        do throws(AVError) {
            if try encoder.send(copy), case .ready = try encoder.receive(into: packet) { isWhole = true }
        } catch {
            throw MediaError.encoding(track: .part(.image), error)
        }
        guard isWhole else {
            throw MediaError.misuse("encoders that delay their output can't encode still images")
        }
        return try packet.withBytes { try body($0) }
    }

    /// Encodes an image in any pixel format, which is converted to the encoder's.
    package func encode<Result>(
        _ image: PixelBuffer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let frame = try image.reference()
        guard frame.pixelFormat != format else { return try encode(frame, body) }
        do {
            return try encode(try converter.convert(frame), body)
        } catch let error as AVError {
            throw MediaError.encoding(track: .part(.image), error)
        }
    }

    /// Returns a description of an encoded file's problem; nil if it decodes to a frame of the configured size.
    package func problem(in bytes: [UInt8]) -> String? {
        if reader == nil {
            // A reduced decode parses all of the data without computing every pixel.
            reader = StillImageDecoder(encoder.parameters, limits: limits, isReduced: true)
        }
        return reader?.problem(in: bytes, size: PixelSize(width: width, height: height))
    }
}
