import Foundation
import JobPlan
import JobRun
import Media
import TestSupport
import Testing

/// Conversions of pixel format, range and matrix preserve the displayed colors. For comparison, outputs are converted
/// to RGB by zimg according to their color description.
@Suite struct ColorTests {
    /// Returns the RGB values of seven uniform areas of the first frame.
    private func shown(_ path: String) throws -> [[Int]] {
        let frame =
            try #require(
                try FFmpegFile(path).probe([
                    "-show_entries", "frame=width,height,pix_fmt,color_space,color_range", "-read_intervals",
                    "%+#1",
                ])["frames"] as? [[String: Any]]
            ).first ?? [:]
        let (width, height) = (try #require(frame["width"] as? Int), try #require(frame["height"] as? Int))
        let format = try #require(frame["pix_fmt"] as? String)
        let isFull = frame["color_range"] as? String == "pc" || format.hasPrefix("yuvj")
        let isRGB = ["gbr", "rgb", "bgr"].contains { format.hasPrefix($0) }
        let defaultMatrix = width >= 1280 || height > 576 ? "709" : "170m"
        let names = ["bt709": "709", "smpte170m": "170m", "bt470bg": "170m", "bt2020nc": "2020_ncl"]
        let matrix = (frame["color_space"] as? String).flatMap { names[$0] } ?? defaultMatrix
        let filter =
            format == "gray"
            ? "null"
            : isRGB
                ? "format=gbrp"
                : "zscale=matrixin=\(matrix):rangein=\(isFull ? "full" : "limited"):matrix=gbr:range=full,format=gbrp"
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-i", path, "-frames:v", "1", "-vf", filter, "-f", "rawvideo", "-c:v",
                "rawvideo", "-",
            ])
        let (bytes, plane) = ([UInt8](result.output), width * height)
        guard bytes.count == (format == "gray" ? 1 : 3) * plane else {
            throw ProgramError(message: "\(path): \(result.errors)")
        }
        // Seven bars; the planes are in the order green, blue, red.
        return (0..<7).map { bar in
            let at = height / 3 * width + width * (2 * bar + 1) / 14
            if format == "gray" {
                let value = Int(bytes[at])
                return Array(repeating: isFull ? value : (value - 16) * 255 / 219, count: 3)
            }
            return [2, 0, 1].map { Int(bytes[$0 * plane + at]) }
        }
    }

    /// Name and size of a source, the filters that convert RGB bars to its format, and encoder options.
    private static let sources: [(name: String, size: String, chain: String, coding: [String])] = [
        (
            "hd", "1400x72", "zscale=matrix=709:range=limited,format=yuv420p",
            ["-c:v", "libx264", "-qp", "1", "-colorspace", "bt709", "-color_range", "tv"]
        ),
        (
            "sd", "280x72", "zscale=matrix=170m:range=limited,format=yuv420p",
            ["-c:v", "libx264", "-qp", "1", "-colorspace", "smpte170m", "-color_range", "tv"]
        ),
        (
            "phone", "1400x72", "zscale=matrix=709:range=full,format=yuvj420p",
            ["-c:v", "libx264", "-qp", "1", "-colorspace", "bt709", "-color_range", "pc"]
        ),
        (
            "deep", "1400x72", "zscale=matrix=2020_ncl:range=full,format=yuv422p10le",
            ["-c:v", "ffv1", "-colorspace", "bt2020nc", "-color_range", "pc"]
        ),
        (
            "untagged", "1400x72", "zscale=matrix=709:range=limited,format=yuv444p",
            ["-c:v", "ffv1", "-colorspace", "unknown", "-color_range", "unknown"]
        ),
        ("rgb", "1400x72", "format=rgb24", ["-c:v", "png"]),
        ("gray", "1400x72", "format=gray", ["-c:v", "ffv1"]),
    ]

    /// Requested outputs, and the tolerance for a color value.
    private static let requested: [(name: String, encode: String, container: String, slack: Int)] = [
        ("h264", "codec: h264, qp: 1", "mp4", 3),
        ("yuv420p", "codec: h264, qp: 1, pixel_format: yuv420p", "mp4", 3),
        ("half", "codec: h264, qp: 1, pixel_format: yuv420p, size: x36", "mkv", 3),
        ("box", "codec: h264, qp: 1, pixel_format: yuv422p, size: 1280x72, fit: stretch", "mkv", 3),
        ("limited", "codec: h264, qp: 1, pixel_format: yuv444p, color: { range: tv }", "mp4", 3),
        ("full", "codec: ffv1, pixel_format: yuv444p, color: { range: pc }", "mkv", 3),
        ("hevc", "codec: hevc, qp: 1, preset: ultrafast", "mp4", 3),
        ("hevc10", "codec: hevc, qp: 1, preset: ultrafast, pixel_format: yuv422p10le", "mkv", 3),
        ("vp9", "codec: vp9, lossless: true", "webm", 3),
        ("av1", "codec: av1, qp: 1, preset: 10", "mp4", 6),
        ("prores", "codec: prores, profile: hq", "mov", 3),
        ("prores4444", "codec: prores, profile: 4444", "mkv", 3),
        ("mjpeg", "codec: mjpeg, qp: 2", "mov", 4),
        ("bgr0", "codec: ffv1, pixel_format: bgr0", "mkv", 3),
        ("matrix", "codec: ffv1, pixel_format: yuv444p, color: { matrix: bt2020nc, range: tv }", "mkv", 3),
        ("filter", "codec: ffv1, pixel_format: yuv444p, filters: 'colorchannelmixer=1'", "mkv", 3),
        (
            "limiter",
            "codec: ffv1, pixel_format: yuv422p, filters: 'scale=iw:ih:flags=bicubic:out_range=tv'", "mkv", 3
        ),
        ("field", "codec: ffv1, pixel_format: yuv420p, deinterlace: on", "mkv", 3),
    ]

    @Test(arguments: sources.map(\.name)) func colorsAreKept(_ name: String) async throws {
        let scratch = try Scratch()
        let source = try #require(Self.sources.first { $0.name == name })
        let path = scratch.file("s.mkv")
        try ffmpeg(
            [
                "-f", "lavfi", "-i", "smptebars=s=\(source.size):r=25:d=0.12", "-vf",
                "format=gbrp," + source.chain,
            ]
                + source.coding + [path])
        // Without a matrix in the source, none can be converted to another; libswscale treats all gray formats as full
        // range.
        let requested = Self.requested.filter {
            ($0.name != "matrix" || name != "untagged") && ($0.name != "limiter" || name != "gray")
        }
        let jobs = requested.map {
            "  \($0.name): { asset: ./s.mkv, tracks: [ { video: first, encode: { \($0.encode) } } ], destination: \($0.name).\($0.container) }\n"
        }
        let records = try await run("version: 1\njobs:\n" + jobs.joined(), in: scratch.path)
        let wanted = try shown(path)
        #expect(wanted.map { $0.max()! - $0.min()! }.max()! > (name == "gray" ? -1 : 150))
        for request in requested {
            _ = try success(records, request.name)
            let got = try shown(scratch.file("\(request.name).\(request.container)"))
            let worst = zip(wanted.joined(), got.joined()).map { abs($0 - $1) }.max() ?? 255
            #expect(worst <= request.slack, "\(name) to \(request.name): \(worst): \(wanted) \(got)")
        }
    }

    /// No frame is lost when frame size or range changes in mid-stream and the filter graph is replaced.
    @Test func changedFrameFormatsLoseNoFrame() async throws {
        let scratch = try Scratch()
        for (name, chain) in [("a", "scale=320:180"), ("b", "scale=160:90"), ("c", "scale=320:180")] {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=r=25:d=1", "-vf", chain, "-pix_fmt", "yuv420p", "-c:v",
                "libx264",
                "-bf", "0", "-color_range", name == "c" ? "pc" : "tv", "-f", "h264", scratch.file(name))
        }
        var joined = Data()
        for name in ["a", "b", "c"] {
            joined += try Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))
        }
        try joined.write(to: URL(fileURLWithPath: scratch.file("s.h264")))
        try ffmpeg(
            "-r", "25", "-i", scratch.file("s.h264"), "-c", "copy", "-bsf:v",
            "setts=time_base=1/90000:pts=N*3600:dts=N*3600",
            scratch.file("s.ts"))
        let jobs = [
            ("plain", "", 75), ("twice", ", frame_rate: 50", 150), ("fewer", ", frame_rate: 10", 30),
            ("fields", ", deinterlace: on", 75), ("both", ", deinterlace: on, frame_rate: 50", 150),
            ("small", ", size: 80x45", 75), ("filter", ", filters: 'hue=s=0'", 75),
        ]
        let text = jobs.map {
            "  \($0.0): { asset: ./s.ts, tracks: [ { video: first, encode: { codec: ffv1\($0.1) } } ], destination: \($0.0).mkv }\n"
        }
        let records = try await run("version: 1\njobs:\n" + text.joined(), in: scratch.path)
        for (name, _, count) in jobs {
            _ = try success(records, name)
            let times = try FFmpegFile(scratch.file("\(name).mkv")).frames().times
            #expect(times.count == count, "\(name)")
            let step = 3 / Double(count)
            #expect(
                times.enumerated().allSatisfy { abs($1 - Double($0) * step) < 0.0011 }, "\(name): \(times)")
        }
    }

    private static let ranges = ["tv", "pc", "part"]

    /// The ledger reports exactly those color descriptions of copied tracks that a container can't store.
    @Test func lostColorOfCopiesIsReported() async throws {
        let scratch = try Scratch()
        let codecs = [
            ("mpeg4", "yuv420p", ["mp4", "mov", "mkv", "ts"]), ("rawvideo", "uyvy422", ["mov", "mkv"]),
            ("v210", "yuv422p10le", ["mov"]), ("mpeg2video", "yuv420p", ["mp4", "ts"]),
            ("mpeg1video", "yuv420p", ["mp4", "ts"]),
            ("libx264", "yuv420p", ["mp4", "mov", "mkv", "ts"]), ("libvpx", "yuv420p", ["webm"]),
            ("prores_ks", "yuv422p10le", ["mov", "mkv"]), ("ffv1", "yuv420p", ["mkv"]),
        ]
        var jobs = ""
        for (codec, format, containers) in codecs {
            for range in Self.ranges {
                // Some containers can store only complete color descriptions.
                let whole = ["-color_primaries", "bt709", "-color_trc", "bt709"]
                let colors =
                    range == "part"
                    ? ["-colorspace", "bt709"] : ["-color_range", range, "-colorspace", "bt709"] + whole
                try ffmpeg(
                    ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=0.2", "-c:v", codec, "-pix_fmt", format]
                        + colors + [scratch.file("\(codec)-\(range).mkv")])
                for target in containers {
                    jobs +=
                        "  \(codec)-\(range)-\(target): { asset: ./\(codec)-\(range).mkv, tracks: [ { video: first, copy: true } ], destination: \(codec)-\(range)-\(target).\(target) }\n"
                }
            }
        }
        let records = try await run("version: 1\njobs:\n" + jobs, in: scratch.path)
        let keys = ["color_primaries", "color_transfer", "color_space"]
        func colors(_ name: String) throws -> [String] {
            let entries = (keys + ["color_range"]).joined(separator: ",")
            let found = try FFmpegFile(scratch.file(name)).probe([
                "-select_streams", "v:0", "-read_intervals", "%+#1", "-show_entries",
                "stream=\(entries):frame=\(entries)",
            ])
            // Values of frames take precedence: newer versions of ffprobe omit stream values that only the decoder
            // determines.
            let levels = ["frames", "streams"].compactMap { (found[$0] as? [[String: Any]])?.first }
            func value(_ key: String) -> String? {
                levels.lazy.compactMap { $0[key] as? String }.first { $0 != "unknown" }
            }
            return keys.map { value($0) ?? "unknown" } + [value("color_range") == "pc" ? "pc" : "tv"]
        }
        var lost = 0
        for (codec, _, containers) in codecs {
            for range in Self.ranges {
                let source = try colors("\(codec)-\(range).mkv")
                for target in containers {
                    let id = "\(codec)-\(range)-\(target)"
                    _ = try success(records, id)
                    let output = try colors("\(id).\(target)")
                    let ledger = try #require(records.first { $0.id == id }?.plan?.outputs[0].ledger)
                    let entry = ledger.first { $0.item.text.hasPrefix("colour") }
                    #expect((entry != nil) == (source != output), "\(id): \(source) \(output)")
                    #expect(
                        entry?.item.text.contains("full range") ?? false == (source[3] != output[3]), "\(id)")
                    if entry != nil { lost += 1 }
                }
            }
        }
        // With newer versions of ffmpeg, sources declare less color, so fewer losses are possible.
        #expect(lost >= 10)
    }

    /// The output's color description is that after the job's filters, and `color` converts from it.
    @Test func filtersDetermineTheColorDescription() async throws {
        let scratch = try Scratch()
        for (name, matrix, range, depth) in [
            ("sd", "170m", "limited", "yuv420p"), ("deep", "709", "full", "yuv422p10le"),
        ] {
            try ffmpeg(
                "-f", "lavfi", "-i", "smptebars=s=280x72:r=25:d=0.12", "-vf",
                "format=gbrp,zscale=matrix=\(matrix):range=\(range),format=\(depth)", "-c:v", "ffv1",
                "-colorspace",
                matrix == "709" ? "bt709" : "smpte170m", "-color_primaries", "bt709", "-color_trc", "bt709",
                "-color_range", range == "full" ? "pc" : "tv", scratch.file("\(name).mkv"))
        }
        let chains = [
            ("matrix", "zscale=m=709", ""), ("space", "colorspace=all=bt709:iall=smpte170m", ""),
            ("full", "zscale=r=full", ""), ("limited", "zscale=r=limited", ""), ("planes", "format=gbrp", ""),
            ("both", "zscale=m=709", ", color: { matrix: bt709 }"),
            ("back", "zscale=m=709:r=full", ", color: { matrix: smpte170m, range: tv }"),
            (
                "other", "zscale=m=2020_ncl",
                ", color: { primaries: bt470bg, transfer: smpte170m, matrix: bt470bg }"
            ),
        ]
        let jobs = ["sd", "deep"].flatMap { source in
            chains.filter { source == "sd" || $0.0 != "space" }.map {
                (id: "\(source)-\($0.0)", source: source, chain: $0.1, color: $0.2)
            }
        }
        let text = jobs.map {
            "  \($0.id): { asset: ./\($0.source).mkv, tracks: [ { video: first, encode: { codec: ffv1, pixel_format: yuv444p, filters: '\($0.chain)'\($0.color) } } ], destination: \($0.id).mkv }\n"
        }
        let records = try await run("version: 1\njobs:\n" + text.joined(), in: scratch.path)
        for job in jobs {
            _ = try success(records, job.id)
            // Other primaries represent the same colors by other values.
            if job.color.contains("primaries") { continue }
            let (wanted, got) = (
                try shown(scratch.file("\(job.source).mkv")), try shown(scratch.file("\(job.id).mkv"))
            )
            let worst = zip(wanted.joined(), got.joined()).map { abs($0 - $1) }.max() ?? 255
            #expect(
                worst <= 3 || job.id == "sd-space" && worst <= 40, "\(job.id): \(worst): \(wanted) \(got)")
            let stream = try FFmpegFile(scratch.file("\(job.id).mkv")).stream(
                "v:0", "color_space,color_range")
            if job.chain == "zscale=m=709" { #expect(stream["color_space"] as? String == "bt709") }
            if job.chain == "zscale=r=full" { #expect(stream["color_range"] as? String == "pc") }
        }
    }

    /// Frames that the job's filters tone-map aren't tone-mapped again.
    @Test func toneMappingOfFiltersIsNotRepeated() async throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.2", "-vf",
            "zscale=transferin=709:primariesin=709:matrixin=709:transfer=smpte2084:primaries=2020:matrix=2020_ncl:npl=400,format=yuv420p10le",
            "-c:v", "ffv1", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace",
            "bt2020nc",
            "-color_range", "tv", scratch.file("s.mkv"))
        let chain =
            "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=hable,zscale=t=bt709:m=bt709:r=tv,format=yuv420p"
        try ffmpeg("-i", scratch.file("s.mkv"), "-vf", chain, "-c:v", "ffv1", scratch.file("w.mkv"))
        for color in ["", ", color: sdr", ", color: { primaries: bt709, transfer: bt709, matrix: bt709 }"] {
            _ = try success(
                try await run(
                    """
                    version: 1
                    jobs:
                      j: { asset: ./s.mkv, tracks: [ { video: first, encode: { codec: ffv1, filters: '\(chain)'\(color) } } ], destination: { path: o.mkv, if_exists: replace } }
                    """, in: scratch.path))
            #expect(
                try FFmpegFile(scratch.file("o.mkv")).frameHashes()
                    == FFmpegFile(scratch.file("w.mkv")).frameHashes())
            let stream = try FFmpegFile(scratch.file("o.mkv")).stream(
                "v:0", "color_space,color_transfer,color_primaries")
            for key in ["color_space", "color_transfer", "color_primaries"] {
                #expect(stream[key] as? String == "bt709", "\(color) \(key)")
            }
        }
    }

    /// Frames whose aspect ratio changes in mid-stream get bars, or are cropped with `fit: cover`, and aren't
    /// distorted.
    @Test func changedAspectRatiosAreNotDistorted() async throws {
        let scratch = try Scratch()
        for (name, size, aspect) in [("a", "160x120", "1"), ("b", "120x160", "1"), ("c", "160x120", "2")] {
            try ffmpeg(
                "-f", "lavfi", "-i", "color=white:s=\(size):r=25:d=0.4", "-vf", "setsar=\(aspect)",
                "-pix_fmt",
                "yuv420p", "-c:v", "libx264", "-bf", "0", "-f", "h264", scratch.file(name))
        }
        for (name, parts) in [("ab", ["a", "b"]), ("ac", ["a", "c"])] {
            var joined = Data()
            for part in parts { joined += try Data(contentsOf: URL(fileURLWithPath: scratch.file(part))) }
            try joined.write(to: URL(fileURLWithPath: scratch.file("\(name).h264")))
            try ffmpeg(
                "-r", "25", "-i", scratch.file("\(name).h264"), "-c", "copy", "-bsf:v",
                "setts=time_base=1/90000:pts=N*3600:dts=N*3600", scratch.file("\(name).ts"))
        }
        // Settings, with the width and height of the white area in the last frame.
        let jobs: [(String, String, String, Int, Int)] = [
            ("whole", "ab", "", 90, 120), ("contain", "ab", ", size: 160x90, fit: contain", 68, 90),
            ("cover", "ab", ", size: 160x90, fit: cover", 160, 90), ("width", "ab", ", size: 80x", 45, 60),
            ("inside", "ab", ", size: 80x80, fit: inside", 44, 60),
            ("turned", "ab", ", orientation: 90", 120, 90),
            ("aspect", "ac", "", 160, 60), ("square", "ac", ", size: 96x64, fit: contain", 96, 36),
        ]
        let text = jobs.map {
            "  \($0.0): { asset: ./\($0.1).ts, tracks: [ { video: first, encode: { codec: ffv1, pixel_format: yuv420p\($0.2) } } ], destination: \($0.0).mkv }\n"
        }
        let records = try await run("version: 1\njobs:\n" + text.joined(), in: scratch.path)
        for (name, _, _, width, height) in jobs {
            let result = try success(records, name)
            #expect(
                result.warnings.contains {
                    $0.contains("frame size or aspect ratio of the source changes at 0.4 s")
                },
                "\(result)")
            let stream = try FFmpegFile(scratch.file("\(name).mkv")).stream("v:0", "width,height")
            let (wide, high) = (try #require(stream["width"] as? Int), try #require(stream["height"] as? Int))
            let decoded = try program(
                "ffmpeg",
                [
                    "-v", "error", "-i", scratch.file("\(name).mkv"), "-vf", "extractplanes=y", "-f",
                    "rawvideo",
                    "-c:v", "rawvideo", "-",
                ])
            let bytes = [UInt8](decoded.output)
            #expect(bytes.count == 20 * wide * high)
            let last = bytes.suffix(wide * high)
            func at(_ x: Int, _ y: Int) -> Bool { last[last.startIndex + y * wide + x] > 128 }
            let across = (0..<wide).count { at($0, high / 2) }
            let along = (0..<high).count { at(wide / 2, $0) }
            #expect(
                abs(across - width) <= 2 && abs(along - height) <= 2,
                "\(name): \(across)x\(along) in \(wide)x\(high)")
        }
    }
}
