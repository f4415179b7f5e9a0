internal import CFFmpeg

/// The codecs for which libavcodec has a descriptor, including those without an encoder or a decoder.
package enum CodecNames {
    /// Returns whether libavcodec has a descriptor for a codec.
    package static func isCodec(_ name: String) -> Bool { avcodec_descriptor_get_by_name(name) != nil }

    package static let all: [String] = {
        var names: [String] = []
        var descriptor: UnsafePointer<AVCodecDescriptor>?
        while let next = avcodec_descriptor_next(descriptor) {
            names.append(String(cString: next.pointee.name))
            descriptor = next
        }
        return names
    }()

    /// Returns the bits per sample of a codec with fixed-size samples; 0 for others (`av_get_exact_bits_per_sample`).
    package static func bitsPerSample(of name: String) -> Int {
        avcodec_descriptor_get_by_name(name).map { Int(av_get_exact_bits_per_sample($0.pointee.id)) } ?? 0
    }

    /// Names of the codecs that this build can decode with allowed decoders.
    package static let decodable = all.filter { name in
        guard let descriptor = avcodec_descriptor_get_by_name(name),
            let decoder = avcodec_find_decoder(descriptor.pointee.id)
        else { return false }
        let isTimed = [AVMEDIA_TYPE_VIDEO, AVMEDIA_TYPE_AUDIO].contains(descriptor.pointee.type)
        return !isTimed || InputLimits.uses(decoder)
    }
}
