internal import CFFmpeg

/// The names of all codecs that libavcodec knows, whether it can encode them or not.
public enum CodecNames {
    /// There is a codec of that name.
    public static func isCodec(_ name: String) -> Bool { avcodec_descriptor_get_by_name(name) != nil }

    /// All names.
    public static let all: [String] = {
        var names: [String] = []
        var descriptor: UnsafePointer<AVCodecDescriptor>?
        while let next = avcodec_descriptor_next(descriptor) {
            names.append(String(cString: next.pointee.name))
            descriptor = next
        }
        return names
    }()

    /// Those that this build decodes.
    public static let decodable = all.filter { name in
        avcodec_descriptor_get_by_name(name).map { avcodec_find_decoder($0.pointee.id) != nil } ?? false
    }
}
