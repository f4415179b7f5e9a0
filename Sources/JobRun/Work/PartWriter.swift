internal import LibAV
internal import Media
internal import Publishing

/// The pieces of an output's file, in sequence, each read back after it is written. Confined to one queue at
/// a time.
final class PartWriter {
    private let file: TemporaryFile
    private var end: Int64 = 0
    /// Offsets and lengths of the pieces.
    private(set) var parts: [TemporaryFile.Part] = []

    init(_ file: TemporaryFile) { self.file = file }

    /// Encodes a frame and appends it.
    func append(_ frame: borrowing Frame, with encoder: StillImageEncoder) throws {
        try encoder.encode(frame) { bytes in
            try append(bytes) { encoder.problem(in: $0) }
        }
    }

    /// Appends bytes as a piece.
    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { whole in
            try append(whole) { $0 == bytes ? nil : "its content differs" }
        }
    }

    /// Adopts a file that was written as a whole as the only piece. `check` returns the reason if it is
    /// invalid.
    func adoptFile(_ check: () throws -> String?) throws {
        if let problem = try check() {
            throw MediaError.misuse("the written data can't be read back: \(problem)")
        }
        end = file.size
        parts = [TemporaryFile.Part(offset: 0, length: end)]
    }

    /// Adds the previous piece again, without writing it.
    func repeatLast() {
        if let last = parts.last { parts.append(last) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, check: ([UInt8]) -> String?) throws {
        let part = TemporaryFile.Part(offset: end, length: Int64(bytes.count))
        try file.write(bytes, at: end)
        if let problem = check(try file.bytes(of: part)) {
            throw MediaError.misuse("the written data can't be read back: \(problem)")
        }
        end += part.length
        parts.append(part)
    }
}
