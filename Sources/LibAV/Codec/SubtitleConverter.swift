internal import CFFmpeg

/// A converter of text subtitles with a decoder and an encoder (`avcodec_decode_subtitle2`,
/// `avcodec_encode_subtitle`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct SubtitleConverter: ~Copyable, @unchecked Sendable {
    private let decoder: SubtitleDecoder
    private let encoder: UnsafeMutablePointer<AVCodecContext>
    /// Codec parameters of the output, for the muxer.
    package let parameters: CodecParameters

    private init(
        decoder: consuming SubtitleDecoder, encoder: UnsafeMutablePointer<AVCodecContext>,
        parameters: CodecParameters
    ) {
        self.decoder = decoder
        self.encoder = encoder
        self.parameters = parameters
    }

    deinit { freeCodec(encoder) }

    /// Returns whether a codec's subtitles are text and not bitmaps (`AV_CODEC_PROP_TEXT_SUB`).
    package static func isText(codec name: String) -> Bool {
        guard let descriptor = avcodec_descriptor_get_by_name(name) else { return false }
        return descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0
    }

    /// Opens the decoder of the source and the encoder `encoderName`. Throws if either isn't available.
    package static func open(_ source: CodecParameters, timeBase: Rational, to encoderName: String)
        throws(AVError) -> SubtitleConverter
    {
        let decoder = try SubtitleDecoder.open(source, timeBase: timeBase, isStrict: false)
        guard let target = avcodec_find_encoder_by_name(encoderName) else {
            throw AVError(
                code: tandem_einval, operation: "avcodec_find_encoder_by_name",
                detail: "the encoder \(encoderName) is not available in this build")
        }
        let encoder = try allocateCodec(target)
        let parameters: CodecParameters
        do throws(AVError) {
            let source = decoder.context
            encoder.pointee.time_base = AVRational(num: 1, den: 1000)
            // The decoder's ASS header, which contains the styles, is copied to the encoder.
            if let header = source.pointee.subtitle_header, source.pointee.subtitle_header_size > 0 {
                let size = Int(source.pointee.subtitle_header_size)
                guard let copy = av_mallocz(size + 1) else { throw .outOfMemory("av_mallocz") }
                copy.copyMemory(from: header, byteCount: size)
                encoder.pointee.subtitle_header = copy.assumingMemoryBound(to: UInt8.self)
                encoder.pointee.subtitle_header_size = Int32(size)
            }
            try check(avcodec_open2(encoder, target, nil), "avcodec_open2", context: encoder)
            parameters = try CodecParameters(context: encoder)
        } catch {
            freeCodec(encoder)
            throw error
        }
        return SubtitleConverter(decoder: decoder, encoder: encoder, parameters: parameters)
    }

    /// Applies a change to the text of the decoded ASS events before they are encoded.
    private func rewrite(_ subtitle: inout AVSubtitle, _ change: (String) -> String) throws(AVError) {
        for index in 0..<Int(subtitle.num_rects) {
            guard let rect = subtitle.rects[index], let ass = rect.pointee.ass else { continue }
            let text = String(cString: ass)
            let changed = change(text)
            guard changed != text else { continue }
            guard let copy = av_strdup(changed) else { throw .outOfMemory("av_strdup") }
            av_free(ass)
            rect.pointee.ass = copy
        }
    }

    /// Escapes `&`, `<` and `>`, which libavcodec writes unchanged although they have a meaning in WebVTT. The
    /// formatting of the source consists of ASS override codes at this point.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// Replaces `\h`, a non-breaking space, which libavcodec converts only for ASS.
    private static func withHardSpaces(_ text: String) -> String { text.replacing("\\h", with: "\u{a0}") }

    /// Maximum size of an encoded event in bytes.
    private static let limit = 1 << 20

    /// Converts a subtitle event. Returns nil if the packet contains no event.
    package func convert(_ packet: borrowing Packet) throws(AVError) -> [UInt8]? {
        let limit = min(Self.limit, 4096 + packet.size * 16)
        return try decoder.decode(packet) { subtitle throws(AVError) in
            try encode(&subtitle, limit: limit)
        } ?? nil
    }

    /// Encodes an event; nil if it is empty. `limit`: maximum size in bytes.
    private func encode(_ subtitle: inout AVSubtitle, limit: Int) throws(AVError) -> [UInt8]? {
        guard subtitle.num_rects > 0 else { return nil }
        subtitle.start_display_time = 0
        if encoder.pointee.codec_id == AV_CODEC_ID_WEBVTT { try rewrite(&subtitle, Self.escaped) }
        if encoder.pointee.codec_id != AV_CODEC_ID_ASS { try rewrite(&subtitle, Self.withHardSpaces) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = bytes.withUnsafeMutableBufferPointer {
            avcodec_encode_subtitle(encoder, $0.baseAddress, Int32(clamping: $0.count), &subtitle)
        }
        try check(count, "encoding", context: encoder)
        return Array(bytes.prefix(Int(count)))
    }
}
