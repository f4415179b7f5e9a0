internal import Glibc
internal import LibAV
internal import FileSystem

/// Corrects tracks of a finished mp4 or mov file in cases that libavformat 5.1 doesn't handle: a track with both a late
/// start and an encoder delay, the end of a track in a fragmented file, and the codec tag of HEVC with parameter sets
/// in packets. The muxer's entries are overwritten in place, with the same size.
struct MoviePatcher {
    /// Delay of the track's start, and the encoder delay, in the movie's time scale. The muxer wrote an edit list with
    /// an empty edit and an edit of the entire media.
    var start: (delay: Int64, padding: Int64)?
    /// End of the track on the movie's time line, in the movie's time scale. The muxer writes it only without
    /// fragments; with fragments it writes 0, which means to the end.
    var end: Int64?
    /// End of the presented frames on the movie's time line, if frames follow that are only decoded.
    var shownEnd: Int64?

    /// Whether HEVC packets contain parameter sets that the sample entry lacks: the sample entry becomes `hev1`, with a
    /// configuration record that isn't marked as complete.
    var hasInBandSets = false

    /// Time scale of the track's media, in units per second.
    let mediaTimescale: Int64

    init(mediaTimescale: Int64) { self.mediaTimescale = mediaTimescale }

    /// Corrects a file's tracks; `patches` must be in track order.
    static func apply(_ patches: [MoviePatcher], to descriptor: Int32) throws {
        guard patches.contains(where: { $0.isNeeded }) else { return }
        guard let source = FileSource(borrowing: descriptor), var movie = MovieInspector(source) else {
            throw MediaError.internalError("the output has no edit list to correct")
        }
        for (index, patch) in patches.enumerated() where patch.isNeeded {
            guard index < movie.tracks.count else {
                throw MediaError.internalError("the output has no edit list to correct")
            }
            try patch.apply(to: &movie.tracks[index], of: movie, descriptor: descriptor)
            if patch.hasInBandSets {
                try markInBandSets(of: movie.tracks[index], source) { bytes, offset in
                    try write(bytes, at: offset, to: descriptor)
                }
            }
        }
        guard patches.contains(where: { $0.shownEnd != nil }), let whole = movie.duration else { return }
        let longest = movie.tracks.compactMap(\.duration?.value).max() ?? whole.value
        try write(big(longest, whole.size), at: whole.offset, to: descriptor)
    }

    /// Writes the boxes of sample entries in place of the color boxes that the muxer wrote. `write` receives bytes and
    /// their offset.
    static func apply(
        _ boxes: [SampleEntryBoxes?], to source: any ByteSource, write: ([UInt8], Int64) throws -> Void
    ) throws {
        guard boxes.contains(where: { $0 != nil }) else { return }
        guard let movie = MovieInspector(source) else {
            throw MediaError.internalError("the output has no sample entry to correct")
        }
        for (index, own) in boxes.enumerated() {
            guard let own else { continue }
            guard index < movie.tracks.count, let box = movie.tracks[index].colorBox,
                box.size == own.bytes.count
            else { throw MediaError.internalError("the output has no sample entry to correct") }
            try write(own.bytes, box.offset)
        }
    }

    private var isNeeded: Bool { changesEdits || hasInBandSets }
    private var changesEdits: Bool { start != nil || end != nil || shownEnd != nil }

    /// Changes the sample entries of some tracks, given by their indices, to those of HEVC with parameter sets in its
    /// packets. `write` receives bytes and their offset.
    static func markInBandSets(
        of tracks: [Int], in source: any ByteSource, write: ([UInt8], Int64) throws -> Void
    ) throws {
        guard !tracks.isEmpty else { return }
        guard let movie = MovieInspector(source) else {
            throw MediaError.internalError("the output has no sample entry to correct")
        }
        for index in tracks where movie.tracks.indices.contains(index) {
            try markInBandSets(of: movie.tracks[index], source, write: write)
        }
    }

    private static func markInBandSets(
        of track: MovieInspector.Track, _ source: any ByteSource, write: ([UInt8], Int64) throws -> Void
    ) throws {
        guard let tag = track.codecTagOffset, let at = track.hevcRecordOffset,
            let count = source.bytes(at: at - 8, 4).map({
                Int($0[0]) << 24 | Int($0[1]) << 16 | Int($0[2]) << 8 | Int($0[3])
            }),
            count > 8, let record = source.bytes(at: at, count - 8), let headers = HEVCHeaders(record)
        else { throw MediaError.internalError("the output has no sample entry to correct") }
        try write(headers.configurationRecord, at)
        try write(Array(HEVCSampleEntry.inBandTag.utf8), tag)
    }

    private func apply(
        to track: inout MovieInspector.Track, of movie: MovieInspector, descriptor: Int32
    ) throws {
        guard changesEdits else { return }
        var entries = track.edits.map { (duration: Int64(clamping: $0.duration), time: $0.mediaTime) }
        if let start {
            guard entries.count == 2, entries[0].time == -1, entries[1].time == 0,
                end != nil || entries[1].duration >= start.padding
            else { throw MediaError.internalError("the output's edit list is unexpected") }
            let hidden = start.padding * mediaTimescale / Int64(movie.movieTimescale)
            entries = [(start.delay, -1), (entries[1].duration - start.padding, hidden)]
        }
        if let end {
            guard let last = entries.indices.last, entries[last].duration == 0 || start != nil else {
                throw MediaError.internalError("the output's edit list is unexpected")
            }
            let before = entries[..<last].reduce(0) { $0 + $1.duration }
            // If the field is too small for the value, 0 means that the track ends with its packets.
            let isShort = track.editListVersion == 0 && end - before > Int64(UInt32.max)
            entries[last].duration = isShort ? 0 : max(0, end - before)
        }
        if let shownEnd, let last = entries.indices.last {
            let before = entries[..<last].reduce(0) { $0 + $1.duration }
            let duration = max(0, shownEnd - before)
            if entries[last].duration == 0 || entries[last].duration > duration {
                entries[last].duration = duration
            }
            let sum = UInt64(clamping: entries.reduce(0) { $0 + $1.duration })
            if let header = track.duration, sum < header.value {
                try Self.write(Self.big(sum, header.size), at: header.offset, to: descriptor)
                track.duration?.value = sum
            }
        }
        try write(entries, of: track, to: descriptor)
    }

    private func write(
        _ entries: [(duration: Int64, time: Int64)], of track: MovieInspector.Track, to descriptor: Int32
    ) throws {
        guard let offset = track.editListOffset else {
            throw MediaError.internalError("the output has no edit list to correct")
        }
        var bytes: [UInt8] = []
        let size = track.editListVersion == 1 ? 8 : 4
        for (duration, time) in entries {
            bytes += Self.big(UInt64(bitPattern: duration), size) + Self.big(UInt64(bitPattern: time), size)
            bytes += [0, 1, 0, 0]
        }
        try Self.write(bytes, at: offset, to: descriptor)
    }

    static func write(_ bytes: [UInt8], at offset: Int64, to descriptor: Int32) throws {
        guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw SystemError("correcting the index", errno: errno)
        }
    }

    private static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
