import Foundation
import TandemKit
import TestSupport
import Testing

/// Samples that an input converts to its settings, as ffmpeg decodes them.
@Suite struct ConversionTests {
    private func video(
        _ width: Int = 160, _ height: Int = 120, unit: Rational = Rational(1, 25),
        _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) -> AssetWriterInput {
        var settings = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: unit)
        (settings.width, settings.height, settings.pixelFormat) = (width, height, .yuv420p)
        settings.options = [
            MetadataEntry(key: "preset", value: "ultrafast"), MetadataEntry(key: "crf", value: "4"),
        ]
        change(&settings)
        return AssetWriterInput(mediaType: .video, settings: .encode(settings))
    }

    private func write(
        _ input: AssetWriterInput, _ container: ContainerType = .mp4, in scratch: Scratch,
        _ append: (AssetWriterInput) throws -> Void
    ) async throws -> FFmpegFile {
        let url = URL(fileURLWithPath: scratch.file("o." + container.extensions[0]))
        try? FileManager.default.removeItem(at: url)
        let writer = try AssetWriter(url: url, container: container)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try append(input)
        try input.markAsFinished()
        try await writer.finishWriting()
        return FFmpegFile(url.path)
    }

    /// Returns a frame of one color.
    private func frame(
        _ color: (red: UInt8, green: UInt8, blue: UInt8), _ width: Int, _ height: Int, at time: Int64,
        _ unit: Rational = Rational(1, 25), duration: Int64 = 1
    ) throws -> SampleBuffer {
        let buffer = try PixelBuffer(pixelFormat: .rgb24, width: width, height: height)
        try buffer.withMutablePlane(0) { bytes, plane in
            for row in 0..<plane.rows {
                for column in 0..<width {
                    let offset = row * plane.bytesPerRow + column * 3
                    (bytes[offset], bytes[offset + 1], bytes[offset + 2]) = color
                }
            }
        }
        return try SampleBuffer(pixelBuffer: buffer, pts: time, duration: duration, timeBase: unit)
    }

    /// Returns the color of a decoded pixel, with the matrix that the file declares.
    private func pixel(_ file: FFmpegFile, _ number: Int, _ width: Int, x: Int, y: Int) throws -> [Int] {
        let pixels = try rawFrame(of: URL(fileURLWithPath: file.path), at: number)
        let offset = (y * width + x) * 3
        return pixels[offset..<(offset + 3)].map(Int.init)
    }

    private func isNear(_ a: [Int], _ b: [Int], _ slack: Int = 8) -> Bool {
        zip(a, b).allSatisfy { abs($0 - $1) <= slack }
    }

    /// Frames of other sizes, which also change in mid-stream, have the encoder's size, without distortion by default.
    @Test func framesOfAnotherSizeAreScaled() async throws {
        let scratch = try Scratch()
        let red = (red: UInt8(220), green: UInt8(30), blue: UInt8(40))
        let sizes = [(160, 120), (320, 240), (80, 60), (320, 60), (60, 240), (161, 121), (1, 1), (4000, 3)]
        for mode in VideoScalingMode.allCases {
            let input = video()
            input.scalingMode = mode
            let file = try await write(input, in: scratch) { input in
                for (number, size) in sizes.enumerated() {
                    try input.append(frame(red, size.0, size.1, at: Int64(number)))
                }
            }
            let stream = try file.stream("v:0", "width,height,nb_frames")
            #expect(stream["width"] as? Int == 160 && stream["height"] as? Int == 120)
            #expect(stream["nb_frames"] as? String == "\(sizes.count)")
            for number in 0..<3 {
                #expect(
                    isNear(try pixel(file, number, 160, x: 80, y: 60), [220, 30, 40]), "\(mode) \(number)")
                #expect(isNear(try pixel(file, number, 160, x: 2, y: 2), [220, 30, 40]), "\(mode) \(number)")
            }
            // 16:3 and 1:4: bars above and below, or left and right.
            for (number, x, y) in [(3, 80, 20), (4, 20, 60)] {
                let color = try pixel(file, number, 160, x: x, y: y)
                #expect(
                    isNear(color, mode == .resizeAspect ? [0, 0, 0] : [220, 30, 40], 12), "\(mode) \(color)")
                #expect(isNear(try pixel(file, number, 160, x: 80, y: 60), [220, 30, 40]))
            }
        }
    }

    /// HD frames that are scaled to SD are converted to the matrix that the file declares.
    @Test(arguments: [nil, "bt709"]) func scaledColorsAreTagged(_ matrix: String?) async throws {
        let scratch = try Scratch()
        let file = try await write(video { $0.color.matrix = matrix }, in: scratch) { input in
            for number in 0..<3 as Range<Int64> {
                try input.append(frame((30, 200, 60), 1280, 720, at: number))
            }
        }
        let stream = try file.stream("v:0", "color_space,color_range")
        #expect(stream["color_space"] as? String == matrix ?? "smpte170m")
        #expect(stream["color_range"] as? String == "tv")
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", file.path, "-vf",
                "scale=in_color_matrix=\(matrix ?? "smpte170m"):flags=bicubic",
                "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-",
            ])
        let offset = (60 * 160 + 80) * 3
        let color = result.output[offset..<(offset + 3)].map(Int.init)
        #expect(isNear(color, [30, 200, 60], 5), "\(color)")
    }

    /// Frames with declared HDR color are tone-mapped to an SDR encoder's color.
    @Test(arguments: ColorRange.allCases) func hdrFramesAreMappedToTheEncodersColor(_ range: ColorRange)
        async throws
    {
        let scratch = try Scratch()
        let source = scratch.file("hdr.mkv")
        try ffmpeg(
            "-f", "lavfi", "-i", "color=c=0xb0b0b0:s=160x120:r=25:d=0.2", "-vf", "format=yuv420p10le", "-c:v",
            "ffv1",
            "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
            "-color_range", "tv",
            source)
        let asset = Asset(url: URL(fileURLWithPath: source))
        let track = try #require(try await asset.load(.tracks).first)
        let reader = try AssetReader(asset: asset)
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        try reader.add(output)
        try reader.startReading()
        let file = try await write(
            video {
                $0.color = .standard
                $0.color.range = range
            }, in: scratch
        ) { input in
            while let sample = try output.copyNextSampleBuffer() { try input.append(sample) }
        }
        let stream = try file.stream("v:0", "color_space,color_transfer,color_primaries,pix_fmt")
        #expect(
            stream["color_transfer"] as? String == "bt709" && stream["color_primaries"] as? String == "bt709")
        #expect(stream["pix_fmt"] as? String == (range == .full ? "yuvj420p" : "yuv420p"))
        let expected = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", source, "-vf",
                "zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709,tonemap=hable:desat=0,zscale=transfer=bt709:matrix=bt709:range=\(range == .full ? "full" : "limited"),format=yuv420p",
                "-frames:v", "1", "-f", "rawvideo", "-",
            ])
        let decoded = try program(
            "ffmpeg", ["-v", "error", "-i", file.path, "-frames:v", "1", "-f", "rawvideo", "-"])
        let (own, other) = (decoded.output[9680], expected.output[9680])
        #expect(abs(Int(own) - Int(other)) <= 2, "\(own), \(other)")
    }

    /// Frames at twice the rate of the time base are thinned: those on screen at each tick remain.
    @Test func frameRateIsReducedToTheTimeBase() async throws {
        let scratch = try Scratch()
        let input = video()
        let file = try await write(input, in: scratch) { input in
            for number in 0..<100 as Range<Int64> {
                try input.append(frame((UInt8(number * 2), 100, 100), 160, 120, at: number, Rational(1, 50)))
            }
        }
        let times = try file.frames().times
        #expect(times.count == 50 && zip(times, 0...).allSatisfy { abs($0 - Double($1) / 25) < 0.001 })
        #expect(input.droppedSamples == 50 && input.appendedSamples == 100)
        for number in [10, 40] {
            #expect(isNear(try pixel(file, number, 160, x: 80, y: 60), [number * 4, 100, 100], 5))
        }
    }

    private func sound(_ rate: Int32, _ layout: ChannelLayout) -> AssetWriterInput {
        var settings = EncoderConfiguration(
            encoder: "pcm_s16le", mediaType: .audio, timeBase: Rational(1, rate))
        (settings.sampleRate, settings.sampleFormat, settings.channelLayout) = (rate, .s16, layout)
        return AssetWriterInput(mediaType: .audio, settings: .encode(settings))
    }

    /// Returns a tone of 500 Hz from a sample on.
    private func tone(_ first: Int, _ count: Int, _ rate: Int, channels: Int) -> [Float] {
        (first..<(first + count)).flatMap { index in
            [Float](repeating: Float(sin(Double(index) / Double(rate) * 1000 * .pi) * 0.4), count: channels)
        }
    }

    /// Audio of another rate and layout has the input's, is exactly as long, and in phase.
    @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (8000, 48_000), (96_000, 16_000), (48_000, 48_000)])
    func audioIsResampled(_ from: Int, _ to: Int) async throws {
        let scratch = try Scratch()
        for (source, target) in [
            (ChannelLayout.mono, ChannelLayout.stereo), (.stereo, .mono), (.stereo, .stereo),
        ] {
            let input = sound(Int32(to), target)
            let file = try await write(input, .wav, in: scratch) { input in
                var position = 0
                // Irregular blocks, with rounded times.
                for count in [1, 700, 44, 1024, 4000, 13] + [Int](repeating: 960, count: from / 960 + 1) {
                    try input.append(
                        SampleBuffer(
                            audio: tone(position, count, from, channels: source.channels), layout: source,
                            sampleRate: Int32(from),
                            at: MediaTime(value: Int64(position), timescale: Int32(from))))
                    position += count
                }
            }
            let total = 1 + 700 + 44 + 1024 + 4000 + 13 + (from / 960 + 1) * 960
            let expected = Int((Double(total) * Double(to) / Double(from)).rounded())
            let samples = try file.samples(rate: to)
            #expect(samples.count == expected * target.channels, "\(samples.count)")
            let reference = tone(0, expected, to, channels: target.channels)
            let middle = (samples.count / 4)..<(samples.count * 3 / 4)
            let scale = target.channels > source.channels ? Float(1 / 2.0.squareRoot()) : 1
            let error =
                middle.map { min(abs(samples[$0] - reference[$0]), abs(samples[$0] - reference[$0] * scale)) }
                .max() ?? 1
            #expect(error < 0.01, "\(error) from \(source) to \(target)")
        }
    }

    /// A gap between samples of another rate is silent, a changed format continues at its time, and overlaps are refused.
    @Test func gapsBetweenResampledSamplesAreSilent() async throws {
        let scratch = try Scratch()
        let input = sound(48_000, .mono)
        let file = try await write(input, .wav, in: scratch) { input in
            func append(_ seconds: Double, _ rate: Int, _ channels: Int, length: Double) throws {
                try input.append(
                    SampleBuffer(
                        audio: tone(0, Int(length * Double(rate)), rate, channels: channels),
                        layout: channels == 1 ? .mono : .stereo, sampleRate: Int32(rate),
                        at: MediaTime(seconds: seconds, timescale: Int32(rate))))
            }
            try append(0, 44_100, 2, length: 0.5)
            try append(0.5, 22_050, 1, length: 0.5)
            try append(1.5, 22_050, 1, length: 0.5)
            #expect(throws: MediaError.self) { try append(1.9, 22_050, 1, length: 0.5) }
            try append(2, 48_000, 1, length: 0.5)
        }
        let samples = try file.samples(rate: 48_000)
        #expect(samples.count == 120_000)
        #expect(samples[48_100..<71_900].allSatisfy { abs($0) < 0.001 })
        for position in [12_000, 36_000, 84_000, 108_000] {
            #expect(samples[position..<(position + 100)].contains { abs($0) > 0.3 }, "\(position)")
        }
    }

    /// Formats that can't be converted are refused with both names, and the input continues.
    @Test func unsupportedConversionsAreTyped() async throws {
        let scratch = try Scratch()
        let format = try #require(PixelFormat(named: "uyyvyy411"))
        let file = try await write(video(), in: scratch) { input in
            let buffer = try PixelBuffer(pixelFormat: format, width: 320, height: 240)
            do {
                try input.append(
                    SampleBuffer(
                        pixelBuffer: buffer, pts: 0, duration: 1, timeBase: Rational(1, 25)))
                Issue.record("uyyvyy411 was accepted")
            } catch MediaError.unsupportedConversion(let track, let from, let to, _) {
                #expect(
                    track.description == "video 0" && from.contains("uyyvyy411") && from.contains("320x240"))
                #expect(to.contains("160x120") && to.contains("yuv420p"))
            }
            try input.append(frame((0, 0, 0), 320, 240, at: 0))
        }
        #expect(try file.frames().times.count == 1)
        for rate in [1, Int32.max] {
            _ = try await write(sound(48_000, .mono), .wav, in: scratch) { input in
                #expect(throws: MediaError.self) {
                    try input.append(SampleBuffer(audio: [0, 1], layout: .mono, sampleRate: rate, at: .zero))
                }
                try input.append(SampleBuffer(audio: [0, 1], layout: .mono, sampleRate: 48_000, at: .zero))
            }
        }
    }

    // MARK: Display

    /// Rotations and reflections are those that ffprobe reports.
    @Test(arguments: [(0, 0), (90, -90), (180, 180), (270, 90), (-90, 90), (450, -90), (-360, 0)])
    func displayTransformsRotate(_ degrees: Int, _ reported: Int) async throws {
        let scratch = try Scratch()
        for mirrored in [false, true] {
            let transform = try #require(DisplayTransform(clockwiseDegrees: degrees, mirrored: mirrored))
            #expect(transform.isReflected == mirrored)
            #expect(transform.clockwiseDegrees == ((degrees % 360) + 360) % 360)
            let input = video()
            input.transform = transform
            // The upper left quarter is red.
            let file = try await write(input, in: scratch) { input in
                let buffer = try PixelBuffer(pixelFormat: .rgb24, width: 160, height: 120)
                try buffer.withMutablePlane(0) { bytes, plane in
                    for offset in bytes.indices { bytes[offset] = 0 }
                    for row in 0..<60 {
                        for column in 0..<80 { bytes[row * plane.bytesPerRow + column * 3] = 230 }
                    }
                }
                try input.append(
                    SampleBuffer(
                        pixelBuffer: buffer, pts: 0, duration: 1, timeBase: Rational(1, 25)))
            }
            if !mirrored, degrees % 360 != 0 {
                let data = try file.stream("v:0", "side_data_list")["side_data_list"] as? [[String: Any]]
                let rotation = try #require(data?.compactMap { $0["rotation"] as? Int }.first)
                #expect(abs(rotation) == 180 ? abs(reported) == 180 : rotation == reported)
            }
            // ffmpeg applies the matrix when it decodes.
            let turns = (((degrees % 360) + 360) % 360) / 90
            let size = turns.isMultiple(of: 2) ? (160, 120) : (120, 160)
            let corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
            let red = corners[((mirrored ? 1 : 0) + turns) % 4]
            for (right, below) in corners {
                let color = try pixel(
                    file, 0, size.0, x: right * size.0 / 2 + size.0 / 4, y: below * size.1 / 2 + size.1 / 4)
                #expect((color[0] > 150) == ((right, below) == red), "\(degrees) \(mirrored) \(color)")
            }
        }
    }

    @Test func anglesOtherThanRightAnglesAreRejected() {
        for degrees in [1, 45, -91, .max, .min, 89] {
            #expect(DisplayTransform(clockwiseDegrees: degrees) == nil)
        }
    }

    /// Clean aperture, pixel aspect ratio and color are in the sample entry, whatever the file's structure.
    @Test(arguments: ["mp4", "mov"], ["plain", "network", "fragments", "immediate", "segments"])
    func cleanApertureIsStored(_ name: String, _ kind: String) async throws {
        if kind == "segments", name == "mov" { return }
        for hasColor in [true, false] { try await checkAperture(name, kind, hasColor) }
    }

    private func checkAperture(_ name: String, _ kind: String, _ hasColor: Bool) async throws {
        let scratch = try Scratch()
        let aperture = CleanAperture(
            width: Rational(150, 1), height: Rational(230, 2), horizontalOffset: Rational(-3, 2),
            verticalOffset: Rational(1, 1))
        let input = video {
            $0.cleanAperture = aperture
            $0.sampleAspectRatio = Rational(16, 15)
            if hasColor { $0.color = .standard }
        }
        let container = try #require(ContainerType.forExtension(name))
        let path = scratch.file("o." + name)
        let collector = SegmentTests.Collector()
        let writer =
            try kind == "segments"
            ? AssetWriter(segments: .cmaf, delegate: collector)
            : AssetWriter(
                url: URL(fileURLWithPath: path), container: container,
                publishing: kind == "immediate" ? .immediately : .whenFinished)
        writer.shouldOptimizeForNetworkUse = kind == "network"
        if kind == "fragments" { writer.movieFragmentInterval = MediaTime(value: 1, timescale: 1) }
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for number in 0..<60 as Range<Int64> { try input.append(frame((30, 200, 60), 160, 120, at: number)) }
        try input.markAsFinished()
        try await writer.finishWriting()
        if kind == "segments" { _ = try collector.write(to: path) }
        let file = FFmpegFile(path)
        #expect(try file.decodeErrors() == "")
        #expect(try file.frames().times.count == 60)
        let stream = try file.stream("v:0", "sample_aspect_ratio,color_space,color_primaries,color_transfer")
        #expect(stream["sample_aspect_ratio"] as? String == "16:15")
        #expect(!hasColor || stream["color_primaries"] as? String == "bt709")
        let boxes = try MovieBoxes(path)
        let entry = boxes.sampleEntryBoxes(track: 0)
        #expect(entry.contains { $0.name == "pasp" && $0.body == [0, 0, 0, 16, 0, 0, 0, 15] })
        let clap = try #require(entry.first { $0.name == "clap" })
        let values = stride(from: 0, to: 32, by: 4).map { offset in
            Int(Int32(bitPattern: clap.body[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }))
        }
        #expect(values == [150, 1, 230, 2, -3, 2, 1, 1])
        let color = entry.filter { $0.name == "colr" }
        #expect(color.count == (hasColor ? 1 : 0))
        #expect(
            !hasColor
                || String(decoding: color[0].body.prefix(4), as: UTF8.self)
                    == (name == "mp4" ? "nclx" : "nclc")
        )
        let track = try #require(try await Asset(url: URL(fileURLWithPath: path)).load(.tracks).first)
        #expect(track.format.cleanAperture == aperture)
    }

    /// Clean apertures outside the frame, and containers that can't store one, are refused.
    @Test func impossibleCleanAperturesAreRefused() throws {
        let scratch = try Scratch()
        let one = Rational(1, 1)
        let wrong = [
            CleanAperture(width: Rational(161, 1), height: one),
            CleanAperture(width: Rational(0, 1), height: one),
            CleanAperture(width: one, height: Rational(-5, 1)),
            CleanAperture(width: one, height: Rational(1, 0)),
            CleanAperture(width: Rational(.max, .max), height: one, horizontalOffset: Rational(.min, 1)),
            CleanAperture(width: Rational(160, 1), height: one, horizontalOffset: Rational(1, 100)),
            CleanAperture(width: one, height: one, verticalOffset: Rational(1, 0)),
        ]
        for (container, aperture) in wrong.map({ (ContainerType.mp4, $0) })
            + [(.matroska, CleanAperture(width: one, height: one))]
        {
            let writer = try AssetWriter(url: URL(fileURLWithPath: scratch.file("o")), container: container)
            try writer.add(video { $0.cleanAperture = aperture })
            #expect(throws: MediaError.self, "\(aperture)") { try writer.startWriting() }
            #expect(scratch.contents.isEmpty)
        }
    }
}
