internal import LibAV
internal import Media
internal import Publishing

/// A writer of consecutive parts of an output's file. Each part is read back after it is written. Confined to one queue
/// at a time.
final class PartWriter {
    private let file: TemporaryFile
    private var end: Int64 = 0
    /// Offsets and lengths of the parts.
    private(set) var parts: [TemporaryFile.Part] = []

    init(_ file: TemporaryFile) { self.file = file }

    /// Encodes a frame and appends it as a part.
    func append(_ frame: borrowing Frame, with encoder: StillImageEncoder) throws {
        try encoder.encode(frame) { bytes in
            try append(bytes) { encoder.problem(in: $0) }
        }
    }

    /// Appends bytes as a part.
    func append(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { whole in
            try append(whole) { $0 == bytes ? nil : "its content differs" }
        }
    }

    /// Registers the complete file, which was written elsewhere, as the only part. `check` returns the reason if the
    /// file is invalid.
    func adoptFile(_ check: () throws -> String?) throws {
        if let problem = try check() {
            throw MediaError.internalError("the written data can't be read back: \(problem)")
        }
        end = file.size
        parts = [TemporaryFile.Part(offset: 0, length: end)]
    }

    /// Adds the previous part again, without writing it.
    func repeatLast() {
        if let last = parts.last { parts.append(last) }
    }

    private func append(_ bytes: UnsafeRawBufferPointer, check: ([UInt8]) -> String?) throws {
        let part = TemporaryFile.Part(offset: end, length: Int64(bytes.count))
        try file.write(bytes, at: end)
        if let problem = check(try file.bytes(of: part)) {
            throw MediaError.internalError("the written data can't be read back: \(problem)")
        }
        end += part.length
        parts.append(part)
    }
}
