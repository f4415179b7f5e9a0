internal import CFFmpeg
internal import FileSystem

/// The bytes of a package's part: sections of files, one after the other. Files are opened when they are read, and two at
/// most are open at a time.
final class SegmentedSource: ByteSource {
    private let package: SegmentedPackage
    private let sections: [SegmentedPackage.Section]
    /// Position behind each section.
    private let ends: [Int64]
    private let open: (_ path: String) throws(InputError) -> FileSource
    /// The files that were read last, by their indices.
    private var files: [(index: Int, source: FileSource)] = []
    /// Index of the section that was read last.
    private var current = 0
    private(set) var failure: AVError?

    /// Creates the source of a part. `open` opens the file at an absolute path.
    init(
        _ package: SegmentedPackage, part: Int,
        open: @escaping (_ path: String) throws(InputError) -> FileSource
    ) {
        self.package = package
        self.open = open
        sections = package.parts[part].sections
        var end: Int64 = 0
        ends = sections.map { section in
            end = end.adding(upToLimit: section.length)
            return end
        }
    }

    var size: Int64 { ends.last ?? 0 }

    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int {
        guard offset >= 0, offset < size, !buffer.isEmpty else { return 0 }
        let index = index(at: offset)
        let section = sections[index]
        let position = offset - (ends[index] - section.length)
        let count = Int(min(Int64(buffer.count), section.length - position))
        do throws(AVError) {
            let received = try file(section.file).read(
                at: section.offset + position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            )
            // The file became shorter since its size was determined.
            guard received > 0 else {
                throw AVError(
                    code: tandem_eio, operation: "pread",
                    detail: "\(package.files[section.file]) is too short")
            }
            return received
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    /// Returns the index of the section that contains a position.
    private func index(at offset: Int64) -> Int {
        for index in [current, current + 1] where sections.indices.contains(index) {
            if offset < ends[index], offset >= ends[index] - sections[index].length {
                current = index
                return index
            }
        }
        var (low, high) = (0, sections.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > offset { high = middle } else { low = middle + 1 }
        }
        current = low
        return low
    }

    private func file(_ index: Int) throws(AVError) -> FileSource {
        if let known = files.first(where: { $0.index == index }) { return known.source }
        let opened: FileSource
        do throws(InputError) {
            opened = try open(package.path(of: index))
        } catch {
            throw AVError(
                code: tandem_eio, operation: "open", detail: "\(package.files[index]): \(error.explanation)")
        }
        if files.count >= 2 { files.removeFirst() }
        files.append((index, opened))
        return opened
    }
}
