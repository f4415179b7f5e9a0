internal import LibAV

/// A source of given bytes.
final class BytesSource: MemorySource {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}
