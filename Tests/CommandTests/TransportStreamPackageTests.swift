import Foundation
import TestSupport
import Testing

/// Packages of MPEG transport streams, judged by ffmpeg, ffprobe and the syntax of transport packets.
@Suite struct TransportStreamPackageTests {
    /// Creates a folder with a source `a.mp4` of 5 s: video with B-frames, audio, and subtitles.
    private func folder(rate: String = "25", audio: [String] = ["-c:a", "aac"]) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.writeSubtitles()
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=\(rate):duration=5"]
                + ["-f", "lavfi", "-i", "sine=duration=5:sample_rate=48000", "-i", scratch.file("a.srt")]
                + [
                    "-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-preset", "veryfast", "-bf",
                    "2",
                ]
                + ["-g", "30", "-c:s", "mov_text", "-metadata:s:a:0", "language=eng", "-ac", "2"] + audio
                + [scratch.file("a.mp4")])
        return scratch
    }

    private static let encoder = "codec: h264, preset: ultrafast, crf: 30"
    private static let encoded = [
        "hd: { tracks: [ { video: first, encode: { \(encoder), b_frames: 2 } } ] }",
        "sd: { tracks: [ { video: first, encode: { \(encoder), size: 64x } } ] }",
        "main: { tracks: [ { audio: first, title: Main, encode: { codec: aac } } ] }",
        "text: { tracks: [ { subtitle: first, language: eng, encode: { codec: webvtt } } ] }",
    ]

    private func run(
        _ scratch: Scratch, _ outputs: [String] = encoded, _ package: String = ""
    ) throws {
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                outputs:
            \(outputs.map { "      " + $0 }.joined(separator: "\n"))
                package: { formats: [hls], container: ts, segment: 2s\(package), destination: out }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
    }

    private func lines(_ scratch: Scratch, _ path: String) throws -> [String] {
        try scratch.lines("out/" + path)
    }

    private func values(_ tag: String, _ scratch: Scratch, _ path: String) throws -> [String] {
        try scratch.values(tag, "out/" + path)
    }

    private func durations(_ scratch: Scratch, _ id: String) throws -> [Double] {
        try scratch.durations("out/\(id)/playlist.m3u8")
    }

    /// Returns the segments of a rendition, in one or several files.
    private func segments(_ scratch: Scratch, _ id: String) throws -> [Data] {
        let playlist = try lines(scratch, "\(id)/playlist.m3u8")
        let names = playlist.filter { !$0.hasPrefix("#") }
        let ranges = try values("#EXT-X-BYTERANGE:", scratch, "\(id)/playlist.m3u8")
        return try names.enumerated().map { index, name in
            let file = try Data(contentsOf: URL(fileURLWithPath: scratch.file("out/\(id)/\(name)")))
            guard ranges.indices.contains(index) else { return file }
            let numbers = ranges[index].split(separator: "@").compactMap { Int($0) }
            return Data(file[numbers[1]..<numbers[1] + numbers[0]])
        }
    }

    private func write(_ data: Data, _ scratch: Scratch) throws -> FFmpegFile {
        let path = scratch.file("part.ts")
        try data.write(to: URL(fileURLWithPath: path))
        return FFmpegFile(path)
    }

    /// Returns the times and flags of a file's packets in decoding order, without an offset of the container.
    private func packets(_ file: FFmpegFile) throws -> [(time: Double, isKey: Bool)] {
        let probed = try file.probe(["-show_entries", "packet=pts_time,flags"])
        return (probed["packets"] as? [[String: Any]] ?? []).compactMap { packet in
            guard let time = (packet["pts_time"] as? String).flatMap(Double.init) else { return nil }
            return (time, (packet["flags"] as? String)?.hasPrefix("K") == true)
        }
    }

    /// Checks the tables and the continuity counters of segments one after another.
    private func checkTransportPackets(_ segments: [Data]) {
        var counters: [Int: UInt8] = [:]
        for (number, segment) in segments.enumerated() {
            #expect(segment.count % 188 == 0 && !segment.isEmpty)
            let bytes = [UInt8](segment)
            var identifiers: [Int] = []
            for offset in stride(from: 0, to: bytes.count - 187, by: 188) {
                #expect(bytes[offset] == 0x47)
                let identifier = Int(bytes[offset + 1] & 0x1f) << 8 | Int(bytes[offset + 2])
                identifiers.append(identifier)
                guard bytes[offset + 3] & 0x10 != 0 else { continue }
                let counter = bytes[offset + 3] & 0x0f
                if let earlier = counters[identifier] {
                    #expect(counter == (earlier + 1) & 0x0f, "segment \(number), packet at \(offset)")
                }
                counters[identifier] = counter
            }
            // PAT, PMT, and the packets of the only stream; no other tables.
            #expect(Array(identifiers.prefix(3)) == [0, 0x1000, 0x100], "segment \(number)")
            #expect(Set(identifiers) == [0, 0x1000, 0x100], "segment \(number)")
        }
    }

    @Test(arguments: ["25", "30000/1001"], ["many", "single"])
    func segmentsAreIndependentParts_ofOneTransportStream(rate: String, files: String) throws {
        let scratch = try folder(rate: rate)
        try run(scratch, Self.encoded, ", files: \(files), iframes: true")
        let source = try FFmpegFile(scratch.file("a.mp4")).frames().times
        for id in ["hd", "sd"] {
            #expect(try FFmpegFile(scratch.file("out/\(id)/playlist.m3u8")).decodeErrors() == "", "\(id)")
            let segments = try segments(scratch, id)
            checkTransportPackets(segments)
            let whole = try write(segments.reduce(Data(), +), scratch)
            #expect(try whole.frames().times.count == source.count)
            #expect(try whole.decodeErrors() == "")
            var start = 0.0
            for (segment, duration) in zip(segments, try durations(scratch, id)) {
                let alone = try write(segment, scratch)
                #expect(try alone.decodeErrors() == "")
                let packets = try packets(alone)
                let times = source.filter { $0 > start - 0.001 && $0 < start + duration - 0.001 }
                #expect(packets.count == times.count && packets.first?.isKey == true)
                // Timestamps are times of the playlist plus 1.4 s.
                #expect(abs((packets.map(\.time).min() ?? 0) - 1.4 - start) < 0.0001)
                #expect(abs((packets.first?.time ?? 0) - 1.4 - start) < 0.0001)
                start += duration
            }
        }
        #expect(try durations(scratch, "hd") == durations(scratch, "sd"))
        #expect(try durations(scratch, "hd").count == 3)
    }

    /// Audio follows the video to the nearest packet; its samples have the same times as in the source.
    @Test func audioIsAlignedWithTheVideo() throws {
        let scratch = try folder()
        try run(scratch)
        let segments = try segments(scratch, "main")
        checkTransportPackets(segments)
        let (video, audio) = (try durations(scratch, "hd"), try durations(scratch, "main"))
        #expect(audio.count == 3 && abs(audio[0] - video[0]) < 0.03)
        #expect(abs(audio[0] + audio[1] - video[0] - video[1]) < 0.03)
        var start = 0.0
        for (number, segment) in segments.enumerated() {
            let first = try packets(write(segment, scratch)).first?.time ?? 0
            // The first segment begins with the encoder delay.
            let delay = number == 0 ? 1024.0 / 48_000 : 0
            #expect(abs(first - 1.4 - start + delay) < 0.0001, "segment \(number)")
            start += audio[number]
        }
        // The tone begins at time 0 of the source: behind the encoder delay.
        let samples = try write(segments.reduce(Data(), +), scratch).samples(channels: 1, rate: 48_000)
        let source = try FFmpegFile(scratch.file("a.mp4")).samples(channels: 1, rate: 48_000)
        let shifted = samples.dropFirst(1024)
        let errors = zip(shifted, source).map { abs($0 - $1) }
        #expect(errors.count > 230_000 && (errors.dropFirst(4096).max() ?? 1) < 0.05)
    }

    @Test func playlistsDescribeTheSegments() throws {
        let scratch = try folder()
        try run(scratch, Self.encoded, ", iframes: true")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out/hd")).sorted()
        #expect(names == ["00001.ts", "00002.ts", "00003.ts", "keyframes.m3u8", "playlist.m3u8"])
        let playlist = try lines(scratch, "hd/playlist.m3u8")
        #expect(Array(playlist.prefix(3)) == ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2"])
        #expect(!playlist.contains { $0.hasPrefix("#EXT-X-MAP") })
        let keyframes = try lines(scratch, "hd/keyframes.m3u8")
        #expect(keyframes[1] == "#EXT-X-VERSION:4" && !keyframes.contains { $0.hasPrefix("#EXT-X-MAP") })
        // A keyframe with its tables is decoded alone.
        for (index, range) in try values("#EXT-X-BYTERANGE:", scratch, "hd/keyframes.m3u8").enumerated() {
            let numbers = range.split(separator: "@").compactMap { Int($0) }
            let segment = try segments(scratch, "hd")[index]
            #expect(numbers[1] == 376 && numbers[0] % 188 == 0)
            let alone = try write(Data(segment[..<(numbers[1] + numbers[0])]), scratch)
            #expect(try alone.frameHashes().count == 1 && alone.decodeErrors() == "")
        }
        let master = try lines(scratch, "master.m3u8")
        #expect(Array(master.prefix(3)) == ["#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-INDEPENDENT-SEGMENTS"])
        let streams = master.filter { $0.hasPrefix("#EXT-X-STREAM-INF:") }
        #expect(streams.count == 2 && streams.allSatisfy { $0.contains("CODECS=\"avc1.") })
        #expect(streams.allSatisfy { $0.contains(",mp4a.40.2\"") })
        #expect(master.contains { $0.contains("NAME=\"Main\"") })
        // The bit rate is that of the files.
        let sizes = try ["hd", "main"].map { try segments(scratch, $0).reduce(0) { $0 + $1.count } }
        let rate = Double(sizes.reduce(0, +)) * 8 / 5
        let average = try #require(
            streams.first { $0.contains("128x96") }?.split(separator: ",").compactMap { attribute in
                attribute.hasPrefix("AVERAGE-BANDWIDTH=") ? Double(attribute.dropFirst(18)) : nil
            }.first)
        #expect(average >= rate && average < rate * 1.02)
        let probed = try tandem("probe", "out/master.m3u8", in: scratch)
        #expect(probed.status == 0 && !probed.text.contains("problem"), "\(probed.text)")
    }

    @Test(arguments: ["many", "single"]) func subtitlesReferToTheTimestamps(files: String) throws {
        let scratch = try folder()
        try run(scratch, Self.encoded, ", files: \(files)")
        let names = files == "many" ? ["00001.vtt", "00002.vtt", "00003.vtt"] : ["subtitles.vtt"]
        #expect(try lines(scratch, "text/playlist.m3u8").filter { !$0.hasPrefix("#") } == names)
        for name in names {
            let text = try lines(scratch, "text/\(name)")
            #expect(Array(text.prefix(2)) == ["WEBVTT", "X-TIMESTAMP-MAP=MPEGTS:126000,LOCAL:00:00:00.000"])
        }
        // A rerun takes the subtitles from the folder.
        try run(scratch, Self.encoded, ", files: \(files), iframes: true")
        let again = try lines(scratch, "text/\(names[0])")
        #expect(again.count { $0.hasPrefix("X-TIMESTAMP-MAP") } == 1)
        #expect(again.filter { $0.hasPrefix("00:") }.count == (files == "many" ? 1 : 2))
    }

    /// Copied H.264 and AAC keep their frames and samples.
    @Test func copiedTracksHaveTheSourcesFrames() throws {
        let scratch = try folder()
        try run(
            scratch,
            [
                "copy: { tracks: [ { video: first, copy: true } ] }", Self.encoded[1],
                "main: { tracks: [ { audio: first, copy: true } ] }",
            ])
        #expect(try durations(scratch, "copy") == [2.4, 2.4, 0.2])
        #expect(try durations(scratch, "sd") == durations(scratch, "copy"))
        let whole = try write(segments(scratch, "copy").reduce(Data(), +), scratch)
        let source = FFmpegFile(scratch.file("a.mp4"))
        #expect(try whole.decodedFrames().map(\.hash) == source.decodedFrames().map(\.hash))
        checkTransportPackets(try segments(scratch, "copy"))
        #expect(try lines(scratch, "master.m3u8").contains("#EXT-X-INDEPENDENT-SEGMENTS"))
        let audio = try write(segments(scratch, "main").reduce(Data(), +), scratch)
        #expect(
            try audio.samples(channels: 1, rate: 48_000).suffix(200_000)
                == source.samples(channels: 1, rate: 48_000).suffix(200_000))
    }

    /// The codecs of audio that HLS supports in transport streams. E-AC-3 is only copied.
    @Test(arguments: [
        ("aac", ["-c:a", "aac"], "mp4a.40.2", true), ("mp3", ["-c:a", "libmp3lame"], "mp4a.40.34", true),
        ("ac3", ["-c:a", "ac3"], "ac-3", true), ("eac3", ["-c:a", "eac3"], "ec-3", false),
    ])
    func codecsOfAudioAreNamed(codec: String, source: [String], name: String, isEncoded: Bool) throws {
        let scratch = try folder(audio: source)
        let encoded = "encoded: { tracks: [ { audio: first, encode: { codec: \(codec) } } ] }"
        try run(
            scratch,
            ["copied: { tracks: [ { audio: first, title: Copy, copy: true } ] }"]
                + (isEncoded ? [encoded] : []))
        let streams = try lines(scratch, "master.m3u8").filter { $0.hasPrefix("#EXT-X-STREAM-INF:") }
        #expect(!streams.isEmpty && streams.allSatisfy { $0.contains("CODECS=\"\(name)\"") }, "\(streams)")
        for id in ["copied"] + (isEncoded ? ["encoded"] : []) {
            #expect(try durations(scratch, id).count == 3)
            let segments = try segments(scratch, id)
            checkTransportPackets(segments)
            #expect(try write(segments.reduce(Data(), +), scratch).decodeErrors() == "", "\(id)")
        }
    }

    /// Video that begins after the audio keeps its time.
    @Test func lateVideoKeepsItsTime() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-itsoffset", "0.5", "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=5", "-f",
            "lavfi",
            "-i", "sine=duration=6:sample_rate=48000", "-map", "0", "-map", "1", "-c:v", "libx264", "-bf",
            "2",
            "-g", "50", "-fps_mode", "vfr", "-c:a", "aac", scratch.file("a.mp4"))
        try run(
            scratch,
            ["copy: { tracks: [ { video: first, copy: true } ] }"] + Self.encoded.dropFirst().prefix(2))
        let start = try #require(try FFmpegFile(scratch.file("a.mp4")).frames().times.first)
        #expect(start > 0.4)
        for id in ["copy", "sd"] {
            let first = try #require(try packets(write(segments(scratch, id)[0], scratch)).first)
            #expect(abs(first.time - 1.4 - start) < 0.0001, "\(id)")
        }
        let audio = try #require(try packets(write(segments(scratch, "main")[0], scratch)).first)
        #expect(abs(audio.time - 1.4 + 1024.0 / 48_000) < 0.0001)
    }
}
