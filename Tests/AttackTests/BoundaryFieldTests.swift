import BinaryCoding
import Diagnostics
import Foundation
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests media whose header fields have values at the limits of their types. The description passes through a worker's
/// probe, the supervisor's validation, planning and rendering: nothing traps, and no valid reply is rejected.
@Suite(.serialized) struct BoundaryFieldTests {
    /// A prober that returns a fixed description, and success for every other request.
    private struct FixedProber: SourceProber {
        let environment = SourceEnvironment()
        let trials = SettingsValidationCache()
        let description: SourceDescription
        func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
            switch request.subject {
            case .description, .images: return .description(description)
            case .presentationTimes: return .presentationTimes(true)
            case .order: return .order(nil)
            case .audioFormat: return .audioFormat(nil)
            case .keyFrames, .scenes: return .keyFrames([])
            case .frames(_, let ranges, let numbers):
                return .frames(
                    FramePositions(of: numbers, in: ranges, count: 1 << 40, every: Rational(1, 1000)))
            case .subtitleEvents: return .presence(true)
            case .cadence: return .cadence(nil)
            case .byteCount: return .byteCount(1 << 20)
            case .fileContents:
                return .fileContents(FileContents(size: 100, digest: String(repeating: "0", count: 64)))
            case .activeArea: return .activeArea(PixelRectangle(x: 0, y: 2, width: 1 << 20, height: 8))
            case .loudness: return .loudness(nil)
            case .cover: throw SourceProblem("no image")
            case .cut, .joinedCut, .clipCut: return .cut(nil)
            case .trial(.filtered(_, let format, _)): return .verdict(.outputs(format))
            case .trial: return .verdict(.valid)
            }
        }
    }

    /// Returns jobs that together use all fields of a source description.
    private static func jobs(for path: String) -> String {
        """
        version: 1
        defaults: { destination: { if_exists: replace } }
        jobs:
          copy: { asset: \(path), tracks: [ { video: all, copy: true, optional: true }, { audio: all, copy: true, optional: true }, { subtitle: all, copy: true, optional: true } ], destination: c.mp4 }
          keep: { asset: \(path), tracks: [ { video: all, copy: true, optional: true }, { audio: all, copy: true, optional: true } ], destination: c.mkv }
          bake: { asset: \(path), tracks: [ { video: first, encode: { codec: h264, orientation: bake, size: 320x, crop: clean_aperture } } ], destination: b.mp4 }
          plain: { asset: \(path), tracks: [ { video: first, encode: { codec: hevc, orientation: bake, deinterlace: auto, frame_rate: 25, keyframe_interval: 2s } }, { audio: first, encode: { codec: aac }, optional: true } ], destination: p.mp4 }
          range: { asset: \(path), range: [ { start: 10%, end: 50% }, { start: -10ms } ], tracks: [ { video: first, encode: { codec: ffv1, filters: hflip, pixel_format: yuv420p, color: sdr }, optional: true }, { audio: all, encode: { codec: flac, normalize: { integrated: -16 } }, optional: true } ], destination: r.mkv }
          cut: { asset: \(path), range: { start: 1f, duration: 30% }, cut: smart-or-exact, tracks: [ { video: first, copy: true } ], destination: s.mp4 }
          small: { asset: \(path), limit: { size: 100kB, duration: 1s }, tracks: [ { audio: first, encode: { codec: opus } } ], expect: { duration: { is: 1s, within: 40ms }, frames: 3, size: { max: 1MB } }, destination: a.mkv }
          many: { asset: \(path), export: highest, destination: e.mp4 }
          clips: { composition: [ \(path), { asset: \(path), range: { start: 1f } }, { join: dissolve, overlap: 40ms }, \(path) ], cut: smart-or-exact, tracks: [ { video: first, copy: true }, { audio: first, copy: true, encode: { codec: aac }, optional: true } ], destination: j.mp4 }
          web: { asset: \(path), export: 640x480, fragment: 1s, chapters: keep, destination: w.mp4 }
        """
    }

    /// Probes, validates, plans and renders a file. Returns the error if a valid reply of the worker is rejected.
    private func walk(_ path: String, timing: AssetTiming) -> String? {
        let request = ProbeRequest(path: path, subject: .description(timing))
        guard case .description(let own)? = try? LocalProber().respond(to: request) else { return nil }
        let sent = WorkerMessage.Report.probed(.response(.description(own)))
        guard let bytes = try? BinaryEncoder().encode(sent) else { return "the report can't be encoded" }
        let got: WorkerMessage.Report
        do { got = try BinaryDecoder().decode(WorkerMessage.Report.self, from: bytes) } catch {
            return "the report can't be decoded: \(error)"
        }
        guard case .probed(.response(let response)) = got, case .description(let description) = response
        else {
            return "decoding yields another message"
        }
        guard ReplyValidator.isValid(response) else { return "the description is rejected: \(description)" }
        _ = ProbeText.render(description, name: path)
        let (file, sink) = decode(
            Self.jobs(for: path), directory: (path as NSString).deletingLastPathComponent)
        guard let file, !sink.hasErrors else {
            return "the job file has errors: \(sink.diagnostics.map(\.message))"
        }
        let result = BatchPlanner.plan([file], prober: FixedProber(description: description))
        _ = PlanText.render(result.plan, reasons: { _ in RunReasons(lines: []) })
        _ = rendered(result.diagnostics, "")
        _ = try? JSONEncoder().encode(result.plan)
        for job in result.plan.jobs {
            _ = JobCost(job)
            _ = try? BinaryEncoder().encode(job)
        }
        return nil
    }

    /// Returns the byte range that contains a file's headers.
    private func header(of bytes: Data, _ name: String) -> Range<Int> {
        if name.hasSuffix("mp4") || name.hasSuffix("mov"), let at = bytes.range(of: Data("moov".utf8)) {
            return at.lowerBound..<bytes.count
        }
        return 0..<min(bytes.count, name.hasSuffix("ts") ? 600 : 1500)
    }

    private static let edges: [[UInt8]] = [
        [0], [0x7f], [0x80], [0xff], [0x7f, 0xff], [0x80, 0], [0, 0, 0, 0], [0, 0, 0, 1],
        [0x7f, 0xff, 0xff, 0xff],
        [0x80, 0, 0, 0], [0x80, 0, 0, 1], [0xff, 0xff, 0xff, 0xff],
        [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0x80, 0, 0, 0, 0, 0, 0, 0], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ]

    private static let kinds: [(name: String, arguments: [String])] = [
        (
            "a.mp4",
            [
                "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-movflags", "+faststart",
                "-metadata:s:v", "rotate=90",
            ]
        ),
        (
            "edits.mov",
            [
                "-output_ts_offset", "0.2", "-c:v", "libx264", "-bf", "2", "-c:a", "pcm_s16le",
                "-video_track_timescale", "90000", "-timecode", "01:00:00:00",
            ]
        ),
        (
            "frag.mp4",
            [
                "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-movflags",
                "frag_keyframe+empty_moov",
            ]
        ),
        ("a.mkv", ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "libopus", "-metadata", "title=x"]),
        ("a.webm", ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libvorbis"]),
        ("a.ts", ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"]),
        ("a.avi", ["-c:v", "mpeg4", "-c:a", "mp3"]),
        ("a.flv", ["-c:v", "flv", "-c:a", "mp3", "-ar", "44100"]),
        ("a.wav", ["-vn"]), ("a.flac", ["-vn"]), ("a.ogg", ["-vn", "-c:a", "libvorbis"]), ("a.mp3", ["-vn"]),
        ("a.asf", ["-c:v", "mpeg4", "-c:a", "wmav2"]),
        ("a.mxf", ["-c:v", "mpeg2video", "-ar", "48000", "-c:a", "pcm_s16le"]),
    ]

    /// Returns the offsets of 32-bit fields in the boxes of an mp4 or mov file.
    private static func numbers(in bytes: Data) -> [Int] {
        let boxes = ["mvhd", "tkhd", "mdhd", "elst", "stts", "pasp", "clap", "trex", "tfhd", "trun"]
        return boxes.flatMap { name -> [Int] in
            guard let at = bytes.range(of: Data(name.utf8)), at.lowerBound >= 4 else { return [] }
            let size = bytes[(at.lowerBound - 4)..<at.lowerBound].reduce(0) { $0 << 8 | Int($1) }
            let end = min(at.lowerBound - 4 + min(size, 100), bytes.count - 4)
            return Array(stride(from: at.upperBound, to: max(at.upperBound, end), by: 4))
        }
    }

    @Test(arguments: kinds.map(\.name)) func headerFieldsAtTheirLimitsCauseNoTrap(_ name: String) throws {
        let scratch = try Scratch()
        let arguments = try #require(Self.kinds.first { $0.name == name }).arguments
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.4", "-f", "lavfi", "-i", "sine=r=48000:d=0.4"]
                + arguments
                + [scratch.file(name)])
        let original = try Data(contentsOf: URL(filePath: scratch.file(name)))
        #expect(walk(scratch.file(name), timing: .precise) == nil)
        let range = header(of: original, name)
        var generator = XorshiftGenerator(UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }.magnitude))
        // There are some 20,000 combinations for each kind of file; each round tests one, determined by the seed.
        let rounds = ProcessInfo.processInfo.environment["TANDEM_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 60
        let path = scratch.file("case-" + name)
        // All fields of boxes that contain only numbers.
        for at in Self.numbers(in: original) {
            for edge in [
                [0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff], [0x80, 0, 0, 0], [0xff, 0xff, 0xff, 0xff],
            ] {
                var bytes = original
                bytes.replaceSubrange(at..<(at + 4), with: edge.map { UInt8($0) })
                try bytes.write(to: URL(filePath: path))
                if let problem = walk(path, timing: .fast) { Issue.record("at \(at): \(problem)") }
            }
        }
        for round in 0..<rounds {
            var bytes = original
            // Usually one field is changed; in every fourth round, three.
            for _ in 0..<(round % 4 == 0 ? 3 : 1) {
                let edge = Self.edges.randomElement(using: &generator) ?? [0]
                let at = Int.random(in: range, using: &generator)
                guard at + edge.count <= bytes.count else { continue }
                bytes.replaceSubrange(at..<(at + edge.count), with: edge)
            }
            try bytes.write(to: URL(filePath: path))
            if let problem = walk(path, timing: round % 8 == 0 ? .precise : .fast) {
                Issue.record("round \(round): \(problem)")
            }
        }
    }

    /// Tests that descriptions of real, unchanged files pass the supervisor's validation.
    @Test(arguments: TestPaths.mediaFiles) func descriptionsOfRealFilesAreAccepted(_ name: String) throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        let path = scratch.file("x." + (name.split(separator: ".").last.map(String.init) ?? ""))
        try FileManager.default.copyItem(atPath: media + "/" + name, toPath: path)
        let problem = walk(path, timing: .fast)
        #expect(problem == nil)
    }
}
