import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests the encoding of video tracks: size, pixel format, color, rate control and timing.
@Suite struct VideoEncodingPlannerTests {
    private func decide(
        _ encode: String, of track: TrackDescription = .video(), ranges: [TimeRange] = [],
        in container: String = "mkv"
    ) throws -> (encoding: TrackPlan.Encoding, notes: [String]) {
        let written = try JobSnippet(
            rule: "{ video: first, encode: { \(encode) } }", "container: \(container)"
        ).video
        let spec = FramePlanner.resolved(written, for: track)
        let prepared = try #require(
            FramePlanner(spec: spec, track: track, prober: FakeProber()).decide().value)
        let encoder = try #require(spec.codec.value.availableEncoder)
        let decision = VideoEncodingPlanner(
            spec: spec, track: track, prepared: prepared, timeZero: .zero, ranges: ranges, encoder: encoder,
            container: try .required(container)
        ).decide()
        #expect(decision.reasons.diagnostics.diagnostics.isEmpty)
        return (try #require(decision.value), decision.reasons.notes)
    }

    private func setting(_ key: String, _ encoding: TrackPlan.Encoding) -> String? {
        encoding.settings.first { $0.key == key }.map { "\($0.value) (\($0.origin.rawValue))" }
    }

    @Test func defaultsComeFromTheSource() throws {
        let (encoding, notes) = try decide("codec: h264", of: .video { $0.color = .standard })
        let encoder = encoding.encoder
        #expect(encoder.encoder == "libx264" && encoder.width == 1280 && encoder.height == 720)
        #expect(encoder.pixelFormat == .yuv420p && encoder.color == .standard)
        #expect(encoder.frameRate == Rational(25, 1) && encoder.timeBase == Rational(1, 12_800))
        #expect(encoder.keyframeInterval == nil && encoder.sampleAspectRatio == nil)
        #expect(encoding.video?.size == nil && encoding.video?.pixelFormat == nil)
        #expect(encoding.video?.frameRate == nil && encoding.video?.color == nil)
        #expect(setting("codec", encoding) == "h264 (libx264) (job)")
        #expect(setting("rate control", encoding) == "crf 23 (default)")
        #expect(setting("size", encoding) == "1280x720 (source)")
        #expect(setting("frame_rate", encoding)?.hasPrefix("source timing") == true)
        #expect(notes == [] && encoding.requestedColor == [] && !encoding.hasTwoPasses)
    }

    /// A size with both sides is a bounding box into which the frame is scaled, with square pixels. A single side keeps
    /// the aspect ratio. Computed sides are rounded to the nearest even number.
    @Test(
        arguments: [
            (1280, 720, nil, "size: x360", "640x360", nil, nil),
            (1280, 720, nil, "size: 320x", "320x180", nil, nil),
            (1280, 720, nil, "size: 640x640", "640x360", Rational(1, 1), nil),
            (256, 110, nil, "size: 1280x720", "1280x550", Rational(1, 1), nil),
            (256, 110, nil, "size: 1280x720, fit: contain", "1280x720", Rational(1, 1), "1280x550"),
            (256, 110, nil, "size: 1280x720, fit: cover", "1280x720", Rational(1, 1), "1676x720"),
            (256, 110, nil, "size: 1280x720, fit: stretch", "1280x720", Rational(1, 1), nil),
            (1280, 720, nil, "size: 1920x1080, fit: scale-down", "1280x720", nil, nil),
            (1080, 1920, nil, "size: 1280x720, fit: scale-down", "720x1280", Rational(1, 1), nil),
            (720, 576, Rational(64, 45), "size: 720x576", "720x406", Rational(1, 1), nil),
            (720, 576, Rational(64, 45), "size: x288", "360x288", Rational(64, 45), nil),
            (720, 576, nil, "size: 720x576, pixel_aspect_ratio: '64:45'", "720x576", Rational(64, 45), nil),
            (1281, 721, nil, "crf: 23", "1280x720", nil, nil),
        ] as [(Int, Int, Rational?, String, String, Rational?, String?)])
    func sizesAreFittedToTheSource(
        _ width: Int, _ height: Int, _ aspect: Rational?, _ keys: String, _ size: String,
        _ outputAspect: Rational?, _ inner: String?
    ) throws {
        let track = TrackDescription.video(width, height) { $0.pixelAspectRatio = aspect }
        let (encoding, _) = try decide("codec: h264, \(keys)", of: track)
        #expect("\(encoding.encoder.width)x\(encoding.encoder.height)" == size)
        #expect((encoding.encoder.sampleAspectRatio ?? Rational(1, 1)) == (outputAspect ?? Rational(1, 1)))
        #expect(encoding.video?.innerSize?.description == inner)
    }

    /// Conversions that a user may not expect are noted.
    @Test(arguments: [
        (
            TrackDescription.video(1281, 721), "",
            ["odd size 1281x721 becomes 1280x720, which yuv420p requires"]
        ),
        (.video(256, 110), "size: 512x", ["scaled up from 256x110 to 512x220"]),
        (
            .video(256, 110), "size: 128x72, fit: stretch",
            ["`fit: stretch` distorts the frame from 2.33:1 to 1.78:1"]
        ),
        (.video(format: "yuva420p"), "", ["the alpha plane is dropped: yuv420p has none"]),
        (
            .video(720, 576) { $0.isInterlaced = true }, "size: x288, deinterlace: off",
            ["fields are mixed: interlaced frames are scaled as progressive ones (`deinterlace: off`)"]
        ),
        (
            .video { $0.sideData = [.state(.lateKeyframe)] }, "",
            [
                "video track 0 begins before its first keyframe: frames whose references are missing are dropped"
            ]
        ),
        (
            .video(), "frame_rate: 12.5", ["closed captions of dropped frames are lost, if there are any"]
        ),
        (.video(), "frame_rate: 50", []),
    ])
    func changesAreNoted(_ track: TrackDescription, _ keys: String, _ notes: [String]) throws {
        let comma = keys.isEmpty ? "" : ", "
        #expect(try decide("codec: h264\(comma)\(keys)", of: track).notes == notes)
    }

    /// The pixel format is the source's, or the nearest one that the encoder supports.
    @Test(arguments: [
        ("yuv420p", "codec: h264", "yuv420p"), ("yuv444p", "codec: h264", "yuv444p"),
        ("yuv422p10le", "codec: h264", "yuv422p10le"), ("yuv420p", "codec: prores", "yuv422p10le"),
        ("yuv444p", "codec: h264, pixel_format: yuv420p", "yuv420p"), ("rgb24", "codec: h264", "yuv444p"),
    ])
    func pixelFormatsAreNearest(_ source: String, _ encode: String, _ expected: String) throws {
        let (encoding, _) = try decide(encode, of: .video(format: source), in: "mov")
        #expect("\(encoding.encoder.pixelFormat)" == expected)
        #expect(encoding.video?.pixelFormat.map { "\($0)" } == (source == expected ? nil : expected))
    }

    @Test func hdrIsToneMappedToSDROnRequest() throws {
        let track = TrackDescription.video(format: "yuv420p10le") { $0.color = .hdr }
        let (mapped, notes) = try decide("codec: h264, color: sdr", of: track)
        #expect(mapped.video?.mapsTones == true && mapped.encoder.pixelFormat == .yuv420p)
        #expect(mapped.encoder.color.transfer == "bt709" && mapped.encoder.color.primaries == "bt709")
        #expect(notes == ["tone mapping from HDR to SDR (hable)"])
        let (kept, none) = try decide("codec: h264", of: track)
        #expect(kept.encoder.color == .hdr && kept.video?.mapsTones == false && none == [])
        #expect("\(kept.encoder.pixelFormat)" == "yuv420p10le")
        let (plain, _) = try decide("codec: h264, color: sdr", of: .video { $0.color = .standard })
        #expect(plain.video?.mapsTones == false && plain.encoder.color == .standard)
    }

    /// Color properties that the source declares are converted; others are only written.
    @Test func declaredColorsAreConverted() throws {
        let encode = "codec: h264, color: { matrix: smpte170m }"
        let (converted, _) = try decide(encode, of: .video { $0.color = .standard })
        #expect(
            converted.video?.color?.matrix == "smpte170m" && converted.encoder.color.matrix == "smpte170m")
        #expect(converted.video?.color?.primaries == nil && converted.requestedColor == ["matrix"])
        let (written, _) = try decide(encode)
        #expect(written.video?.color == nil && written.encoder.color.matrix == "smpte170m")
        let (full, _) = try decide("codec: h264, color: { range: pc }", of: .video { $0.color = .standard })
        #expect(full.encoder.color.range == .full && full.video?.levels == .full)
        #expect(full.requestedColor == ["range"])
    }

    /// Players derive a missing matrix from the frame size. If scaling would change the result, the matrix is declared.
    @Test func assumedMatrixIsDeclaredIfPlayersWouldAssumeAnother() throws {
        let (large, notes) = try decide("codec: h264, size: x720", of: .video(720, 480))
        #expect(large.encoder.color.matrix == "smpte170m")
        #expect(notes.contains { $0.hasPrefix("the source states no color matrix; smpte170m is assumed") })
        let (small, none) = try decide("codec: h264, size: x240", of: .video(720, 480))
        #expect(small.encoder.color.matrix == nil && none == [])
    }

    @Test(arguments: [
        ("crf: 18.5", "crf", "18.5"), ("qp: 20", "qp", "20"), ("lossless: true", "qp", "0"),
        ("preset: slow", "preset", "slow"), ("profile: high", "profile", "high"),
        ("tune: film", "tune", "film"),
    ])
    func settingsArePassedToTheEncoder(_ keys: String, _ option: String, _ value: String) throws {
        let (encoding, _) = try decide("codec: h264, \(keys)")
        #expect(encoding.encoder.options.contains(MetadataEntry(key: option, value: value)))
        let key = keys.prefix { $0 != ":" }
        #expect(encoding.settings.contains { $0.key == key && $0.origin == .job })
    }

    @Test func bitRatesArePassedToTheEncoder() throws {
        let (encoding, _) = try decide(
            "codec: h264, bitrate: 2M, max_bitrate: 3M, buffer_size: 4M, passes: 2")
        #expect(encoding.encoder.bitRate == 2_000_000 && encoding.encoder.maxBitRate == 3_000_000)
        #expect(encoding.encoder.bufferSize == 4_000_000 && encoding.hasTwoPasses)
        #expect(!encoding.encoder.options.contains { $0.key == "crf" })
    }

    @Test(
        arguments: [
            ("keyframe_interval: 48", Rational(25, 1), 48), ("keyframe_interval: 2s", Rational(25, 1), 50),
            ("keyframe_interval: 2s, frame_rate: 50", Rational(25, 1), 100),
            ("keyframe_interval: 10ms", Rational(25, 1), 1),
        ] as [(String, Rational?, Int)])
    func keyframeIntervalsAreCountedInFrames(_ keys: String, _ rate: Rational?, _ expected: Int) throws {
        #expect(
            try decide("codec: h264, \(keys)", of: .video(rate: rate)).encoding.encoder.keyframeInterval
                == expected)
    }

    /// The times of all frames, relative to the start of the range, are whole numbers of ticks.
    @Test(arguments: [
        ("codec: h264", [TimeRange](), 12_800), ("codec: h264", [span(0.1, 3)], 12_800),
        ("codec: h264, frame_rate: 30", [], 30), ("codec: h264, frame_rate: 24", [span(0.1, 3)], 10),
        ("codec: h264", [TimeRange(start: MediaTime(value: 1, timescale: 7), end: s(3))], 7),
    ])
    func timeBasesRepresentAllTimes(_ encode: String, _ ranges: [TimeRange], _ divisor: Int32) throws {
        let base = try decide(encode, ranges: ranges).encoding.encoder.timeBase
        #expect(base.num == 1 && base.den.isMultiple(of: divisor), "\(base)")
        if !encode.contains("frame_rate") { #expect(base.den.isMultiple(of: 12_800), "\(base)") }
    }

    /// Interlaced frames stay interlaced if the codec supports fields and the frame isn't scaled, cropped or rotated.
    @Test func fieldsAreKept() throws {
        let track = TrackDescription.video(720, 576) { ($0.isInterlaced, $0.fieldOrder) = (true, .topFirst) }
        let (kept, notes) = try decide("codec: h264", of: track)
        #expect(kept.encoder.isInterlaced && kept.encoder.fieldOrder == .topFirst && notes == [])
        let (scaled, none) = try decide("codec: h264, size: x288", of: track)
        #expect(!scaled.encoder.isInterlaced && scaled.video?.deinterlacing == .auto && none == [])
        #expect(setting("deinterlace", scaled) == "auto (default)")
        let (unmarked, note) = try decide("codec: vp9", of: track)
        #expect(!unmarked.encoder.isInterlaced)
        #expect(note == ["interlaced frames are encoded as progressive ones by vp9"])
    }
}
