internal import Foundation

/// A frame decoded by ffmpeg.
public struct DecodedFrame: Hashable, Sendable {
    /// Presentation time in seconds relative to time zero.
    public var time: Double
    /// MD5 of the frame's samples.
    public var hash: String
}

extension FFmpegFile {
    /// Returns all shown frames, in presentation order.
    public func decodedFrames() throws -> [DecodedFrame] {
        let times = try frames()
        let hashes = try hashes([])
        // Hidden frames precede time zero.
        guard hashes.count == times.times.count + times.hidden else {
            throw ProgramError(
                message: "\(path): \(hashes.count) frames, \(times.times.count + times.hidden) timestamps")
        }
        return zip(times.times, hashes.dropFirst(times.hidden)).map { DecodedFrame(time: $0, hash: $1) }
    }

    /// Returns the hashes of all frames, also for sources without timestamps.
    public func frameHashes() throws -> [String] { try hashes([]) }

    /// Returns the hash of the frame that is shown at a time in seconds of the file's own clock.
    public func frameHash(at time: Double) throws -> String? {
        try hashes(["-ss", String(format: "%.6f", max(0, time - 0.001))], count: 1).first
    }

    private func hashes(_ before: [String], count: Int? = nil) throws -> [String] {
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-noautorotate"] + before
                + ["-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "-1"]
                + (count.map { ["-frames:v", "\($0)"] } ?? []) + ["-f", "framemd5", "-"])
        guard result.status == 0 else { throw ProgramError(message: "\(path): \(result.errors)") }
        return result.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
