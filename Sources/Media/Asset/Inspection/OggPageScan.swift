internal import LibAV
internal import Locking

/// Scan of an Ogg file's pages (RFC 3533) for missing or damaged ones, which libavformat doesn't report.
struct OggPageScan {
    /// Whether a page is missing or has a wrong checksum.
    private(set) var isIncomplete = false
    /// Number of pages read.
    private(set) var pages = 0

    /// Reads the pages of a source, up to the first missing or damaged one.
    init(_ source: any ByteSource) {
        var offset: Int64 = 0
        var sequences: [[UInt8]: UInt32] = [:]
        while !isIncomplete, let page = Self.page(of: source, at: offset, isBroken: &isIncomplete) {
            pages += 1
            offset += Int64(page.count)
            let serial = Array(page[14..<18])
            let sequence = (18..<22).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(page[$1]) }
            // In a concatenated file, several streams may have the same serial number, so the sequence restarts with a
            // stream's first page.
            let isFirst = page[5] & 2 != 0
            if !isFirst, let last = sequences[serial], sequence != last &+ 1 { isIncomplete = true }
            sequences[serial] = sequence
        }
    }

    /// Returns the bytes of a page; nil at the end of the file, and if the page is damaged.
    private static func page(of source: any ByteSource, at offset: Int64, isBroken: inout Bool) -> [UInt8]? {
        guard let header = source.bytes(at: offset, 27),
            let table = source.bytes(at: offset + 27, Int(header[26]))
        else { return nil }
        let size = table.reduce(0) { $0 + Int($1) }
        guard let body = source.bytes(at: offset + 27 + Int64(table.count), size) else { return nil }
        let page = header + table + body
        isBroken = !page.starts(with: "OggS".utf8) || !hasRightChecksum(page)
        return isBroken ? nil : page
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { crc, _ in
            crc >> 31 == 1 ? crc << 1 ^ 0x04c1_1db7 : crc << 1
        }
    }

    private static func hasRightChecksum(_ page: [UInt8]) -> Bool {
        var crc: UInt32 = 0
        for (index, byte) in page.enumerated() {
            let value = (22..<26).contains(index) ? 0 : byte
            crc = crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 24) ^ value)]
        }
        return crc == (22..<26).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(page[$1]) }
    }
}

/// Lazy check of an Ogg file for missing pages, which explain gaps in its audio.
final class LostPages: Sendable {
    private let path: String
    private let environment: SourceEnvironment
    private let result = Guarded<Bool?>(nil)

    init(path: String, environment: SourceEnvironment) { (self.path, self.environment) = (path, environment) }

    /// Whether pages are missing; scans the file at the first access.
    var isIncomplete: Bool {
        result.withLock { known in
            if let known { return known }
            let found = (try? environment.open(path, interrupt: InterruptFlag())).map {
                OggPageScan($0).isIncomplete
            }
            known = found ?? false
            return found ?? false
        }
    }
}
