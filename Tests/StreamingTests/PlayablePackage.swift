import Foundation
import LibAV
import Media
import Streaming
import TestSupport

/// A package of segments that ffmpeg encoded, in a temporary folder.
struct PlayablePackage {
    let scratch: Scratch
    let package: StreamingPackage
    /// Unsegmented files of the renditions by id.
    let sources: [String: String]

    /// Encodes a video of 6.006 s with a keyframe every 2.002 s, audio, and subtitles, and writes all files of a package.
    init(files: PackageFiles) throws {
        scratch = try Scratch()
        let fragments = ["-movflags", "cmaf+delay_moov+skip_trailer+frag_keyframe"]
        let video = scratch.file("video-source.mp4")
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=30000/1001", "-frames:v", "180", "-c:v", "libx264"]
                + ["-g", "60", "-sc_threshold", "0", "-bf", "0", "-pix_fmt", "yuv420p"] + fragments + [video])
        let audio = scratch.file("audio-source.mp4")
        try ffmpeg(
            ["-f", "lavfi", "-i", "sine=r=48000:d=6", "-ac", "2", "-c:a", "aac"]
                + ["-movflags", "cmaf+delay_moov+skip_trailer", "-frag_duration", "2000000", audio])
        sources = ["video": video, "audio": audio]
        let layout = PackageLayout(files: files)
        var renditions = [
            try Self.rendition(
                "video", of: video,
                kind: .video(.init(width: 320, height: 180, frameRate: Rational(30000, 1001)))),
            try Self.rendition(
                "audio", of: audio, kind: .audio(.init(sampleRate: 48_000, layout: .stereo))),
        ]
        for rendition in renditions {
            try Self.write(rendition, of: sources[rendition.id] ?? "", layout, to: scratch)
        }
        let text = "WEBVTT\n\n00:01.000 --> 00:03.000\nfirst\n\n00:04.000 --> 00:05.000\nsecond\n"
        try scratch.write(text, to: layout.subtitles(of: "text"))
        var segments: [StreamingSegment] = []
        if files == .many {
            let ranges = renditions[0].segments.map { TimeRange(start: $0.start, duration: $0.duration) }
            let divided = try WebVTTDocument(Array(text.utf8)).divided(into: ranges)
            for (index, bytes) in divided.enumerated() {
                try scratch.write(
                    String(decoding: bytes, as: UTF8.self), to: layout.subtitleSegment(index, of: "text"))
                segments.append(
                    StreamingSegment(
                        start: ranges[index].start, duration: ranges[index].duration, size: Int64(bytes.count)
                    ))
            }
        }
        renditions.append(
            StreamingRendition(
                id: "text", kind: .subtitles(.init(fileSize: Int64(text.utf8.count))), codec: nil,
                language: LanguageTag("eng"), timescale: 1000, initializationSize: 0, segments: segments))
        package = StreamingPackage(
            formats: [.hls, .dash], files: files, segmentDuration: MediaTime(value: 2, timescale: 1),
            renditions: renditions)
        for manifest in try package.manifests() { try scratch.write(manifest.text, to: manifest.path) }
    }

    /// Measures the fragments of a file, each of which becomes a segment.
    private static func rendition(
        _ id: String, of path: String, kind: StreamingRendition.Kind
    ) throws -> StreamingRendition {
        let outline = try MovieBoxes(path).outline
        let ends = outline.filter { $0.name == "mdat" }.map(\.end)
        let header = outline.last { $0.name == "moov" }?.end ?? 0
        let starts = [header] + ends.dropLast()
        let file = FFmpegFile(path)
        let scale = Int32(try file.timescale(id == "video" ? "v:0" : "a:0"))
        let packets =
            try file.probe(["-show_entries", "packet=pts,duration,size,pos"])["packets"] as? [[String: Any]]
            ?? []
        let measured = packets.map { packet in
            (
                time: Int64(packet["pts"] as? Int ?? 0), duration: Int64(packet["duration"] as? Int ?? 0),
                position: Int(packet["pos"] as? String ?? "") ?? 0,
                size: Int(packet["size"] as? String ?? "") ?? 0
            )
        }
        let segments = zip(starts, ends).map { start, end in
            let own = measured.filter { (start..<end).contains($0.position) }
            // The edit list hides the audio before time 0.
            let time = max(0, own.map(\.time).min() ?? 0)
            let last = own.map { $0.time + $0.duration }.max() ?? 0
            return StreamingSegment(
                start: MediaTime(value: time, timescale: scale),
                duration: MediaTime(value: last - time, timescale: scale), size: Int64(end - start),
                keyframe: id == "video"
                    ? own.first.map { ByteRange(offset: 0, length: Int64($0.position + $0.size - start)) }
                    : nil)
        }
        let track = try Asset(.file(path)).loadSynchronously().tracks[0]
        return StreamingRendition(
            id: id, kind: kind, codec: CodecString(track.format.parameters),
            language: LanguageTag("eng"), isDefault: true, timescale: scale,
            initializationSize: Int64(header), segments: segments)
    }

    /// Writes the files of a rendition.
    private static func write(
        _ rendition: StreamingRendition, of path: String, _ layout: PackageLayout, to scratch: Scratch
    ) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let header = bytes.prefix(Int(rendition.initializationSize))
        var position = header.count
        let media = rendition.segments.map { segment in
            defer { position += Int(segment.size) }
            return bytes[position..<position + Int(segment.size)]
        }
        func write(_ data: Data, _ name: String) throws {
            try scratch.write("", to: name)
            try data.write(to: URL(fileURLWithPath: scratch.file(name)))
        }
        if layout.files == .single {
            let index = Data(try SegmentIndex(rendition).bytes)
            try write(media.reduce(header + index, +), layout.segment(0, of: rendition.id))
        } else {
            try write(header, layout.initialization(of: rendition.id))
            for (index, data) in media.enumerated() {
                try write(data, layout.segment(index, of: rendition.id))
            }
        }
    }
}
