import Foundation
import TestSupport

/// Sources and playlists of packages.
extension Scratch {
    /// Writes subtitles of two events, from 0.5 s to 3 s and from 4 s to 4.5 s, to `a.srt`.
    func writeSubtitles() throws {
        try write(
            "1\n00:00:00,500 --> 00:00:03,000\nOne\n\n2\n00:00:04,000 --> 00:00:04,500\nTwo\n", to: "a.srt")
    }

    /// Writes a source of 5 s to `a.mp4`: video with B-frames, audio in English and German, and subtitles.
    func writePackageSource(rate: String = "25") throws {
        try writeSubtitles()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=\(rate):duration=5", "-f", "lavfi", "-i",
            "sine=duration=5:sample_rate=48000", "-f", "lavfi", "-i", "sine=frequency=880:duration=5", "-i",
            file("a.srt"), "-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:v", "libx264",
            "-preset", "veryfast", "-bf", "2", "-g", "30", "-c:a", "aac", "-c:s", "mov_text",
            "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", file("a.mp4"))
    }

    /// Returns the lines of a file, without empty ones.
    func lines(_ path: String) throws -> [String] {
        try String(contentsOfFile: file(path), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Returns the texts that follow a tag of a playlist.
    func values(_ tag: String, _ playlist: String) throws -> [String] {
        try lines(playlist).filter { $0.hasPrefix(tag) }.map { String($0.dropFirst(tag.count)) }
    }

    /// Returns the durations of a playlist's segments, in seconds.
    func durations(_ playlist: String) throws -> [Double] {
        try values("#EXTINF:", playlist).compactMap { Double($0.dropLast()) }
    }
}
