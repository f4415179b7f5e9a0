import Foundation
import Diagnostics
import JobPlan
import JobRun
import LibAV
import TestSupport
import Testing

@testable import Media

/// A source with given encoder options, for cuts that copy the middle of a range.
struct CutSource: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    var container = "mp4"
    var output = "mp4"
    var testDescription: String { "\(name).\(container) to \(output)" }

    private static let h264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "12"]
    private static let hevc = ["-c:v", "libx265", "-preset", "ultrafast"]

    static let all = [
        CutSource(name: "plain", arguments: h264 + ["-bf", "0"]),
        CutSource(name: "pyramid", arguments: h264 + ["-bf", "3", "-x264-params", "b-pyramid=normal"]),
        CutSource(name: "pyramid", arguments: h264 + ["-bf", "3"], output: "mkv"),
        CutSource(name: "baseline", arguments: h264 + ["-profile:v", "baseline"], output: "mov"),
        CutSource(name: "interlaced", arguments: h264 + ["-flags", "+ilme+ildct"]),
        CutSource(name: "ten-bits", arguments: h264 + ["-pix_fmt", "yuv422p10le"]),
        CutSource(
            name: "variable",
            arguments: ["-vf", "select='not(mod(n,3))+gt(mod(n,7),4)'", "-fps_mode", "vfr"] + h264 + [
                "-bf", "2",
            ]),
        CutSource(name: "transport", arguments: h264 + ["-bf", "2"], container: "ts"),
        CutSource(name: "matroska", arguments: h264 + ["-bf", "2"], container: "mkv"),
        CutSource(
            name: "hevc",
            arguments: hevc + ["-x265-params", "log-level=error:keyint=12:bframes=3:open-gop=0"]
        ),
        CutSource(
            name: "hevc-open",
            arguments: hevc + [
                "-tag:v", "hvc1", "-x265-params", "log-level=error:keyint=12:bframes=3:open-gop=1",
            ]),
        CutSource(
            name: "hevc-open",
            arguments: hevc + ["-x265-params", "log-level=error:keyint=12:bframes=3:open-gop=1"],
            container: "mkv", output: "mkv"),
        CutSource(
            name: "hevc-transport",
            arguments: hevc + [
                "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=error:keyint=12:bframes=3:open-gop=1",
            ], container: "ts"),
        CutSource(
            name: "hevc-transport",
            arguments: hevc + ["-x265-params", "log-level=error:keyint=12:bframes=2:temporal-layers=1"],
            container: "ts", output: "mkv"),
    ]

    /// Options for open GOPs, whose leading frames refer to the preceding GOP and which are cut at recovery points.
    private static let open =
        ["-c:v", "libx264", "-preset", "veryfast", "-g", "12", "-bf", "3", "-x264-params"]
    private static let openParameters = "open-gop=1:min-keyint=12:scenecut=0:b-adapt=0:"

    static let openH264 = [
        CutSource(name: "open", arguments: open + [openParameters + "ref=4:weightp=2"]),
        CutSource(
            name: "open-variable-length", arguments: open + [openParameters + "cabac=0"], output: "mkv"),
        CutSource(
            name: "open-pyramid", arguments: open + [openParameters + "bframes=5:b-pyramid=normal:slices=4"],
            container: "mkv", output: "mov"),
        CutSource(
            name: "open-interlaced", arguments: open + [openParameters + "tff=1:b-pyramid=strict"],
            container: "ts"),
    ]

    /// Creates three seconds of video, in which all frames differ, with noise as audio.
    func make(in scratch: Scratch) throws -> String {
        let path = scratch.file("\(name).\(container)")
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
                "testsrc2=size=160x120:rate=25:duration=3", "-f", "lavfi", "-i",
                "anoisesrc=d=3:r=48000:a=0.5:seed=7:c=pink",
            ] + arguments + ["-c:a", "aac", "-ac", "2", path])
        guard result.status == 0 else { throw ProgramError(message: result.errors) }
        return path
    }
}
