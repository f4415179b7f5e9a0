import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// A real file, with the properties that re-encoding must keep.
struct RealFile: Sendable, CustomTestStringConvertible {
    let name: String
    var range: (start: String, end: String)?
    var hasVideo = true
    var hasAudio = true
    /// Number of samples that the source's edit list shows; ffprobe, which ignores the end of an edit, counts more.
    var samples: Int?

    var testDescription: String { name + (range == nil ? " whole" : " 1.1 s to 3.3 s") }

    static let all: [RealFile] = {
        let whole = [
            RealFile(name: "example.mp4", samples: 2_035_200),
            RealFile(name: "bigbuckbunny.mp4", samples: 254_976),
            RealFile(name: "bikes.mp4", hasAudio: false),
            RealFile(name: "awesome movie.mov", samples: 329_721),
            RealFile(name: "rotated_video.mp4"), RealFile(name: "sample_edit_list.mp4", samples: 112_382),
            RealFile(name: "edit_list_positive_shift.mp4", samples: 480_240),
            RealFile(name: "small.mp4", samples: 480_240),
            RealFile(name: "000000000.ts"), RealFile(name: "big_buck_bunny_0_30.webm"),
            RealFile(name: "chaplin.mp4"), RealFile(name: "Apple  voice memo.m4a", hasVideo: false),
            RealFile(name: "440hz-10ms.m4a", hasVideo: false, samples: 441),
        ]
        let trimmed = whole.filter { $0.hasVideo && $0.name != "sample_edit_list.mp4" }.map { file in
            var file = file
            file.range = ("1.1", "3.3")
            file.samples = nil
            return file
        }
        var edit = RealFile(name: "sample_edit_list.mp4")
        edit.range = ("1.1", "2.5")
        return whole + trimmed + [edit]
    }()
}

@Suite(.enabled(if: TestPaths.media != nil), .serialized)
struct RealFileTests {
    /// Re-encodes a file, then compares times, frames, audio, orientation, pixel aspect ratio and color with the
    /// source.
    @Test(arguments: RealFile.all)
    func reencodeKeepsTimesFramesAndAudio(_ file: RealFile) async throws {
        let scratch = try Scratch()
        let source = try #require(TestPaths.media) + "/" + file.name
        let output = scratch.file("out.mp4")
        var rules = ""
        if file.hasVideo {
            rules += "      - { video: first, encode: { codec: h264, crf: 20, preset: veryfast } }\n"
        }
        if file.hasAudio { rules += "      - { audio: first, encode: { codec: aac, bitrate: 192k } }\n" }
        let range = file.range.map { "    range: { start: \($0.start), end: \($0.end) }\n" } ?? ""
        let yaml =
            "version: 1\njobs:\n  one:\n    asset: \"\(source)\"\n\(range)    tracks:\n\(rules)    destination: \(output)\n"
        let result = try success(try await run(yaml, in: scratch.path))
        let (before, after) = (FFmpegFile(source), FFmpegFile(output))
        var row = [file.testDescription]
        #expect(try after.decodeErrors() == "")
        if file.hasVideo { row += try checkFrames(file, before, after) }
        if file.hasAudio { row += try checkAudio(file, before, after, result) }
        print("measured: " + row.joined(separator: " | "))
    }

    private func checkFrames(_ file: RealFile, _ before: FFmpegFile, _ after: FFmpegFile) throws -> [String] {
        let (source, hidden) = try before.frames()
        let (output, ownHidden) = try after.frames()
        var expected = source
        var first = 0
        if let range = file.range, let start = Double(range.start), let end = Double(range.end) {
            // ffprobe's times are rounded to microseconds.
            let onScreen = source.filter { $0 <= start + 1e-5 }
            let inside = source.filter { $0 > start + 1e-5 && $0 < end - 1e-5 }
            expected = (onScreen.isEmpty ? [] : [0]) + inside.map { $0 - start }
            first = max(0, onScreen.count - 1)
        }
        #expect(output.count == expected.count, "one frame in, one frame out")
        let halfTick = 0.5 / (try after.timescale("v:0"))
        let error = zip(expected, output).map { abs($0 - $1) }.max() ?? 0
        #expect(error <= halfTick + 1e-6, "time stamps are off by \(error) s")
        let psnr = try after.lowestPSNR(
            against: before, first: first + hidden, count: expected.count, own: ownHidden)
        #expect(psnr > 32)
        try checkShape(before, after)
        return ["\(output.count) frames", "max error \(error * 1000) ms", "lowest PSNR \(psnr) dB"]
    }

    private func checkShape(_ before: FFmpegFile, _ after: FFmpegFile) throws {
        let entries =
            "width,height,sample_aspect_ratio,color_range,color_space,color_transfer,color_primaries"
        let (a, b) = (try before.stream("v:0", entries), try after.stream("v:0", entries))
        for key in ["width", "height"] { #expect(a[key] as? Int == b[key] as? Int) }
        let square: Set<String?> = [nil, "1:1", "0:1", "N/A"]
        let (shape, newShape) = (a["sample_aspect_ratio"] as? String, b["sample_aspect_ratio"] as? String)
        #expect(shape == newShape || square.contains(shape) && square.contains(newShape))
        for key in ["color_range", "color_space", "color_transfer", "color_primaries"]
        where a[key] as? String != "unknown" {
            #expect(a[key] as? String == b[key] as? String, "\(key)")
        }
        func matrix(_ stream: [String: Any]) -> String? {
            (stream["side_data_list"] as? [[String: Any]])?.lazy.compactMap { $0["displaymatrix"] as? String }
                .first
        }
        #expect(matrix(a) == matrix(b))
    }

    private func checkAudio(_ file: RealFile, _ before: FFmpegFile, _ after: FFmpegFile, _ result: JobResult)
        throws
        -> [String]
    {
        let rate = Int(try before.stream("a:0", "sample_rate")["sample_rate"] as? String ?? "") ?? 0
        var source = try before.audio(rate: rate)
        let output = try after.audio(rate: rate)
        if let range = file.range, let start = Double(range.start), let end = Double(range.end) {
            let (from, to) = (Int((start * Double(rate)).rounded()), Int((end * Double(rate)).rounded()))
            source = Array(source[min(from, source.count)..<min(to, source.count)])
        }
        let found = lag(source, output, reach: min(480, source.count / 4), step: 1)
        #expect(abs(Double(found.lag)) / Double(rate) <= 0.001)
        #expect(found.correlation > 0.9)
        // Audio is the last track of the job; chapters may follow as a text track.
        let all = try after.editDurations()
        let last = result.outputs[0].tracks.count - 1
        let edits = last < all.count ? all[last] : nil
        let shown = Int(((edits?.media ?? 0) * Double(rate)).rounded())
        let appended = result.outputs[0].tracks.last?.appendedSamples ?? 0
        // The edit list shows exactly the samples that were read, and these are exactly the samples that the source
        // shows. If the track starts after zero by less than the encoder's delay, silence is inserted.
        #expect(shown == appended + (result.outputs[0].tracks.last?.filledSamples ?? 0))
        if let samples = file.samples { #expect(appended == samples) }
        if let range = file.range, let start = Double(range.start), let end = Double(range.end),
            source.count == Int(((end - start) * Double(rate)).rounded())
        {
            #expect(appended == source.count)
        }
        return [
            "lag \(Double(found.lag) * 1000 / Double(rate)) ms", "correlation \(found.correlation)",
            "\(shown) samples shown of \(source.count)",
        ]
    }
}
