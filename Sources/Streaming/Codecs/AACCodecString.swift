/// `mp4a.40.N`, where N is the audio object type of MPEG-4 audio.
enum AACCodecString {
    /// Returns the string for an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). `profile` is FFmpeg's number, which
    /// declares extensions (SBR, PS) that the configuration doesn't signal. Nil if neither is known.
    static func value(_ configuration: [UInt8], profile: Int?) -> String? {
        // FFmpeg numbers profiles by object types less one: 4 is HE-AAC, 28 is HE-AAC v2.
        let declared = profile.flatMap { (0...94).contains($0) ? $0 + 1 : nil }
        guard let signaled = objectType(of: configuration) else { return declared.map { "mp4a.40.\($0)" } }
        // An AAC LC configuration without signaling allows extensions.
        let isExtended = signaled == 2 && (declared == 5 || declared == 29)
        return "mp4a.40.\(isExtended ? declared ?? signaled : signaled)"
    }

    /// Returns the object type of the outermost decoder that a configuration signals: 5 for SBR, 29 for SBR with PS. Nil if
    /// it is truncated.
    static func objectType(of configuration: [UInt8]) -> Int? {
        // The configuration is a few bytes; a program configuration may have comments.
        var bits = BitReader(configuration.prefix(512))
        guard let type = readObjectType(&bits), readFrequency(&bits), bits.read(4) != nil else { return nil }
        guard type != 0 else { return nil }
        // Hierarchical signaling: the extension comes first.
        if type == 5 || type == 29 { return type }
        // Backward compatible signaling: a sync word behind the core's configuration.
        while bits.remaining >= 16 {
            guard bits.peek(11) == 0x2b7 else {
                _ = bits.read(1)
                continue
            }
            _ = bits.read(11)
            guard readObjectType(&bits) == 5, bits.read(1) == 1, readFrequency(&bits) else { break }
            if bits.read(11) == 0x548, bits.read(1) == 1 { return 29 }
            return 5
        }
        return type
    }

    private static func readObjectType(_ bits: inout BitReader) -> Int? {
        guard let type = bits.read(5) else { return nil }
        return type == 31 ? bits.read(6).map { $0 + 32 } : type
    }

    /// Skips a sampling frequency; returns whether it is complete.
    private static func readFrequency(_ bits: inout BitReader) -> Bool {
        guard let index = bits.read(4) else { return false }
        return index != 15 || bits.read(24) != nil
    }
}

/// A reader of bits, the most significant first.
private struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Number of bits that follow.
    var remaining: Int { bytes.count * 8 - position }

    /// Returns the next bits without consuming them; nil if there are fewer.
    func peek(_ count: Int) -> Int? {
        guard count <= remaining else { return nil }
        var value = 0
        for index in position..<position + count {
            let bit = bytes[index >> 3] >> (7 - UInt8(index & 7)) & 1
            value = value << 1 | Int(bit)
        }
        return value
    }

    /// Returns the next bits; nil if there are fewer.
    mutating func read(_ count: Int) -> Int? {
        guard let value = peek(count) else { return nil }
        position += count
        return value
    }
}
