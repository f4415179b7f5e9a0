package import LibAV
internal import Locking

/// A file with encoded chunks of a video track, of which any may be missing.
///
/// Unchecked `Sendable`: the source is used by one thread at a time, in `source`.
final class ChunkFile: @unchecked Sendable {
    private static let magic = Array("TNDMCHK1".utf8)

    /// Returns the start of a file. `identity` determines how the frames of all chunks are encoded.
    static func header(identity: String) throws(AVError) -> [UInt8] {
        let checksum = try Checksum()
        Array(identity.utf8).withUnsafeBytes { checksum.add($0) }
        return magic + checksum.finish()
    }

    private struct Entry {
        let record: ChunkRecord
        /// Position of the packets' bytes.
        let position: Int64
    }

    private let entries: [Int: Entry]
    private let source: Guarded<any ByteSource>

    /// Opens a file, and reads where its chunks are. Returns nil for a file of another identity, or that isn't valid.
    init?(_ source: any ByteSource, identity: String) {
        guard let header = try? Self.header(identity: identity), source.bytes(at: 0, header.count) == header
        else { return nil }
        var entries: [Int: Entry] = [:]
        var at = Int64(header.count)
        while at < source.size {
            guard let bytes = source.bytes(at: at, ChunkRecord.headerSize),
                let record = ChunkRecord(header: bytes)
            else { return nil }
            at += Int64(ChunkRecord.headerSize)
            entries[record.index] = Entry(record: record, position: at)
            at += Int64(record.length)
        }
        guard at == source.size else { return nil }
        self.entries = entries
        self.source = Guarded(source)
    }

    /// Returns the chunk with an index; nil if the file doesn't contain it.
    func chunk(_ index: Int) -> StoredChunk? {
        entries[index].map { StoredChunk(file: self, record: $0.record, position: $0.position) }
    }

    fileprivate func bytes(at position: Int64, _ count: Int) -> [UInt8]? {
        source.withLock { $0.bytes(at: position, count) }
    }
}

/// An encoded chunk in a file.
struct StoredChunk {
    fileprivate let file: ChunkFile
    fileprivate let record: ChunkRecord
    fileprivate let position: Int64

    /// Checksum of the frames from which the chunk was encoded.
    var frames: Checksum.Value { record.frames }

    /// Reads the packets; nil if they aren't those of frames with the given presentation times, in increasing order.
    func packets(of times: [Int64]) -> PacketList? {
        guard let bytes = file.bytes(at: position, record.length) else { return nil }
        return record.packets(in: bytes, of: times)
    }
}

/// The encoded chunks of a video track that exist in files. They take the place of encoding if their frames are those that
/// would be encoded; missing and other chunks are encoded.
///
/// Used by one thread at a time.
package final class StoredChunks {
    private let identity: String
    private let files: [(chunks: Range<Int>, path: String)]
    private let environment: SourceEnvironment
    /// The file that was used last; nil for one that can't be used.
    private var current: (position: Int, file: ChunkFile?)?

    /// Creates the chunks. `files`: paths, each with the indices of its chunks. `identity`: that with which they were recorded.
    package init(
        files: [(chunks: Range<Int>, path: String)], identity: String, environment: SourceEnvironment
    ) {
        (self.files, self.identity, self.environment) = (files, identity, environment)
    }

    /// Returns the chunk with an index; nil if there is none.
    func chunk(_ index: Int) -> StoredChunk? {
        guard let position = files.firstIndex(where: { $0.chunks.contains(index) }) else { return nil }
        if current?.position != position {
            let source = try? environment.file(files[position].path)
            current = (position, source.flatMap { ChunkFile($0, identity: identity) })
        }
        return current?.file?.chunk(index)
    }
}
