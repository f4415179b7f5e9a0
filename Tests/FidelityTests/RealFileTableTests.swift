import Foundation
import TestSupport
import Testing

/// Every readable real file is encoded losslessly, and the output's frames and samples equal the source's. Of long
/// files, two seconds are compared, and half a second of large frames. An independent script in the media folder compares; the table is printed.
@Suite(.enabled(if: TestPaths.verificationScript != nil && !TestPaths.isQuick))
struct RealFileTableTests {
    /// Files whose results differ for a known reason.
    private static let exceptions = [
        // The decoder hides its first samples, which the script counts, so that later samples are shifted.
        "bear-vbr-xing-header.mp3": "audio", "gapless.mp3": "audio", "bear.opus": "audio",
        // Some timestamps are 10 ms after the end of the previous packet. The script treats this as a gap and inserts
        // silence; `RealFileTests` compares this file's samples with ffmpeg's decoding.
        "big_buck_bunny_0_30.webm": "audio",
        // Packed B-frames have no times, and the script doesn't split them.
        "packed_bframes.avi": "frames",
    ]

    /// Numbers of presented samples of files whose end only `iTunSMPB` states: FFmpeg 5.1 removes the delay at the
    /// beginning, but not the padding at the end.
    private static let presentedSamples = ["102400samples_qt-lc-aac.m4a": 102_400]

    static let names = TestPaths.mediaFiles.filter { !$0.contains("/") && !$0.hasSuffix(".png") }

    private func figures(
        _ figures: [String], of source: String, _ output: String, range: (start: String, end: String)?
    ) throws -> [[String: Any]] {
        let script = TestPaths.repository + "/Tests/FidelityTests/figures.py"
        let range = range.map { ["--range", $0.start, $0.end] } ?? []
        let judge = try #require(TestPaths.verificationScript)
        let result = try program("python3", [script, judge, source, output] + range + ["--"] + figures)
        let lines = try result.output.split(separator: UInt8(ascii: "\n")).map {
            try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
        }.compactMap(\.self)
        guard lines.count == figures.count else {
            throw ProgramError(message: "\(figures) of \(source): \(result.errors)")
        }
        return lines
    }

    /// Returns rules that encode the first video and audio track without loss.
    private func rules(_ streams: [[String: Any]]) -> [String] {
        // The script requests yuv420p, and ffmpeg converts full range only if the pixel format's name implies it.
        // Source and output must both have such a format, which FFV1 doesn't support.
        let isFullRange = streams.contains { ($0["pix_fmt"] as? String)?.hasPrefix("yuvj") == true }
        let lossless = isFullRange ? "h264, lossless: true" : "ffv1"
        var rules: [String] = []
        for (type, encode) in [("video", lossless + ", orientation: bake"), ("audio", "pcm_f32le")] {
            let found = streams.contains { stream in
                stream["codec_type"] as? String == type
                    && (stream["disposition"] as? [String: Int])?["attached_pic"] != 1
            }
            if found { rules.append("{ \(type): first, encode: { codec: \(encode) } }") }
        }
        return rules
    }

    /// Returns the range that is compared; nil for the whole file. A lossless encode of large frames is slow.
    private func range(of format: [String: Any], _ streams: [[String: Any]]) -> (String, String)? {
        let length = (format["duration"] as? String).flatMap(Double.init) ?? 0
        let isLarge = streams.contains {
            ($0["width"] as? Int ?? 0) * ($0["height"] as? Int ?? 0) > 1_500_000
        }
        if isLarge, length > 0.7 { return ("0.2", "0.7") }
        // The header of one file states two days; another file has its first keyframe at 3.1 s of 4.004 s.
        return length > 4.5 && length < 1000 ? ("0.5", "2.5") : nil
    }

    /// Returns the table row of a file; nil if it has neither frames nor audio.
    private func row(_ name: String, in scratch: Scratch) throws -> String? {
        let source = try #require(TestPaths.media) + "/" + name
        let json = try FFmpegFile(source).probe([
            "-show_entries",
            "format=duration:stream=codec_type,pix_fmt,width,height:stream_disposition=attached_pic",
        ])
        let streams = json["streams"] as? [[String: Any]] ?? []
        let rules = rules(streams)
        guard !rules.isEmpty else { return nil }
        let range = range(of: json["format"] as? [String: Any] ?? [:], streams)
        try scratch.write(
            """
            version: 1
            jobs:
              j:
                asset: "\(source)"
                \(range.map { "range: { start: \($0)s, end: \($1)s }" } ?? "x-range: all")
                tracks: [ \(rules.joined(separator: ", ")) ]
                destination: { path: o.mkv, if_exists: replace }
            """, to: "j.yaml")
        let result = try program(TestPaths.tandem, ["run", "j.yaml"], directory: scratch.path)
        guard result.status == 0 else {
            let why = result.errors.split(separator: "\n").first { $0.hasPrefix("FAIL") } ?? "?"
            return "refused: \(why.dropFirst(8))"
        }
        let output = scratch.file("o.mkv")
        // ffmpeg 7 crops frames to the clean aperture of an mp4, so they can't be compared with whole frames.
        let isCut = "\(try FFmpegFile(source).probe(["-show_streams"]))".contains("Frame Cropping")
        let exception = Self.exceptions[name] ?? (isCut ? "frames" : nil)
        var cells: [String] = []
        if rules.contains(where: { $0.hasPrefix("{ video") }) {
            let found = try figures(["pts", "frames"], of: source, output, range: range)
            let (times, frames) = (found[0], found[1])
            let error = times["max_error_ms"] as? Double ?? .infinity
            let (wanted, same) = (frames["expected"] as? Int ?? -1, frames["identical"] as? Int ?? -2)
            if exception != "frames" {
                #expect(same == wanted && frames["got"] as? Int == wanted, "\(name): \(frames)")
                // The tolerance of Matroska's milliseconds.
                #expect(error <= 0.51, "\(name): \(times)")
            }
            cells.append("\(same) of \(wanted) frames identical, times within \(error) ms")
        }
        if rules.contains(where: { $0.hasPrefix("{ audio") }) {
            var source = source
            if let count = Self.presentedSamples[name] {
                let whole = source
                source = scratch.file("presented.wav")
                try ffmpeg("-i", whole, "-af", "atrim=end_sample=\(count)", "-c:a", "pcm_f32le", source)
            }
            let audio = try figures(["audio"], of: source, output, range: range)[0]
            let (lag, alike) = (audio["lag_ms"] as? Double ?? .infinity, audio["correlation"] as? Double ?? 0)
            if exception != "audio" {
                // AAC's decoder generates noise, which depends on where decoding starts.
                #expect(abs(lag) <= 0.5 && alike > 0.999, "\(name): \(audio)")
            }
            cells.append("audio within \(lag) ms, correlation \(alike)")
        }
        return cells.joined(separator: " | ") + (exception.map { " (see exceptions: \($0))" } ?? "")
    }

    @Test(arguments: names) func losslessEncodeEqualsTheSource(_ name: String) throws {
        guard let row = try row(name, in: try Scratch()) else { return }
        print("table: \(name) | \(row)")
    }
}
