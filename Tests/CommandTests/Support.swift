import Foundation
import TestSupport

/// Runs `tandem` in a folder. Returns its status and output.
@discardableResult
func tandem(
    _ arguments: String..., in scratch: Scratch, environment: [String: String] = [:]
) throws -> ProgramResult {
    try program(
        TestPaths.tandem, arguments, directory: scratch.path,
        environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 })
}

/// An asset with a test signal of one second.
let testSignal = "{ pattern: testsrc, size: 160x90, frame_rate: 25, duration: 1s }"
/// A test signal of ten hours, for runs that the test ends. A short one may end first on a busy machine.
let endlessSignal = testSignal.replacingOccurrences(of: "1s", with: "36000s")

/// Returns a job that encodes video, as a line of a job file.
func job(
    _ id: String, asset: String = testSignal, video: String = "codec: h264, preset: ultrafast, crf: 30",
    more: String = "", to destination: String? = nil
) -> String {
    "  \(id): { asset: \(asset), tracks: [ { video: first, encode: { \(video) } } ], \(more)\(more.isEmpty ? "" : ", ")destination: \(destination ?? "out/\(id).mp4") }\n"
}

/// Writes `jobs.yaml` with the given jobs.
func write(_ jobs: String, in scratch: Scratch) throws {
    try scratch.write("version: 1\njobs:\n" + jobs, to: "jobs.yaml")
}

/// Returns a job file with a job that encodes `a.mp4` to `out.mp4` by default.
func jobFile(
    asset: String = "./a.mp4", range: String = "", video: String = "codec: h264, preset: ultrafast",
    select: String = "first",
    destination: String = "out.mp4", more: String = ""
) -> String {
    """
    version: 1
    jobs:
      one:
        asset: \(asset)
    \(range.isEmpty ? "" : "    range: \(range)")
        tracks:
          - video: \(select)
            encode: { \(video) }
        destination: \(destination)
    \(more)
    """
}

/// Creates a folder with a small source `a.mp4`: one second of video and audio.
func folderWithSource() throws -> Scratch {
    let scratch = try Scratch()
    try ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=1", "-f", "lavfi", "-i",
        "sine=duration=1", "-c:v", "libx264",
        "-preset", "ultrafast", "-c:a", "aac", scratch.file("a.mp4"))
    return scratch
}

/// Returns ffmpeg's MD5 hashes of all frames, or of frame `frame`, in RGB. `options` are input options.
func rgbHashes(_ path: String, frame: Int? = nil, reading options: [String] = []) throws -> [String] {
    let filters = (frame.map { "select=eq(n\\,\($0))," } ?? "") + "format=rgb24"
    let result = try program(
        "ffmpeg",
        ["-v", "error", "-nostdin"] + options
            + [
                "-i", path, "-map", "0:v:0", "-vf", filters, "-fps_mode", "passthrough", "-f", "framemd5",
                "-",
            ])
    guard result.status == 0 else { throw ProgramError(message: "\(path): \(result.errors)") }
    return result.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
        $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
