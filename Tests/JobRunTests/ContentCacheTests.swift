import FileSystem
import Foundation
import JobPlan
import LibAV
import Media
import Publishing
import Streaming
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests the folder of a cache, whose entries may be damaged, foreign or hostile.
@Suite struct ContentCacheTests {
    private let scratch: Scratch
    private let key = CacheKey(String(repeating: "ab", count: 32))!
    private let other = CacheKey(String(repeating: "cd", count: 32))!
    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    init() throws { scratch = try Scratch() }

    private func cache(
        _ mode: ContentCache.Mode = .readWrite, limit: Int64 = 1 << 30, at name: String = "cache"
    ) throws -> ContentCache {
        try ContentCache(path: scratch.file(name), mode: mode, limit: limit)
    }

    private func file(_ bytes: [UInt8] = []) throws -> TemporaryFile {
        let file = try TemporaryFile(destination: scratch.file("output"), in: .anywhere)
        try bytes.withUnsafeBytes { try TemporaryFile.write($0, to: file.descriptor, at: 0) }
        return file
    }

    private func content(_ file: TemporaryFile) throws -> [UInt8] {
        try file.bytes(of: TemporaryFile.Part(offset: 0, length: file.size))
    }

    private func findings(_ loss: String = "a loss") -> OutputFindings { OutputFindings(losses: [loss]) }

    private func store(_ cache: ContentCache, _ key: CacheKey? = nil, _ bytes: [UInt8]? = nil) throws {
        cache.store(
            key ?? self.key, findings(), from: try file(bytes ?? self.bytes), isCancelled: { false })
    }

    /// Returns the bytes and losses that the cache returns for a key; nil if it lacks it. The file is empty in this case.
    private func fetched(_ cache: ContentCache, _ key: CacheKey? = nil) throws -> ([UInt8], [String])? {
        let target = try file()
        guard let found = cache.fetch(key ?? self.key, into: target, isCancelled: { false }) else {
            #expect(target.size == 0)
            return nil
        }
        return (try content(target), found.losses)
    }

    private func entry(_ key: CacheKey? = nil) -> String {
        let text = (key ?? self.key).text
        return scratch.file("cache/v1/\(text.prefix(2))/\(text)")
    }

    // MARK: Entries

    @Test func storedOutputsAreReturnedWithTheirFindings() throws {
        let cache = try cache()
        #expect(try fetched(cache) == nil)
        try store(cache)
        let found = try #require(try fetched(try self.cache(.read)))
        #expect(found.0 == bytes && found.1 == ["a loss"])
        #expect(try fetched(cache, other) == nil)
        #expect(cache.tally == ContentCache.Tally(used: 0, stored: 1, refused: 0, problem: nil))
        #expect(scratch.contents.filter { $0.hasPrefix("cache/v1/ab/") } == ["cache/v1/ab/\(key.text)"])
    }

    @Test func storedAgain_replacesTheEntry() throws {
        let cache = try cache()
        try store(cache)
        try store(cache, key, [1, 2, 3])
        #expect(try fetched(cache)?.0 == [1, 2, 3])
    }

    /// Every truncation and every changed byte of an entry is noticed, and the entry is removed.
    @Test func damagedEntriesAreNotUsed() throws {
        let cache = try cache()
        try store(cache, key, Array(bytes.prefix(200)))
        let whole = try Data(contentsOf: URL(filePath: entry()))
        var damaged: [Data] = (0..<whole.count).map { whole.prefix($0) } + [whole + [0]]
        for index in whole.indices {
            for bit in [0, 5] {
                var changed = whole
                changed[index] ^= 1 << UInt8(bit)
                damaged.append(changed)
            }
        }
        for (number, data) in damaged.enumerated() {
            try data.write(to: URL(filePath: entry()))
            #expect(try fetched(cache) == nil, "damage \(number)")
            #expect(!FileManager.default.fileExists(atPath: entry()))
        }
        #expect(cache.tally.refused == damaged.count)
        try whole.write(to: URL(filePath: entry()))
        #expect(try fetched(cache)?.0.count == 200)
    }

    /// Random bytes and random changes of several bytes never lead to other bytes than the stored ones.
    @Test func randomEntriesAreNotUsed() throws {
        let cache = try cache()
        try store(cache, key, Array(bytes.prefix(100)))
        let whole = try Data(contentsOf: URL(filePath: entry()))
        var random = SeededGenerator(7)
        for _ in 0..<2000 {
            var data = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<data.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: data[place] = UInt8.random(in: 0...255, using: &random)
                case 1: data.removeSubrange(place...min(place + 3, data.count - 1))
                default: data.insert(contentsOf: [0x30, 0x7b, 0x22], at: place)
                }
                if data.isEmpty { data = Data([0]) }
            }
            guard data != whole else { continue }
            try data.write(to: URL(filePath: entry()))
            #expect(try fetched(cache) == nil)
        }
    }

    @Test func entryOfAnotherKeyIsNotUsed() throws {
        let cache = try cache()
        try store(cache)
        try FileManager.default.createDirectory(
            atPath: (entry(other) as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: entry(), toPath: entry(other))
        #expect(try fetched(cache, other) == nil)
        #expect(cache.tally.refused == 1)
    }

    @Test func linksFoldersAndPipesAreNotUsed() throws {
        let cache = try cache()
        try store(cache)
        let moved = scratch.file("moved")
        try FileManager.default.moveItem(atPath: entry(), toPath: moved)
        try FileManager.default.createSymbolicLink(atPath: entry(), withDestinationPath: moved)
        #expect(try fetched(cache) == nil)
        unlink(entry())
        mkfifo(entry(), 0o600)
        #expect(try fetched(cache) == nil)
        unlink(entry())
        mkdir(entry(), 0o700)
        #expect(try fetched(cache) == nil)
        #expect(FileManager.default.fileExists(atPath: moved))
    }

    @Test func cancelled_leavesTheFileEmptyAndStoresNothing() throws {
        let cache = try cache()
        cache.store(key, findings(), from: try file(bytes), isCancelled: { true })
        #expect(cache.tally == ContentCache.Tally())
        try store(cache)
        let target = try file()
        #expect(cache.fetch(key, into: target, isCancelled: { true }) == nil)
        #expect(target.size == 0 && cache.tally.refused == 0)
        #expect(try fetched(cache) != nil)
    }

    /// The segments of a rendition must be the whole file, one after the other in the file and in time.
    @Test func segmentsAreThePartsOfTheFile() {
        func part(_ offset: Int64, _ length: Int64) -> TemporaryFile.Part {
            TemporaryFile.Part(offset: offset, length: length)
        }
        func rendition(_ starts: [Int64] = [0, 1], initialization: Int64 = 10) -> StreamingRendition {
            StreamingRendition(
                id: "a", kind: .audio(.init(sampleRate: 48_000, layout: .stereo)), codec: nil, timescale: 1,
                initializationSize: initialization,
                segments: starts.map {
                    StreamingSegment(
                        start: MediaTime(value: $0, timescale: 1),
                        duration: MediaTime(value: 1, timescale: 1),
                        size: 20)
                })
        }
        let whole = [part(0, 10), part(10, 20), part(30, 20)]
        #expect(rendition().consists(of: whole, size: 50))
        #expect(rendition(initialization: 0).consists(of: [part(0, 20), part(20, 20)], size: 40))
        #expect(!rendition().consists(of: whole, size: 51))
        #expect(!rendition().consists(of: Array(whole.prefix(2)), size: 30))
        #expect(!rendition([0]).consists(of: whole, size: 50))
        #expect(!rendition([1, 0]).consists(of: whole, size: 50))
        #expect(!rendition(initialization: 0).consists(of: whole, size: 50))
        #expect(!rendition().consists(of: [part(0, 10), part(10, 20), part(10, 20)], size: 50))
        #expect(!rendition().consists(of: [part(0, 10), part(30, 20), part(10, 20)], size: 50))
    }

    // MARK: Access

    @Test func read_writesNothing() throws {
        let missing = try cache(.read)
        #expect(try fetched(missing) == nil)
        try store(missing)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("cache")))
        try store(try cache())
        var data = try Data(contentsOf: URL(filePath: entry()))
        data.removeLast()
        try data.write(to: URL(filePath: entry()))
        let reading = try cache(.read)
        #expect(try fetched(reading) == nil)
        #expect(reading.tally.refused == 1 && FileManager.default.fileExists(atPath: entry()))
    }

    @Test func placeThatIsNoFolder_isAnError() throws {
        try scratch.write("text", to: "file")
        #expect(throws: SystemError.self) { try cache(at: "file") }
        #expect(throws: SystemError.self) { try cache(at: "file/cache") }
        #expect(throws: SystemError.self) { try cache(.read, at: "file") }
    }

    /// A failure that concerns one entry: others are stored.
    @Test func entryThatCannotBeWritten_isReported() throws {
        let cache = try cache()
        try Data().write(to: URL(filePath: scratch.file("cache/v1/ab")))
        try store(cache)
        #expect(cache.tally.problem?.isEmpty == false && cache.isWritable)
        try store(cache, other)
        #expect(cache.tally.stored == 1)
        #expect(try fetched(cache, other) != nil)
    }

    // MARK: Size

    @Test func reduce_removesTheEntriesThatWereUnusedForTheLongestTime() throws {
        let cache = try cache()
        let keys = (0..<4).map { CacheKey(String(repeating: "\($0)a", count: 32))! }
        for (age, key) in keys.enumerated() {
            try store(cache, key)
            var times = [timeval(tv_sec: 1000 + age, tv_usec: 0), timeval(tv_sec: 1000 + age, tv_usec: 0)]
            utimes(entry(key), &times)
        }
        // The oldest one is used.
        #expect(try fetched(cache, keys[0]) != nil)
        try self.cache(limit: 1_000_000).reduce()
        // 1,200 kB are reduced to at most 900 kB.
        let left = try keys.filter { try fetched(cache, $0) != nil }
        #expect(left == [keys[0], keys[3]])
        let size = try left.reduce(0) { try $0 + Data(contentsOf: URL(filePath: entry($1))).count }
        #expect(size <= 900_000)
    }

    /// Sizes whose sum can't be represented, and files that are no entries.
    @Test func reduce_acceptsAnyFolder() throws {
        let cache = try cache()
        try store(cache)
        for name in ["00", String(repeating: "0", count: 64), String(repeating: "1", count: 64)] {
            mkdir(scratch.file("cache/v1/zz"), 0o755)
            let path = scratch.file("cache/v1/zz/\(name)")
            try Data().write(to: URL(filePath: path))
            // Not every file system has such sizes.
            _ = truncate(path, off_t(Int64.max / 2 + 1))
        }
        mkdir(scratch.file("cache/v1/zz/" + String(repeating: "2", count: 64)), 0o755)
        cache.reduce()
        #expect(FileManager.default.fileExists(atPath: scratch.file("cache/v1/zz/00")))
    }

    /// The limit applies during a run as well.
    @Test func storing_reducesTheCache() throws {
        let cache = try cache(limit: 1_000_000)
        for digit in "0123456789" { try store(cache, CacheKey(String(repeating: "\(digit)a", count: 32))!) }
        let entries = scratch.contents.filter { $0.split(separator: "/").count == 4 }
        #expect((1...3).contains(entries.count), "\(entries)")
    }

    @Test func outputLargerThanTheLimit_isNeitherStoredNorTaken() throws {
        let small = try cache(limit: 1000)
        try store(small)
        #expect(small.tally == ContentCache.Tally())
        try store(try cache())
        #expect(try fetched(small) == nil && small.tally.refused == 0)
        #expect(try fetched(try cache()) != nil)
    }
}
