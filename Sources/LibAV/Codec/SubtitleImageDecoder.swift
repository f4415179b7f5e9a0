internal import CFFmpeg

/// A part of a bitmap subtitle.
package struct SubtitleImage: Equatable, Sendable {
    /// Left edge in pixels of the subtitle's canvas.
    package var x: Int
    /// Upper edge in pixels of the subtitle's canvas.
    package var y: Int
    package var width: Int
    package var height: Int
    /// Rows of pixels: red, green, blue and alpha, which isn't multiplied into the colors.
    package var pixels: [UInt8]

    /// Creates an image; `pixels` has four bytes for each pixel.
    package init(x: Int, y: Int, width: Int, height: Int, pixels: [UInt8]) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
        self.pixels = pixels
    }
}

/// The state of the display after a packet of bitmap subtitles (`AVSubtitle`).
package struct SubtitleDisplay: Equatable, Sendable {
    /// The images; empty if the display is cleared.
    package var images: [SubtitleImage]
    /// Width of the subtitle's canvas in pixels; 0 if the stream doesn't state it.
    package var canvasWidth: Int
    /// Height of the subtitle's canvas in pixels; 0 if the stream doesn't state it.
    package var canvasHeight: Int
    /// Milliseconds from the packet's time to the display's start.
    package var start: Int64
    /// Milliseconds from the packet's time to the display's end; nil if it is shown until the next packet.
    package var end: Int64?
}

/// A decoder of bitmap subtitles, for which damage is an error. Confined to one queue.
package struct SubtitleImageDecoder: ~Copyable, Sendable {
    private let decoder: SubtitleDecoder

    private init(_ decoder: consuming SubtitleDecoder) { self.decoder = decoder }

    /// Maximum number of pixels of a display.
    private static let maxPixels = 8192 * 8192

    /// Returns whether a codec's subtitles are bitmaps that can be decoded (`AV_CODEC_PROP_BITMAP_SUB`).
    package static func canDecode(_ name: String) -> Bool {
        guard let descriptor = avcodec_descriptor_get_by_name(name),
            descriptor.pointee.props & AV_CODEC_PROP_BITMAP_SUB != 0,
            let decoder = avcodec_find_decoder(descriptor.pointee.id)
        else { return false }
        return InputLimits.uses(decoder)
    }

    /// Opens the decoder of a track. Throws if it isn't available.
    package static func open(
        _ source: CodecParameters, timeBase: Rational
    ) throws(AVError) -> SubtitleImageDecoder {
        SubtitleImageDecoder(try SubtitleDecoder.open(source, timeBase: timeBase, isStrict: true))
    }

    /// Decodes a packet. Returns nil if it completes no display.
    package func decode(_ packet: borrowing Packet) throws(AVError) -> SubtitleDisplay? {
        let context = decoder.context
        return try decoder.decode(packet) { subtitle throws(AVError) in
            SubtitleDisplay(
                images: try Self.images(of: subtitle), canvasWidth: max(0, Int(context.pointee.width)),
                canvasHeight: max(0, Int(context.pointee.height)),
                start: Int64(subtitle.start_display_time), end: Self.end(of: subtitle))
        }
    }

    /// Returns the milliseconds from the packet's time to the display's end; nil if it is shown until the next packet.
    private static func end(of subtitle: AVSubtitle) -> Int64? {
        let end = subtitle.end_display_time
        return end > subtitle.start_display_time && end < .max ? Int64(end) : nil
    }

    private static func images(of subtitle: AVSubtitle) throws(AVError) -> [SubtitleImage] {
        var images: [SubtitleImage] = []
        var pixels = 0
        for index in 0..<Int(subtitle.num_rects) {
            guard let rect = subtitle.rects[index] else { continue }
            pixels += Int(max(0, rect.pointee.w)) * Int(max(0, rect.pointee.h))
            guard pixels <= maxPixels else {
                throw AVError(
                    code: tandem_einval, operation: "decoding", detail: "the subtitle images are too large")
            }
            if let image = image(rect.pointee) { images.append(image) }
        }
        return images
    }

    /// Returns the pixels of a rectangle, which are indices into a palette; nil if it is empty or invalid.
    private static func image(_ rect: AVSubtitleRect) -> SubtitleImage? {
        let (width, height, stride) = (Int(rect.w), Int(rect.h), Int(rect.linesize.0))
        guard rect.type == SUBTITLE_BITMAP, width > 0, height > 0, width <= 16_384, height <= 16_384,
            stride >= width, let indices = rect.data.0, let palette = rect.data.1
        else { return nil }
        // 32-bit words: alpha, red, green, blue from the most significant byte.
        let count = min(256, max(0, Int(rect.nb_colors)))
        let words = (0..<count).map {
            UnsafeRawPointer(palette).loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)
        }
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        pixels.withUnsafeMutableBufferPointer { pixels in
            var at = 0
            for row in 0..<height {
                let line = indices + row * stride
                for column in 0..<width {
                    let index = Int(line[column])
                    if index < words.count {
                        let word = words[index]
                        pixels[at] = UInt8(truncatingIfNeeded: word >> 16)
                        pixels[at + 1] = UInt8(truncatingIfNeeded: word >> 8)
                        pixels[at + 2] = UInt8(truncatingIfNeeded: word)
                        pixels[at + 3] = UInt8(truncatingIfNeeded: word >> 24)
                    }
                    at += 4
                }
            }
        }
        return SubtitleImage(x: Int(rect.x), y: Int(rect.y), width: width, height: height, pixels: pixels)
    }
}
