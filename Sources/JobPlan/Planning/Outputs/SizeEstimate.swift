internal import Glibc
internal import LibAV
internal import Media

/// The estimate of an output's size, from the bit rates that the plan or the source contains, or from typical
/// ones.
enum SizeEstimate {
    /// Returns the size in bytes; nil if it can't be estimated.
    static func bytes(of tracks: [TrackPlan]) -> Int64? {
        var bits = 0.0
        for track in tracks {
            guard let rate = bitRate(of: track) else { return nil }
            bits += rate * track.expected.timeRange.duration.seconds
        }
        return bits >= 0 && bits < 1e18 ? Int64(bits / 8) : nil
    }

    /// Returns the size of still images, each a frame of the only track; nil if it can't be estimated.
    static func bytes(of images: ImagesPlan, of tracks: [TrackPlan]) -> Int64? {
        guard case .encode(let encoding)? = tracks.first?.action else { return nil }
        guard let bits = encoding.encoder.model?.estimate.bitsPerPixel else { return nil }
        let frames = Double(images.stills.count)
        let bytes = Double(encoding.encoder.width * encoding.encoder.height) * bits / 8 * frames
        return bytes < 1e18 ? Int64(bytes) : nil
    }

    /// Returns the maximum size of the statistics that encoders write for a second pass: a line for each frame, and two
    /// bytes for each of its macroblocks. Measured at 1280x720: 4.2 kB a frame for x264, 3.4 kB for x265. Other
    /// encoders keep their statistics in memory.
    static func passStatistics(of tracks: [TrackPlan]) -> Int64 {
        tracks.reduce(0) { sum, track in
            guard case .encode(let encoding) = track.action, encoding.hasTwoPasses,
                encoding.encoder.model?.keepsStatisticsInFile == true
            else { return sum }
            let encoder = encoding.encoder
            let blocks = Double((encoder.width + 15) / 16) * Double((encoder.height + 15) / 16)
            let frames =
                track.expected.timeRange.duration.seconds
                * (encoder.frameRate ?? track.source.frameRate ?? Rational(25, 1)).double
            return sum.adding(upToLimit: Int64(exactly: (frames * (200 + 2 * blocks)).rounded(.up)) ?? .max)
        }
    }

    private static func bitRate(of track: TrackPlan) -> Double? {
        switch track.action {
        case .copy where track.source.mediaType == .subtitle, .subtitle: return 100
        case .copy where track.source.mediaType == .data: return Double(max(0, track.source.bitRate))
        case .copy, .smartCut: return track.source.bitRate > 0 ? Double(track.source.bitRate) : nil
        case .read: return 0
        case .encode(let encoding):
            if let rate = encoding.encoder.bitRate, rate > 0 { return Double(rate) }
            if encoding.encoder.mediaType == .audio { return audio(encoding) }
            let typical = video(encoding)
            // Video with little motion needs far less than the typical rate. The source's rate indicates
            // that.
            guard encoding.encoder.model?.rate.constantQuality != nil, track.source.bitRate > 0 else {
                return typical
            }
            return typical.map { min($0, quietest * Double(track.source.bitRate)) }
        }
    }

    /// Upper bound of the ratio of the output's bit rate to the source's, at any quality used in practice.
    private static let quietest = 4.0

    private static func audio(_ encoding: TrackPlan.Encoding) -> Double? {
        let encoder = encoding.encoder
        let samples = Double(encoder.sampleRate) * Double(encoder.channelLayout?.channels ?? 2)
        if let model = encoder.model, model.isLossless {
            return samples * Double(encoder.sampleFormat.bytesPerSample * 8) * model.estimate.compression
        }
        return 64_000 * Double(encoder.channelLayout?.channels ?? 2)
    }

    /// Returns the bit rate of video. For constant quality: bits per pixel at the default value, halved for every
    /// `stepsPerHalf` steps above it.
    private static func video(_ encoding: TrackPlan.Encoding) -> Double? {
        let encoder = encoding.encoder
        let pixels = Double(encoder.width * encoder.height) * (encoder.frameRate?.double ?? 25)
        guard let model = encoder.model, let bits = model.estimate.bitsPerPixel else { return nil }
        guard let quality = model.rate.constantQuality else { return pixels * bits }
        let crf = encoder.value(at: quality.option).flatMap(Double.init) ?? Double(quality.defaultValue)
        let steps = crf - Double(quality.defaultValue)
        return pixels * bits * exp2(-steps / quality.stepsPerHalf)
    }
}
