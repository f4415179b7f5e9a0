internal import Foundation

/// Independent measurements of a media file by ffprobe and ffmpeg.
public struct FFmpegFile: Sendable {
    /// Path of the measured file.
    public let path: String

    /// Creates a value that measures the file at `path`.
    public init(_ path: String) { self.path = path }

    /// Returns a stream's entries and side data as reported by ffprobe.
    public func stream(_ selector: String, _ entries: String) throws -> [String: Any] {
        let json = try probe([
            "-select_streams", selector, "-show_entries", "stream=\(entries):stream_side_data",
        ])
        guard let stream = (json["streams"] as? [[String: Any]])?.first else {
            throw ProgramError(message: "\(path) has no \(selector)")
        }
        return stream
    }

    /// Returns the number of streams that match a selector.
    public func count(_ selector: String) throws -> Int {
        (try probe(["-select_streams", selector, "-show_entries", "stream=index"])["streams"]
            as? [[String: Any]])?.count ?? 0
    }

    /// Returns ffprobe's JSON output for the file.
    public func probe(_ arguments: [String]) throws -> [String: Any] {
        let result = try program("ffprobe", ["-v", "error", "-of", "json"] + arguments + [path])
        return try JSONSerialization.jsonObject(with: result.output) as? [String: Any] ?? [:]
    }

    /// Returns the integrated loudness in LUFS and the true peak in dBTP of the first audio track, measured by ffmpeg's `ebur128`.
    public func loudness() throws -> (integrated: Double, truePeak: Double) {
        let meter = try program(
            "ffmpeg", ["-hide_banner", "-nostdin", "-i", path, "-af", "ebur128=peak=true", "-f", "null", "-"]
        ).errors
        func last(_ key: String) throws -> Double {
            let value = meter.components(separatedBy: key).last.flatMap { text in
                Double(text.drop { $0 == " " }.prefix { $0 != " " })
            }
            guard let value else { throw ProgramError(message: "\(path): ffmpeg reported no loudness") }
            return value
        }
        return (try last("    I:"), try last("    Peak:"))
    }

    /// Returns the MD5 hashes of a stream's packets, in decoding order.
    public func packetHashes(_ selector: String) throws -> [String] {
        let result = try program(
            "ffprobe",
            [
                "-v", "error", "-select_streams", selector, "-show_entries", "packet=data_hash",
                "-show_data_hash", "md5", "-of", "default=nw=1:nk=1", path,
            ])
        return result.text.split(separator: "\n").map(String.init)
    }

    /// Returns the denominator of a stream's time base, in ticks per second.
    public func timescale(_ selector: String) throws -> Double {
        Self.timescale(try stream(selector, "time_base"))
    }

    /// Entries of `probe` from which `zero` is computed. One process returns all entries, because starting ffprobe
    /// takes longer than reading a short file.
    private static let zeroEntries = "format=format_name,start_time"

    /// Returns time zero in seconds of the file's clock: 0 for containers whose time line starts at 0 (mp4, mov,
    /// Matroska), otherwise the time of the first sample.
    private static func zero(_ probed: [String: Any]) -> Double {
        let format = probed["format"] as? [String: Any]
        let name = format?["format_name"] as? String ?? ""
        if name.contains("mov") || name.contains("matroska") { return 0 }
        return (format?["start_time"] as? String).flatMap(Double.init) ?? 0
    }

    private static func timescale(_ stream: [String: Any]?) -> Double {
        let parts = (stream?["time_base"] as? String ?? "1/1").split(separator: "/")
        return Double(parts[1])! / Double(parts[0])!
    }

    /// Returns the sorted presentation times of all shown frames in seconds relative to time zero, and the number of
    /// hidden frames before them.
    public func frames() throws -> (times: [Double], hidden: Int) {
        let probed = try probe([
            "-select_streams", "v:0", "-show_entries",
            "stream=time_base:frame=pts,best_effort_timestamp:\(Self.zeroEntries)",
        ])
        guard let stream = (probed["streams"] as? [[String: Any]])?.first else {
            throw ProgramError(message: "\(path) has no v:0")
        }
        let (scale, zero) = (Self.timescale(stream), Self.zero(probed))
        let frames = probed["frames"] as? [[String: Any]] ?? []
        let all = frames.compactMap {
            ($0["pts"] as? Int ?? $0["best_effort_timestamp"] as? Int).map { Double($0) / scale - zero }
        }.sorted()
        return (all.filter { $0 > -1e-5 }, all.filter { $0 <= -1e-5 }.count)
    }

    /// Decodes the file up to the first error, and returns ffmpeg's messages; empty if there are none.
    public func decodeErrors() throws -> String {
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-xerror", "-err_detect", "explode", "-i", path, "-map", "0:v?",
                "-map", "0:a?", "-fps_mode",
                "passthrough", "-enc_time_base:v", "-1", "-f", "null", "-",
            ])
        return result.status == 0 ? result.errors : "status \(result.status): \(result.errors)"
    }

    /// Returns the lowest PSNR of `count` frames from frame `own` on, compared with the source's frames from `first`
    /// on; 100 if they are identical.
    public func lowestPSNR(against source: FFmpegFile, first: Int, count: Int, own: Int) throws -> Double {
        let filter =
            "[0:v:0]select='between(n,\(first),\(first + count - 1))',settb=1/25,setpts=N,format=yuv420p[s];"
            + "[1:v:0]select='between(n,\(own),\(own + count - 1))',settb=1/25,setpts=N,format=yuv420p[o];"
            + "[o][s]scale2ref=flags=bicubic[a][b];[a][b]psnr=stats_file=-"
        let result = try program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-noautorotate", "-i", source.path, "-noautorotate", "-i", path,
                "-lavfi", filter, "-fps_mode", "passthrough",
                "-f", "null", "-",
            ])
        let values = result.text.split(separator: "\n").compactMap { line -> Double? in
            guard let range = line.range(of: "psnr_avg:") else { return nil }
            let word = line[range.upperBound...].prefix { $0 != " " }
            return word == "inf" ? 100 : Double(word)
        }
        guard values.count == count else {
            throw ProgramError(message: "\(values.count) frames compared of \(count): \(result.errors)")
        }
        return values.min() ?? 0
    }

    /// Returns the interleaved decoded samples of an audio track at a sample rate, by default with all channels.
    public func samples(track: Int = 0, channels: Int? = nil, rate: Int) throws -> [Float] {
        let mixed = channels.map { ["-ac", "\($0)"] } ?? []
        let result = try program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", "0:a:\(track)"] + mixed
                + ["-ar", "\(rate)", "-f", "f32le", "-"])
        return result.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// Returns the number of samples before time zero that ffmpeg decodes from the first audio track: newer versions
    /// write the encoder delay to Matroska, but decode these samples.
    public func samplesBeforeZero() throws -> Int {
        let frames =
            try probe([
                "-select_streams", "a:0", "-read_intervals", "%+#3", "-show_entries", "frame=pts_time",
            ])["frames"] as? [[String: Any]]
        let first = (frames?.first?["pts_time"] as? String).flatMap(Double.init) ?? 0
        guard first < -0.0005 else { return 0 }
        return try stream("a:0", "initial_padding")["initial_padding"] as? Int ?? 0
    }

    /// Returns mono samples from time zero on at a sample rate, with silence before the track's start.
    public func audio(rate: Int) throws -> [Float] {
        var samples = try samples(channels: 1, rate: rate)
        let probed = try probe([
            "-select_streams", "a:0", "-read_intervals", "%+#3", "-show_entries",
            "frame=pts_time:\(Self.zeroEntries)",
        ])
        let frames = probed["frames"] as? [[String: Any]]
        let start = (frames?.first?["pts_time"] as? String).flatMap(Double.init) ?? 0
        let pad = Int(((start - Self.zero(probed)) * Double(rate)).rounded())
        if pad >= 0 {
            samples.insert(contentsOf: repeatElement(0, count: pad), at: 0)
        } else {
            samples.removeFirst(min(-pad, samples.count))
        }
        return samples
    }

    /// Returns the durations of each track's edit list in seconds, which ffprobe doesn't report.
    public func editDurations() throws -> [(empty: Double, media: Double)?] {
        try MovieBoxes(path).editDurations
    }
}

/// Returns the shift in samples within ±`reach` at which `output` correlates best with `source`, and the correlation.
public func lag(_ source: [Float], _ output: [Float], reach: Int, step: Int = 1) -> (
    lag: Int, correlation: Double
) {
    let length = min(source.count, output.count) - 2 * reach
    guard length > 64 else { return (0, correlation(source, output)) }
    let used = min(length, 96_000)
    var best = (lag: 0, correlation: -2.0)
    source.withUnsafeBufferPointer { s in
        output.withUnsafeBufferPointer { o in
            for shift in stride(from: -reach, through: reach, by: step) {
                var (xy, xx, yy): (Float, Float, Float) = (0, 0, 0)
                var i = 0
                while i < used {
                    let (x, y) = (s[reach + i], o[reach + i + shift])
                    xy += x * y
                    xx += x * x
                    yy += y * y
                    i += 1
                }
                let value =
                    xx > 0 && yy > 0
                    ? Double(xy) / (Double(xx) * Double(yy)).squareRoot() : (xx == yy ? 1 : 0)
                if value > best.correlation + 1e-6
                    || (abs(value - best.correlation) <= 1e-6 && abs(shift) < abs(best.lag))
                {
                    best = (shift, value)
                }
            }
        }
    }
    return best
}

private func correlation(_ a: [Float], _ b: [Float]) -> Double {
    var (xy, xx, yy) = (0.0, 0.0, 0.0)
    for (x, y) in zip(a, b) {
        xy += Double(x * y)
        xx += Double(x * x)
        yy += Double(y * y)
    }
    return xx > 0 && yy > 0 ? xy / (xx * yy).squareRoot() : (xx == yy ? 1 : 0)
}
