internal import Foundation

/// Boxes of an mp4 or mov file that ffprobe doesn't report.
public struct MovieBoxes {
    private let data: [UInt8]

    /// Reads the file at `path` completely.
    public init(_ path: String) throws {
        data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func u32(_ at: Int) -> Int { (0..<4).reduce(0) { $0 << 8 | Int(data[at + $1]) } }
    private func u64(_ at: Int) -> Int { u32(at) << 32 | u32(at + 4) }

    private func boxes(_ range: Range<Int>) -> [(name: String, body: Range<Int>)] {
        var (at, found) = (range.lowerBound, [(String, Range<Int>)]())
        while at + 8 <= range.upperBound {
            var (size, head) = (u32(at), 8)
            if size == 1 { (size, head) = (u64(at + 8), 16) }
            if size < head || at + size > range.upperBound { break }
            found.append(
                (String(decoding: data[(at + 4)..<(at + 8)], as: UTF8.self), (at + head)..<(at + size)))
            at += size
        }
        return found
    }

    private func child(_ name: String, _ range: Range<Int>) -> Range<Int>? {
        boxes(range).first { $0.name == name }?.body
    }

    /// Names and end offsets of the top-level boxes, in order.
    public var outline: [(name: String, end: Int)] {
        boxes(0..<data.count).map { ($0.name, $0.body.upperBound) }
    }

    /// The summary of an edit list.
    public struct Edit {
        /// Duration of empty edits in seconds.
        public var empty = 0.0
        /// Duration of media edits in seconds.
        public var media = 0.0
        /// Start of the first media edit, in seconds of media time.
        public var start = 0.0
    }

    /// The edit list of each track in file order; nil for tracks without one.
    public var edits: [Edit?] {
        guard let movie = child("moov", 0..<data.count), let header = child("mvhd", movie) else { return [] }
        let scale = timescale(header)
        return boxes(movie).filter { $0.name == "trak" }.map { _, track in
            guard let edits = child("edts", track).flatMap({ child("elst", $0) }),
                let unit = child("mdia", track).flatMap({ child("mdhd", $0) }).map(timescale)
            else { return nil }
            let long = data[edits.lowerBound] == 1
            var edit = Edit()
            for i in 0..<u32(edits.lowerBound + 4) {
                let at = edits.lowerBound + 8 + i * (long ? 20 : 12)
                let duration = Double(long ? u64(at) : u32(at)) / scale
                let start = long ? u64(at + 8) : Int(Int32(truncatingIfNeeded: u32(at + 4)))
                if start < 0 {
                    edit.empty += duration
                } else {
                    if edit.media == 0 { edit.start = Double(start) / unit }
                    edit.media += duration
                }
            }
            return edit
        }
    }

    /// The empty and media durations of each track's edit list in file order, in seconds; nil for tracks without one.
    public var editDurations: [(empty: Double, media: Double)?] {
        edits.map { $0.map { ($0.empty, $0.media) } }
    }

    /// Returns the time scale in `mvhd` or `mdhd`.
    private func timescale(_ header: Range<Int>) -> Double {
        Double(u32(header.lowerBound + (data[header.lowerBound] == 1 ? 20 : 12)))
    }

    /// Returns the start times of a track's fragments (`tfdt`), in the track's time scale.
    public func fragmentStarts(trackID: Int) -> [Int] {
        boxes(0..<data.count).filter { $0.name == "moof" }.flatMap { moof in
            boxes(moof.body).filter { $0.name == "traf" }.compactMap { fragment in
                guard let head = child("tfhd", fragment.body), u32(head.lowerBound + 4) == trackID,
                    let time = child("tfdt", fragment.body)
                else { return nil }
                return data[time.lowerBound] == 1 ? u64(time.lowerBound + 4) : u32(time.lowerBound + 4)
            }
        }
    }

    /// Returns the boxes of the first visual sample entry of a track.
    public func sampleEntryBoxes(track: Int) -> [(name: String, body: [UInt8])] {
        guard let movie = child("moov", 0..<data.count) else { return [] }
        let tracks = boxes(movie).filter { $0.name == "trak" }
        guard
            let table = ["mdia", "minf", "stbl", "stsd"].reduce(
                Optional(tracks[track].body),
                { range, name in
                    range.flatMap { child(name, $0) }
                }), let entry = boxes((table.lowerBound + 8)..<table.upperBound).first
        else { return [] }
        return boxes((entry.body.lowerBound + 78)..<entry.body.upperBound).map {
            ($0.name, Array(data[$0.body]))
        }
    }

    /// Returns the sum of the sample durations in each fragment of a track, in the track's time scale.
    public func fragmentDurations(trackID: Int) -> [Int] {
        boxes(0..<data.count).filter { $0.name == "moof" }.flatMap { moof in
            boxes(moof.body).filter { $0.name == "traf" }.compactMap { fragment -> Int? in
                guard let head = child("tfhd", fragment.body), u32(head.lowerBound + 4) == trackID else {
                    return nil
                }
                let flags = u32(head.lowerBound) & 0xff_ffff
                var at = head.lowerBound + 8
                for (flag, size) in [(1, 8), (2, 4)] where flags & flag != 0 { at += size }
                let defaultDuration = flags & 8 != 0 ? u32(at) : 0
                return boxes(fragment.body).filter { $0.name == "trun" }.reduce(0) { sum, run in
                    let flags = u32(run.body.lowerBound) & 0xff_ffff
                    let count = u32(run.body.lowerBound + 4)
                    guard flags & 0x100 != 0 else { return sum + count * defaultDuration }
                    var at = run.body.lowerBound + 8
                    for flag in [0x1, 0x4] where flags & flag != 0 { at += 4 }
                    let size = 4 * [0x100, 0x200, 0x400, 0x800].filter { flags & $0 != 0 }.count
                    return sum + (0..<count).reduce(0) { $0 + u32(at + $1 * size) }
                }
            }
        }
    }

    /// Returns the offset of the duration in a track's last edit, and the movie's time scale.
    public func lastEditOffset(track: Int) -> (offset: Int, timescale: Int)? {
        guard let movie = child("moov", 0..<data.count), let header = child("mvhd", movie) else { return nil }
        let tracks = boxes(movie).filter { $0.name == "trak" }
        guard let edits = child("edts", tracks[track].body).flatMap({ child("elst", $0) }),
            data[edits.lowerBound] == 0
        else { return nil }
        let last = u32(edits.lowerBound + 4) - 1
        return (edits.lowerBound + 8 + last * 12, u32(header.lowerBound + 12))
    }
}
