import CFFmpeg
import Foundation
import JobRun
import TestSupport
import Testing

/// Data tracks are copied with their times into containers that support them, and rejected by name for other
/// containers.
@Suite struct DataTrackTests {
    /// Copies the frames of a transport stream and adds metadata every half second, which the ffmpeg program can't do.
    private func addMetadata(to source: String, output: String) throws {
        var input: UnsafeMutablePointer<AVFormatContext>?
        #expect(avformat_open_input(&input, source, nil, nil) == 0)
        #expect(avformat_find_stream_info(input, nil) >= 0)
        var muxer: UnsafeMutablePointer<AVFormatContext>?
        #expect(avformat_alloc_output_context2(&muxer, nil, "mpegts", output) >= 0)
        let (reader, writer) = (try #require(input), try #require(muxer))
        defer {
            avformat_close_input(&input)
            avio_closep(&writer.pointee.pb)
            avformat_free_context(writer)
        }
        let frame = try #require(tandem_stream(reader, 0))
        let video = try #require(avformat_new_stream(writer, nil))
        avcodec_parameters_copy(video.pointee.codecpar, frame.pointee.codecpar)
        video.pointee.codecpar.pointee.codec_tag = 0
        let data = try #require(avformat_new_stream(writer, nil))
        data.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_DATA
        data.pointee.codecpar.pointee.codec_id = AV_CODEC_ID_SMPTE_KLV
        data.pointee.codecpar.pointee.profile = FF_PROFILE_KLVA_SYNC
        #expect(avio_open(&writer.pointee.pb, output, AVIO_FLAG_WRITE) >= 0)
        #expect(avformat_write_header(writer, nil) >= 0)
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        var (count, frames) = (0, 0)
        while av_read_frame(reader, packet) == 0 {
            if frames * 2 >= count * 25, let packet {
                var metadata = av_packet_alloc()
                defer { av_packet_free(&metadata) }
                // The header of an access unit, and a KLV triplet.
                let bytes: [UInt8] = [0, UInt8(count), 0xdf, 0, 6] + [6, 14, 43, 52, 1, UInt8(count)]
                #expect(av_new_packet(metadata, Int32(bytes.count)) == 0)
                for (index, byte) in bytes.enumerated() { metadata!.pointee.data[index] = byte }
                metadata!.pointee.pts = packet.pointee.pts
                metadata!.pointee.dts = packet.pointee.pts
                metadata!.pointee.stream_index = 1
                #expect(av_interleaved_write_frame(writer, metadata) >= 0)
                count += 1
            }
            frames += 1
            #expect(av_interleaved_write_frame(writer, packet) >= 0)
        }
        #expect(av_write_trailer(writer) == 0)
    }

    private func packets(_ path: String) throws -> [(time: Double, hash: String)] {
        let list = try FFmpegFile(path).probe([
            "-select_streams", "d:0", "-show_data_hash", "md5", "-show_entries", "packet=pts_time,data_hash",
        ])
        return try #require(list["packets"] as? [[String: Any]]).map {
            (Double($0["pts_time"] as? String ?? "") ?? -1, $0["data_hash"] as? String ?? "")
        }
    }

    @Test func metadataOfTransportStreamsIsCopied() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-c:v", "libx264", "-bf", "0", "-g", "10",
            scratch.file("v.ts"))
        try addMetadata(to: scratch.file("v.ts"), output: scratch.file("s.ts"))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.ts
                    tracks: [ { video: first, copy: true }, { data: { codec: klv }, copy: true } ]
                    destination: whole.ts
                """, in: scratch.path))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.ts
                    range: { start: 0.9s, end: 3.1s }
                    tracks: [ { video: first, encode: { codec: h264, b_frames: 0 } }, { data: all, copy: true } ]
                    destination: part.ts
                """, in: scratch.path))
        #expect(
            try FFmpegFile(scratch.file("whole.ts")).stream("d:0", "codec_name")["codec_name"] as? String
                == "klv")
        let (before, whole) = (try packets(scratch.file("s.ts")), try packets(scratch.file("whole.ts")))
        #expect(Set(before.map(\.hash)).count == 8 && whole.map(\.hash) == before.map(\.hash))
        let zero = before[0].time
        let first = whole[0].time
        for (old, new) in zip(before, whole) { #expect(abs(new.time - first - (old.time - zero)) < 0.001) }
        // The packets at 1 s, 1.5 s, …, 3 s.
        let part = try packets(scratch.file("part.ts"))
        #expect(part.map(\.hash) == before[2...6].map(\.hash))
        let start = try FFmpegFile(scratch.file("part.ts")).frames().times[0]
        #expect(start == 0)
        for (index, packet) in part.enumerated() {
            #expect(abs(packet.time - part[0].time - (before[index + 2].time - before[2].time)) < 0.001)
        }
    }

    /// Creates an mp4 with telemetry: a text track whose codec tag is changed to that of telemetry.
    private func telemetry(in scratch: borrowing Scratch) throws -> String {
        try scratch.write(
            "1\n00:00:00,000 --> 00:00:01,000\none\n\n2\n00:00:01,000 --> 00:00:02,500\ntwo\n\n"
                + "3\n00:00:02,500 --> 00:00:04,000\nthree\n", to: "c.srt")
        let path = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=4", "-i", scratch.file("c.srt"), "-c:v",
            "libx264", "-g", "10", "-c:s", "mov_text", path)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for (from, to) in [("tx3g", "gpmd"), ("sbtl", "meta")] {
            while let found = bytes.range(of: Data(from.utf8)) {
                bytes.replaceSubrange(found, with: Data(to.utf8))
            }
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test(arguments: ["mp4", "mov"]) func telemetryOfCamerasIsCopied(_ container: String) async throws {
        let scratch = try Scratch()
        let source = try telemetry(in: scratch)
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    tracks: [ { video: first, copy: true }, { data: { codec: gpmd }, copy: true, title: GPS } ]
                    chapters: [ { start: 0s, title: one } ]
                    metadata: { set: { timecode: "01:00:00:00" } }
                    destination: whole.\(container)
                """, in: scratch.path))
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  j:
                    asset: ./s.mp4
                    range: [ { start: 0.5s, end: 1.5s }, { start: 2s, end: 3s } ]
                    tracks: [ { video: first, encode: { codec: h264 } }, { data: all, copy: true } ]
                    destination: part.\(container)
                """, in: scratch.path))
        let whole = scratch.file("whole.\(container)")
        let (before, after) = (try packets(source), try packets(whole).prefix(3))
        #expect(before.map(\.time) == [0, 1, 2.5] && after.map(\.time) == [0, 1, 2.5])
        #expect(after.map(\.hash) == before.map(\.hash))
        #expect(
            try FFmpegFile(whole).stream("d:0", "codec_tag_string")["codec_tag_string"] as? String == "gpmd")
        // Data that started before a range is moved to its start.
        let part = try packets(scratch.file("part.\(container)"))
        #expect(part.map(\.hash) == [0, 1, 1, 2].map { before[$0].hash })
        for (packet, time) in zip(part, [0, 0.5, 1, 1.5]) { #expect(abs(packet.time - time) < 0.001) }
    }

    @Test func unsupportedDataIsRejectedByName() async throws {
        let scratch = try Scratch()
        _ = try telemetry(in: scratch)
        let records = try await run(
            """
            version: 1
            jobs:
              j:
                asset: ./s.mp4
                tracks: [ { video: first, copy: true }, { data: all, copy: true } ]
                destination: o.ts
            """, in: scratch.path)
        guard case .failed(let failure)? = records.first?.outcome else {
            Issue.record("the track was accepted")
            return
        }
        #expect(
            failure.message.contains("ts can't store gpmd, the codec of data track 1"), "\(failure.message)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("o.ts")))
    }

    /// A track of an unknown format is listed, is selected only by its number, and doesn't affect the other tracks.
    @Test func unknownTrackDoesntAffectTheOthers() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "sine=880:d=1", "-map", "0", "-map", "1",
            "-c:a", "flac",
            scratch.file("s.mkv"))
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch.file("s.mkv"))))
        let name = Array("A_FLAC".utf8)
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        bytes.replaceSubrange(at..<(at + name.count), with: Array("A_WHAT".utf8))
        try Data(bytes).write(to: URL(fileURLWithPath: scratch.file("s.mkv")))
        func job(_ selection: String, _ action: String) -> String {
            "{ asset: ./s.mkv, tracks: [ { audio: \(selection), \(action) } ], destination: \"${job}.mka\" }"
        }
        try scratch.write(
            """
            version: 1
            jobs:
              all: \(job("all", "copy: true"))
              first: \(job("first", "encode: { codec: flac }"))
              second: \(job("1", "copy: true"))
              unknown: \(job("0", "encode: { codec: flac }"))
              copied: \(job("0", "copy: true"))
            """, to: "jobs.yaml")
        let plan = try program(TestPaths.tandem, ["plan", "jobs.yaml"], directory: scratch.path)
        #expect(plan.status == 3)
        #expect(
            plan.text.contains("audio unknown codec") && plan.text.contains("its format is unknown"),
            "\(plan.text)")
        #expect(plan.errors.components(separatedBy: "error[").count == 3, "\(plan.errors)")
        let done = try program(TestPaths.tandem, ["run", "jobs.yaml"], directory: scratch.path)
        #expect(done.errors.contains("3 of 5 jobs done"), "\(done.errors)")
        for name in ["all", "first", "second"] {
            let output = FFmpegFile(scratch.file(name + ".mka"))
            #expect(try output.count("a") == 1 && output.decodeErrors().isEmpty)
        }
    }
}
