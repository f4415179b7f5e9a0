internal import LibAV

/// Serialization in audiowaveform's data format, version 2.
public enum WaveformFile {
    /// Number of bits of each value.
    public enum Bits: Int, Codable, Sendable {
        /// Values from -128 to 127.
        case eight = 8
        /// Values from -32768 to 32767.
        case sixteen = 16
    }

    /// Returns a sample with the given number of bits; 8-bit values are truncated toward zero, as in audiowaveform.
    private static func value(_ sample: Int16, _ bits: Bits) -> Int {
        bits == .eight ? Int(sample) / 256 : Int(sample)
    }

    /// Returns the data as JSON.
    public static func json(_ data: WaveformData, bits: Bits) -> [UInt8] {
        var text = Array(
            "{\"version\":2,\"channels\":\(data.channels),\"sample_rate\":\(data.sampleRate),\"samples_per_pixel\":\(data.samplesPerPixel),\"bits\":\(bits.rawValue),\"length\":\(data.length),\"data\":["
                .utf8)
        text.reserveCapacity(text.count + data.extremes.count * 5)
        for (index, sample) in data.extremes.enumerated() {
            if index > 0 { text.append(0x2c) }
            text.append(contentsOf: "\(value(sample, bits))".utf8)
        }
        text.append(contentsOf: "]}\n".utf8)
        return text
    }

    /// Returns the data in binary: a header of six 32-bit numbers, then the values, all little-endian.
    public static func dat(_ data: WaveformData, bits: Bits) -> [UInt8] {
        var bytes: [UInt8] = []
        func append<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(Int32(2))
        append(UInt32(bits == .eight ? 1 : 0))
        append(Int32(clamping: data.sampleRate))
        append(Int32(clamping: data.samplesPerPixel))
        append(UInt32(clamping: data.length))
        append(Int32(clamping: data.channels))
        for sample in data.extremes {
            if bits == .eight { append(Int8(value(sample, .eight))) } else { append(sample) }
        }
        return bytes
    }
}
