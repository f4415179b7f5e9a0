internal import Glibc
internal import LibAV

/// Says in a finished mp4 or mov what libavformat 5.1 can't: a track that begins late *and* has an encoder's
/// delay to hide. The muxer writes [empty, everything]; the two entries are rewritten in place, the same size.
struct MovieEditPatch {
    /// Both in the movie's time scale.
    var delay: Int64
    var padding: Int64

    /// Rewrites the edit list of one track, by its position in the file.
    func apply(descriptor: Int32, track position: Int, mediaTimescale: Int64) throws {
        guard let source = FileSource(borrowing: descriptor), let movie = MovieInspector(source),
            position < movie.tracks.count
        else {
            throw MediaError.misuse("the output has no edit list to correct")
        }
        let track = movie.tracks[position]
        guard let offset = track.editListOffset, track.edits.count == 2, track.edits[0].mediaTime == -1,
            track.edits[1].mediaTime == 0, Int64(track.edits[1].duration) >= padding
        else { throw MediaError.misuse("the output's edit list is not what was expected") }
        let scale = Int64(movie.movieTimescale)
        let mediaTime = padding * mediaTimescale / scale
        let entries: [(Int64, Int64)] = [(delay, -1), (Int64(track.edits[1].duration) - padding, mediaTime)]
        var bytes: [UInt8] = []
        for (duration, time) in entries {
            if track.editListVersion == 1 {
                bytes += Self.big(UInt64(bitPattern: duration), 8) + Self.big(UInt64(bitPattern: time), 8)
            } else {
                bytes += Self.big(UInt64(bitPattern: duration), 4) + Self.big(UInt64(bitPattern: time), 4)
            }
            bytes += [0, 1, 0, 0]
        }
        guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw MediaError.system(operation: "writing the edit list", errno: errno)
        }
    }

    private static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
