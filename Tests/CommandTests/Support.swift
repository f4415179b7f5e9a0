import Foundation
import TestSupport

/// Runs the program in a folder.
@discardableResult
func tandem(
    _ arguments: String..., in scratch: Scratch, environment: [String: String] = [:]
) throws -> ProgramResult {
    try program(
        Places.tandem, arguments, directory: scratch.path,
        environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 })
}

/// A second of a test signal.
let testSignal = "{ pattern: testsrc, size: 160x90, frame_rate: 25, duration: 1s }"

/// A job that compresses frames, as a line of a job file.
func job(
    _ id: String, asset: String = testSignal, video: String = "codec: h264, preset: ultrafast, crf: 30",
    more: String = "", to destination: String? = nil
) -> String {
    "  \(id): { asset: \(asset), tracks: [ { video: first, encode: { \(video) } } ], \(more)\(more.isEmpty ? "" : ", ")destination: \(destination ?? "out/\(id).mp4") }\n"
}

/// Writes `jobs.yaml` with these jobs.
func write(_ jobs: String, in scratch: Scratch) throws {
    try scratch.write("version: 1\njobs:\n" + jobs, to: "jobs.yaml")
}

/// A job file with one job: one second of `a.mp4` to `out.mp4`, with parts exchanged.
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

/// A folder with a small source `a.mp4` in it: one second of frames and audio.
func folderWithSource() throws -> Scratch {
    let scratch = try Scratch()
    try ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=1", "-f", "lavfi", "-i",
        "sine=duration=1", "-c:v", "libx264",
        "-preset", "ultrafast", "-c:a", "aac", scratch.file("a.mp4"))
    return scratch
}

/// MD5 of frames as RGB, by ffmpeg; of one alone by its number. `reading` are options of the input.
func rgbHashes(_ path: String, frame: Int? = nil, reading options: [String] = []) throws -> [String] {
    let filters = (frame.map { "select=eq(n\\,\($0))," } ?? "") + "format=rgb24"
    let result = try program(
        "ffmpeg",
        ["-v", "error", "-nostdin"] + options
            + [
                "-i", path, "-map", "0:v:0", "-vf", filters, "-fps_mode", "passthrough", "-f", "framemd5",
                "-",
            ])
    guard result.status == 0 else { throw JudgeError(message: "\(path): \(result.errors)") }
    return result.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
        $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
