import Foundation
import Media
import TestSupport
import Publishing

/// Runs `tandem` in a folder.
@discardableResult
func tandem(
    _ arguments: [String], in scratch: Scratch, environment: [String: String] = [:]
) throws -> ProgramResult {
    try program(
        TestPaths.tandem, arguments, directory: scratch.path,
        environment: environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 })
}

/// Runs `tandem` in a folder.
@discardableResult
func tandem(
    _ arguments: String..., in scratch: Scratch, environment: [String: String] = [:]
) throws -> ProgramResult {
    try tandem(arguments, in: scratch, environment: environment)
}

/// Creates a folder with a small source `a.mp4`: half a second of video and audio.
func folderWithSource() throws -> Scratch {
    let scratch = try Scratch()
    try ffmpeg(
        "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=0.5", "-f", "lavfi", "-i",
        "sine=duration=0.5", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", scratch.file("a.mp4"))
    return scratch
}

/// Returns a string as JSON, which is valid YAML.
func quoted(_ text: String) -> String {
    let data = try? JSONSerialization.data(withJSONObject: text, options: .fragmentsAllowed)
    return data.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
}

/// Returns a job file with one job that reads `a.mp4`.
func jobFile(
    video: String? = nil, audio: String? = nil, to destination: String = "out.mkv", more: String = ""
) -> String {
    let rules =
        (video.map { ["{ video: first, encode: { \($0) } }"] } ?? [])
        + (audio.map { ["{ audio: first, encode: { \($0) } }"] } ?? [])
    return """
        version: 1
        jobs:
          one:
            asset: ./a.mp4
            tracks: [ \(rules.joined(separator: ", ")) ]
            destination: \(destination)
        \(more)
        """
}

/// A deterministic random number generator (xorshift).
struct XorshiftGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

/// Returns the fingerprint of a file (size and modification time), as used in the state and in marks.
func fingerprint(_ path: String) throws -> String {
    guard let text = TemporaryFile.fingerprint(path: path) else {
        throw ProgramError(message: "no file \(path)")
    }
    return text
}
