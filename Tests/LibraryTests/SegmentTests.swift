import Foundation
import TandemKit
import TestSupport
import Testing

/// Segments that a writer passes to its delegate: what ffmpeg decodes of them, alone and together.
@Suite struct SegmentTests {
    /// Collects segments.
    final class Collector: AssetWriterDelegate, @unchecked Sendable {
        private let lock = NSLock()
        private var collected: [(data: Data, report: AssetSegmentReport)] = []
        /// Called for each segment, with its number.
        let action: @Sendable (Int, AssetWriter) throws -> Void

        init(
            hasInitialization: Bool = true,
            action: @escaping @Sendable (Int, AssetWriter) throws -> Void = { _, _ in }
        ) {
            self.hasInitialization = hasInitialization
            self.action = action
        }

        var segments: [(data: Data, report: AssetSegmentReport)] { lock.withLock { collected } }
        var media: [(data: Data, report: AssetSegmentReport)] {
            hasInitialization ? Array(segments.dropFirst()) : segments
        }
        let hasInitialization: Bool

        func assetWriter(
            _ writer: AssetWriter, didOutputSegmentData data: Data, segmentType: AssetSegmentType,
            segmentReport: AssetSegmentReport
        ) throws {
            let number = lock.withLock {
                collected.append((data, segmentReport))
                return collected.count - 1
            }
            #expect((segmentType == .initialization) == (number == 0 && hasInitialization))
            try action(number, writer)
        }

        /// Writes the initialization segment and some media segments to a file.
        func write(_ numbers: Range<Int>? = nil, to path: String) throws -> String {
            let all = segments
            var data = all.first?.data ?? Data()
            for number in numbers ?? 0..<max(0, all.count - 1) { data += all[number + 1].data }
            try data.write(to: URL(fileURLWithPath: path))
            return path
        }
    }

    private static func video(
        _ encoder: String = "libx264", rate: Rational = Rational(25, 1), options: [(String, String)] = []
    ) -> AssetWriterInput {
        var settings = EncoderConfiguration(encoder: encoder, mediaType: .video, timeBase: rate.inverted)
        (settings.width, settings.height, settings.pixelFormat) = (160, 120, .yuv420p)
        settings.frameRate = rate
        settings.threads = 1
        settings.options = options.map { MetadataEntry(key: $0.0, value: $0.1) }
        return AssetWriterInput(mediaType: .video, settings: .encode(settings))
    }

    private static func sound(_ encoder: String, _ format: SampleFormat) -> AssetWriterInput {
        AssetWriterInput(
            mediaType: .audio, settings: .encode(WriterSamples.audioSettings(encoder, format)))
    }

    private static func frame(_ number: Int, at time: Int64, _ unit: Rational) throws -> SampleBuffer {
        let buffer = try PixelBuffer(pixelFormat: .yuv420p, width: 160, height: 120)
        for plane in 0..<3 {
            try buffer.withMutablePlane(plane) { bytes, layout in
                for row in 0..<layout.rows {
                    for column in 0..<layout.rowSize {
                        let value = plane == 0 ? row * 2 + column + number * 3 : 100 + number % 50
                        bytes[row * layout.bytesPerRow + column] = UInt8(16 + value % 200)
                    }
                }
            }
        }
        return try SampleBuffer(pixelBuffer: buffer, pts: time, duration: 1, timeBase: unit)
    }

    /// Appends frames or a tone to each input in turn, and finishes.
    private static func encode(
        _ writer: AssetWriter, _ inputs: [AssetWriterInput], frames: Int, rate: Rational = Rational(25, 1),
        flushingBefore flushes: Set<Int> = []
    ) async throws {
        for input in inputs { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for number in 0..<frames {
            if flushes.contains(number) { try writer.flushSegment() }
            for input in inputs {
                while !input.isReadyForMoreMediaData {
                    // A cancelled writer is never ready again.
                    guard writer.status == .working else { break }
                    try await Task.sleep(for: .milliseconds(1))
                }
                if input.mediaType == .video {
                    try input.append(Self.frame(number, at: Int64(number), rate.inverted))
                } else {
                    let samples = (0..<1920).map { index -> Float in
                        let time = Float(number * 1920 + index) / 48_000
                        return sin(time * (1500 + 400 * time)) * 0.3
                    }
                    try input.append(
                        SampleBuffer(
                            audio: samples, layout: .mono, sampleRate: 48_000,
                            at: MediaTime(value: Int64(number), timescale: 25)))
                }
            }
        }
        for input in inputs { try input.markAsFinished() }
        try await writer.finishWriting()
    }

    /// Checks the structure of all segments, and that each one is decoded after the initialization segment only.
    private func check(_ collector: Collector, in scratch: Scratch, startsWithKeyframes: Bool = true) throws {
        let all = try collector.write(to: scratch.file("all.mp4"))
        let boxes = try MovieBoxes(all)
        #expect(boxes.outline.prefix(2).map(\.name) == ["ftyp", "moov"])
        let expected = collector.media.flatMap { _ in ["styp", "moof", "mdat"] }
        #expect(boxes.outline.dropFirst(2).map(\.name) == expected)
        let header = collector.segments[0]
        #expect(header.report.segmentType == .initialization && header.report.trackReports.isEmpty)
        var single = 0
        for (number, segment) in collector.media.enumerated() {
            #expect(segment.report.segmentType == .separable)
            #expect(!startsWithKeyframes || segment.report.trackReports.allSatisfy(\.startsWithKeyframe))
            let path = try collector.write(number..<(number + 1), to: scratch.file("one.mp4"))
            let file = FFmpegFile(path)
            #expect(try file.decodeErrors() == "", "segment \(number)")
            for report in segment.report.trackReports where report.mediaType == .video {
                let count = try file.frameHashes().count
                #expect(count == report.sampleCount, "segment \(number)")
                single += count
                let sample = try #require(report.firstVideoSample)
                let packets = try file.probe([
                    "-select_streams", "v", "-show_entries", "packet=size,pos,flags",
                ])
                let packet = try #require((packets["packets"] as? [[String: Any]])?.first)
                let headers = collector.segments[0].data.count
                #expect(packet["size"] as? String == "\(sample.length)")
                #expect(packet["pos"] as? String == "\(sample.offset + headers)")
                #expect((packet["flags"] as? String)?.hasPrefix("K") == sample.isKeyframe)
            }
        }
        if single > 0 { #expect(try FFmpegFile(all).frameHashes().count == single) }
        // The decoding time of each segment is the sum of the durations before.
        for report in collector.media.first?.report.trackReports ?? [] {
            let id = report.trackID
            let starts = boxes.fragmentStarts(trackID: id)
            let durations = boxes.fragmentDurations(trackID: id)
            #expect(starts.count == durations.count && starts.count > 0)
            var sum = starts.first ?? 0
            for (start, duration) in zip(starts, durations) {
                #expect(start == sum, "track \(id)")
                sum += duration
            }
            let unit = try FFmpegFile(all).timescale(report.mediaType == .video ? "v:0" : "a:0")
            let reported = collector.media.map { segment in
                segment.report.trackReports.first { $0.trackID == id }?.duration.ticks(
                    in: Rational(1, Int32(unit)))
            }
            #expect(reported == durations.map { Int64($0) })
        }
    }

    /// Keyframes are requested from encoders at the times of segments; the frames are those of a file.
    @Test(
        arguments: [
            ("libx264", [("preset", "fast"), ("bf", "3")]),
            ("libx264", [("x264-params", "open-gop=1:bframes=3")]),
            ("libx265", [("preset", "ultrafast")]),
            ("libvpx-vp9", [("deadline", "realtime"), ("cpu-used", "8")]),
            ("libsvtav1", [("preset", "12")]), ("libaom-av1", [("cpu-used", "8"), ("usage", "realtime")]),
        ])
    func encodedSegmentsBeginWithKeyframes(_ encoder: String, _ options: [(String, String)]) async throws {
        let scratch = try Scratch()
        let collector = Collector()
        let writer = AssetWriter(segments: .cmaf, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 1)
        try await Self.encode(writer, [Self.video(encoder, options: options)], frames: 90)
        #expect(writer.status == .completed)
        #expect(collector.media.map { $0.report.trackReports[0].sampleCount } == [25, 25, 25, 15])
        #expect(
            collector.media.map { $0.report.trackReports[0].earliestPresentationTime }
                == (0..<4).map { MediaTime(value: $0, timescale: 1) })
        try check(collector, in: scratch)
        let times = try FFmpegFile(scratch.file("all.mp4")).frames().times
        #expect(zip(times, 0..<90).allSatisfy { abs($0 - Double($1) / 25) < 0.001 }, "\(times.prefix(5))")
        let brands = try FFmpegFile(scratch.file("all.mp4")).probe(["-show_format"])
        let tags = (brands["format"] as? [String: Any])?["tags"] as? [String: Any]
        #expect((tags?["compatible_brands"] as? String)?.contains("cmfc") == true)
        for (number, segment) in collector.media.enumerated() {
            #expect(String(decoding: segment.data[4..<12], as: UTF8.self) == "stypmsdh", "\(number)")
            #expect(String(decoding: segment.data[16..<24], as: UTF8.self) == "msdhcmfs")
        }
    }

    /// Where the encoder sets the same keyframes itself, segments and file have identical frames.
    @Test func encodedSegmentsHaveTheFramesOfAFile() async throws {
        let scratch = try Scratch()
        let options = [("qp", "20"), ("bf", "0"), ("g", "50"), ("sc_threshold", "0")]
        let collector = Collector()
        let writer = AssetWriter(segments: .cmaf, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 2, timescale: 1)
        try await Self.encode(writer, [Self.video(options: options)], frames: 130)
        let url = URL(fileURLWithPath: scratch.file("file.mp4"))
        try await Self.encode(
            try AssetWriter(url: url, container: .mp4), [Self.video(options: options)], frames: 130)
        try check(collector, in: scratch)
        let all = FFmpegFile(scratch.file("all.mp4"))
        let (own, expected) = (try all.decodedFrames(), try FFmpegFile(url.path).decodedFrames())
        #expect(own.map(\.hash) == expected.map(\.hash))
        let times = zip(own, expected).map { ($0.time, $1.time) }
        #expect(times.allSatisfy { abs($0 - $1) < 0.0005 }, "\(times.prefix(4))")
        #expect(collector.media.count == 3)
    }

    /// Audio alone: the segments begin with the packet nearest to their time, and contain the samples of a file.
    @Test(
        arguments: [("aac", SampleFormat.planarFloat), ("libopus", .float), ("flac", .s16)])
    func audioSegmentsHaveTheSamplesOfAFile(_ encoder: String, _ format: SampleFormat) async throws {
        let scratch = try Scratch()
        let collector = Collector()
        let writer = AssetWriter(segments: .cmaf, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 3003, timescale: 1000)
        try await Self.encode(writer, [Self.sound(encoder, format)], frames: 250)
        let url = URL(fileURLWithPath: scratch.file("file.mp4"))
        try await Self.encode(
            try AssetWriter(url: url, container: .mp4), [Self.sound(encoder, format)], frames: 250)
        try check(collector, in: scratch)
        #expect(collector.media.count == 4)
        for (number, segment) in collector.media.enumerated().dropFirst() {
            let start = segment.report.trackReports[0].earliestPresentationTime.seconds
            let packet =
                segment.report.trackReports[0].duration.seconds
                / Double(segment.report.trackReports[0].sampleCount)
            #expect(abs(start - Double(number) * 3.003) <= packet / 2 + 0.001, "\(start)")
        }
        let file = try FFmpegFile(url.path).samples(channels: 1, rate: 48_000)
        let all = try FFmpegFile(scratch.file("all.mp4")).samples(channels: 1, rate: 48_000)
        // ffmpeg 5.1 ignores the start of the edit list in fragmented files.
        let priming = all.count - file.count
        #expect((0...2048).contains(priming) && Array(all.dropFirst(priming)) == file, "\(priming)")
        #expect(file.count >= 480_000)
        let edits = try MovieBoxes(scratch.file("all.mp4")).edits.first ?? nil
        // The decoder of Opus drops the priming itself.
        if encoder == "aac" { #expect(edits.map { abs($0.start * 48_000 - Double(priming)) < 1 } == true) }
    }

    /// Segments of a transport stream with two tracks begin with a keyframe behind the tables. Together they have the frames of
    /// a file, at the times of the session.
    @Test(arguments: [0, 2]) func transportStreamSegmentsHaveTheFramesOfAFile(bFrames: Int) async throws {
        let scratch = try Scratch()
        let options = [("qp", "20"), ("bf", "\(bFrames)"), ("g", "50"), ("sc_threshold", "0")]
        let collector = Collector(hasInitialization: false)
        let writer = AssetWriter(segments: .transportStream, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 2, timescale: 1)
        writer.initialSegmentStartTime = MediaTime(value: 10, timescale: 1)
        func inputs() -> [AssetWriterInput] {
            [Self.video(options: options), Self.sound("aac", .planarFloat)]
        }
        try await Self.encode(writer, inputs(), frames: 130)
        let url = URL(fileURLWithPath: scratch.file("file.mp4"))
        try await Self.encode(try AssetWriter(url: url, container: .mp4), inputs(), frames: 130)
        #expect(collector.media.map { $0.report.trackReports[0].sampleCount } == [50, 50, 30])
        #expect(
            collector.media.map { $0.report.trackReports[0].earliestPresentationTime }
                == [10, 12, 14].map { MediaTime(value: $0, timescale: 1) })
        var all = Data()
        for (number, segment) in collector.media.enumerated() {
            #expect(segment.report.segmentType == .separable && segment.report.trackReports.count == 2)
            let sample = try #require(segment.report.trackReports[0].firstVideoSample)
            #expect(sample.isKeyframe && sample.offset == 376 && sample.length % 188 == 0)
            let path = scratch.file("one.ts")
            try segment.data.write(to: URL(fileURLWithPath: path))
            #expect(try FFmpegFile(path).decodeErrors() == "", "segment \(number)")
            let first = try FFmpegFile(path).probe([
                "-select_streams", "v", "-show_entries", "packet=pts_time,flags",
            ])
            let packet = try #require((first["packets"] as? [[String: Any]])?.first)
            #expect((packet["flags"] as? String)?.hasPrefix("K") == true)
            #expect(packet["pts_time"] as? String == "\(11 + 2 * number).400000")
            all += segment.data
        }
        let path = scratch.file("all.ts")
        try all.write(to: URL(fileURLWithPath: path))
        let (own, expected) = (
            try FFmpegFile(path).decodedFrames(), try FFmpegFile(url.path).decodedFrames()
        )
        #expect(own.map(\.hash) == expected.map(\.hash) && own.count == 130)
        #expect(try FFmpegFile(path).decodeErrors() == "")
        let samples = try FFmpegFile(path).samples(channels: 1, rate: 48_000)
        let reference = try FFmpegFile(url.path).samples(channels: 1, rate: 48_000)
        #expect(Array(samples.dropFirst(1024).prefix(reference.count)) == reference)
    }

    /// Copied tracks in common segments: the frames and samples are the source's.
    @Test(arguments: ["25", "30000/1001"]) func copiedSegmentsHaveTheSourcesFrames(
        _ rate: String
    ) async throws {
        let scratch = try Scratch()
        let source = scratch.file("s.mp4")
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=\(rate):d=9", "-f", "lavfi", "-i",
            "aevalsrc='0.5*sin(2*PI*t*(200+150*t))':d=9:s=48000", "-c:v", "libx264", "-g", "20", "-bf", "3",
            "-c:a", "aac", source)
        let collector = Collector()
        let writer = AssetWriter(segments: .hls, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 2, timescale: 1)
        let plain = scratch.file("plain.mp4")
        for target in [writer, try AssetWriter(url: URL(fileURLWithPath: plain), container: .mp4)] {
            let asset = Asset(url: URL(fileURLWithPath: source))
            let session = ReencodeSession(reader: try AssetReader(asset: asset), writer: target)
            for track in try await asset.load(.tracks) {
                try session.addTrack(
                    output: AssetReaderTrackOutput(track: track),
                    input: AssetWriterInput(
                        mediaType: track.mediaType,
                        settings: .passthrough(track.format, timeBase: track.timeBase)))
            }
            guard case .completed = await session.run() else {
                throw ProgramError(message: "\(String(describing: target.error))")
            }
        }
        try check(collector, in: scratch)
        let all = FFmpegFile(scratch.file("all.mp4"))
        let (frames, expected) = (try all.decodedFrames(), try FFmpegFile(plain).decodedFrames())
        #expect(frames.map(\.hash) == expected.map(\.hash) && frames.count > 200)
        let times = zip(frames, expected).map { ($0.time, $1.time) }
        #expect(times.allSatisfy { abs($0 - $1) < 0.0005 }, "\(times.prefix(4))")
        let samples = try FFmpegFile(plain).samples(channels: 1, rate: 48_000)
        let segmented = try all.samples(channels: 1, rate: 48_000)
        #expect(
            segmented.suffix(samples.count).elementsEqual(samples) && segmented.count - samples.count <= 1024)
        // Each segment begins with the first keyframe at or after a multiple of 2 s.
        let keys = stride(from: 0, to: expected.count, by: 20).map { expected[$0].time }
        let wanted = [0] + (1...4).compactMap { number in keys.first { $0 >= Double(number * 2) - 0.0005 } }
        let starts = collector.media.map { $0.report.trackReports[0].earliestPresentationTime.seconds }
        #expect(
            starts.count == wanted.count && zip(starts, wanted).allSatisfy { abs($0 - $1) < 0.001 },
            "\(starts)")
    }

    /// Copied HEVC whose packets contain parameter sets that the initialization segment lacks is declared as `hev1`, as
    /// in files; otherwise as `hvc1`, also if packets repeat the sets.
    @Test(arguments: [false, true]) func parameterSetsInPacketsAreDeclared(
        _ change: Bool
    ) async throws {
        let scratch = try Scratch()
        var stream = Data()
        for parameters in ["", change ? ":ref=1:cbqpoffs=3" : ""] {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx265", "-preset", "ultrafast",
                "-x265-params", "log-level=none:repeat-headers=1\(parameters)", scratch.file("part.hevc"))
            stream += try Data(contentsOf: URL(fileURLWithPath: scratch.file("part.hevc")))
        }
        try stream.write(to: URL(fileURLWithPath: scratch.file("all.hevc")))
        try ffmpeg(
            "-r", "25", "-i", scratch.file("all.hevc"), "-c", "copy", "-bsf:v",
            "setts=ts=N*3600:time_base=1/90000", scratch.file("s.ts"))
        let collector = Collector()
        let writer = AssetWriter(segments: .cmaf, delegate: collector)
        let asset = Asset(url: URL(fileURLWithPath: scratch.file("s.ts")))
        let session = ReencodeSession(reader: try await AssetReader(loading: asset), writer: writer)
        let track = try #require(try await asset.loadTracks(withMediaType: .video).first)
        try session.addTrack(
            output: AssetReaderTrackOutput(track: track),
            input: AssetWriterInput(
                mediaType: .video, settings: .passthrough(track.format, timeBase: track.timeBase)))
        guard case .completed = await session.run() else {
            throw ProgramError(message: "\(String(describing: writer.error))")
        }
        let path = try collector.write(to: scratch.file("all.mp4"))
        let streams =
            try FFmpegFile(path).probe(["-show_entries", "stream=codec_tag_string"])["streams"]
            as? [[String: Any]]
        #expect(streams?.first?["codec_tag_string"] as? String == (change ? "hev1" : "hvc1"))
        #expect(try FFmpegFile(path).frames().times.count == 100)
    }

    /// Segments that the caller ends begin with the frame that is appended next.
    @Test func flushedSegmentsBeginWithTheNextFrame() async throws {
        let scratch = try Scratch()
        let collector = Collector()
        let writer = AssetWriter(segments: .hls, delegate: collector)
        writer.preferredOutputSegmentInterval = nil
        try await Self.encode(
            writer, [Self.video(options: [("preset", "fast")]), Self.sound("aac", .planarFloat)], frames: 120,
            flushingBefore: [0, 7, 8, 60])
        #expect(collector.media.map { $0.report.trackReports[0].sampleCount } == [7, 1, 52, 60])
        try check(collector, in: scratch)
        // Audio alone.
        let other = Collector()
        let audioWriter = AssetWriter(segments: .cmaf, delegate: other)
        audioWriter.preferredOutputSegmentInterval = nil
        try await Self.encode(
            audioWriter, [Self.sound("aac", .planarFloat)], frames: 100, flushingBefore: [50])
        let starts = other.media.map { $0.report.trackReports[0].earliestPresentationTime.seconds }
        #expect(starts.count == 2 && abs(starts[1] - 2) < 0.011, "\(starts)")
    }

    /// The decoding times count from `initialSegmentStartTime`; boundaries are exact at 29.97 frames/s.
    @Test func segmentTimesCountFromTheInitialTime() async throws {
        let scratch = try Scratch()
        let rate = Rational(30_000, 1001)
        for offset in [MediaTime.zero, MediaTime(value: 1_000_000, timescale: 3)] {
            let collector = Collector()
            let writer = AssetWriter(segments: .cmaf, delegate: collector)
            writer.preferredOutputSegmentInterval = MediaTime(value: 60 * 1001, timescale: 30_000)
            writer.initialSegmentStartTime = offset
            try await Self.encode(
                writer, [Self.video(rate: rate, options: [("preset", "fast")])], frames: 200, rate: rate)
            #expect(collector.media.map { $0.report.trackReports[0].sampleCount } == [60, 60, 60, 20])
            try check(collector, in: scratch)
            let boxes = try MovieBoxes(scratch.file("all.mp4"))
            let unit = try FFmpegFile(scratch.file("all.mp4")).timescale("v:0")
            let first = Double(boxes.fragmentStarts(trackID: 1)[0]) / unit
            #expect(abs(first - offset.seconds) < 0.0001)
            let reported = collector.media[0].report.trackReports[0].earliestPresentationTime
            #expect(abs(reported.seconds - offset.seconds) < 0.0001)
            let start =
                try FFmpegFile(scratch.file("all.mp4")).stream("v:0", "start_time")["start_time"] as? String
            #expect(abs((start.flatMap(Double.init) ?? -1) - offset.seconds) < 0.001)
        }
    }

    /// Irregular frames, a start after several intervals, and a single frame.
    @Test func irregularFramesAreSegmented() async throws {
        let scratch = try Scratch()
        let unit = Rational(1, 1000)
        for (times, counts) in [
            ([0, 10, 999, 1000, 1001, 5500, 5501, 6000], [3, 2, 2, 1]), ([7], [1]),
            ([5300, 5400, 6100], [2, 1]),
        ] as [([Int64], [Int])] {
            let collector = Collector()
            let writer = AssetWriter(segments: .cmaf, delegate: collector)
            writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 1)
            let input = Self.video(rate: Rational(1000, 1), options: [("preset", "fast")])
            try writer.add(input)
            try writer.startWriting()
            try writer.startSession(atSourceTime: .zero)
            for (number, time) in times.enumerated() { try input.append(Self.frame(number, at: time, unit)) }
            try input.markAsFinished()
            try await writer.finishWriting()
            #expect(collector.media.map { $0.report.trackReports[0].sampleCount } == counts)
            try check(collector, in: scratch)
        }
    }

    /// An input that gets no samples doesn't keep the others from being written.
    @Test func inputWithoutSamplesIsEmpty() async throws {
        let scratch = try Scratch()
        let collector = Collector()
        let writer = AssetWriter(segments: .hls, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 1)
        let (video, sound) = (Self.video(options: [("preset", "fast")]), Self.sound("aac", .planarFloat))
        for input in [video, sound] { try writer.add(input) }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try sound.markAsFinished()
        for number in 0..<60 { try video.append(Self.frame(number, at: Int64(number), Rational(1, 25))) }
        try video.markAsFinished()
        try await writer.finishWriting()
        #expect(collector.segments.count >= 2)
        let path = try collector.write(to: scratch.file("all.mp4"))
        #expect(try FFmpegFile(path).frameHashes().count == 60)
        #expect(collector.media.reduce(0) { $0 + $1.report.trackReports[0].sampleCount } == 60)
    }

    struct Refusal: Error {}

    /// An error of the delegate fails the writer; a cancel ends it. No segment follows either.
    @Test(arguments: [true, false], 0..<3)
    func delegateEndsTheWriter(_ isError: Bool, _ last: Int) async throws {
        let collector = Collector { number, writer in
            guard number == last else { return }
            if isError { throw Refusal() }
            writer.cancelWriting()
        }
        let writer = AssetWriter(segments: .cmaf, delegate: collector)
        writer.preferredOutputSegmentInterval = MediaTime(value: 1, timescale: 1)
        do {
            try await Self.encode(writer, [Self.video(options: [("preset", "ultrafast")])], frames: 200)
            Issue.record("the writer completed")
        } catch {
            #expect(!isError || error is Refusal, "\(error)")
        }
        #expect(writer.status == (isError ? .failed : .cancelled))
        #expect(collector.segments.count == last + 1)
    }

    /// Settings that segments can't have are refused, with names.
    @Test func wrongSettingsAreRefused() throws {
        let collector = Collector()
        func refusal(_ profile: SegmentProfile = .hls, _ change: (AssetWriter) throws -> Void) -> String {
            let writer = AssetWriter(segments: profile, delegate: collector)
            do {
                try writer.add(Self.video())
                try change(writer)
                try writer.startWriting()
                writer.cancelWriting()
                return ""
            } catch {
                return "\(error)"
            }
        }
        let extreme = [MediaTime(value: .max, timescale: 1), MediaTime(value: .min, timescale: .max)]
        for time in extreme + [.zero, MediaTime(value: -1, timescale: 1)] {
            let interval = refusal { $0.preferredOutputSegmentInterval = time }
            #expect(interval.contains("preferredOutputSegmentInterval") == (time <= .zero), "\(interval)")
            let start = refusal { $0.initialSegmentStartTime = time }
            #expect(start.contains("initialSegmentStartTime") == (time != .zero), "\(start)")
        }
        #expect(refusal { $0.fileLengthLimit = 5 }.contains("fileLengthLimit"))
        #expect(refusal { $0.movieFragmentInterval = .zero }.contains("movieFragmentInterval"))
        #expect(refusal { $0.shouldOptimizeForNetworkUse = true }.contains("shouldOptimizeForNetworkUse"))
        #expect(
            refusal {
                $0.chapters = [AssetChapter(timeRange: TimeRange(start: .zero, end: extreme[0]), title: "x")]
            }.contains("chapters"))
        #expect(refusal(.cmaf) { try $0.add(Self.video()) }.contains("cmaf"))
        #expect(refusal { try $0.flushSegment() }.contains("preferredOutputSegmentInterval"))
        #expect(
            refusal {
                $0.preferredOutputSegmentInterval = nil
                try $0.flushSegment()
            }.contains("startSession"))
        #expect(collector.segments.isEmpty)
    }
}
