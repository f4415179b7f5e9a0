internal import LibAV

/// Computes waveform pixels from blocks of interleaved 16-bit samples.
struct WaveformAccumulator {
    private var data: WaveformData
    private let settings: WaveformReader.Settings
    /// Number of channels of the input.
    private let source: Int
    /// Minimum and maximum of the current, incomplete pixel, for each kept channel.
    private var low: [Int16]
    private var high: [Int16]
    private var squares: [Double]
    private var filled = 0
    /// Buffer for the mean of a block's channels.
    private var mixed: [Int16] = []

    init(_ settings: WaveformReader.Settings, sampleRate: Int, channels: Int) {
        self.settings = settings
        source = max(1, channels)
        let kept = settings.splitsChannels ? source : 1
        data = WaveformData(
            sampleRate: sampleRate, channels: kept, samplesPerPixel: settings.samplesPerPixel)
        low = Array(repeating: .max, count: kept)
        high = Array(repeating: .min, count: kept)
        squares = Array(repeating: 0, count: kept)
    }

    mutating func add(_ frame: borrowing Frame, at time: MediaTime) throws {
        guard Int(frame.sampleRate) == data.sampleRate, frame.channelLayout.channels == source else {
            throw MediaError.misuse("the audio format changes within the track")
        }
        let position = time.ticks(in: Rational(1, Int32(clamping: data.sampleRate)))
        try silence(Int(clamping: position) - data.sampleCount)
        try checkLength()
        let (count, source) = (frame.sampleCount, source)
        _ = frame.withPlane(0) { bytes, _ in
            let values = UnsafeBufferPointer(
                rebasing: bytes.bindMemory(to: Int16.self).prefix(count * source))
            if settings.splitsChannels || source == 1 {
                take(values, count: count)
            } else {
                mix(values, count: count)
            }
        }
    }

    mutating func finish() -> WaveformData {
        if filled > 0 { endPixel() }
        return data
    }

    /// Inserts silence. Gaps of up to 10 ms are ignored, because containers round times.
    private mutating func silence(_ count: Int) throws {
        guard count > data.sampleRate / 100 else { return }
        let piece = [Int16](repeating: 0, count: data.channels * min(count, 1 << 16))
        var remaining = count
        while remaining > 0 {
            let part = min(remaining, 1 << 16)
            piece.withUnsafeBufferPointer {
                take(UnsafeBufferPointer(rebasing: $0.prefix(part * data.channels)), count: part)
            }
            remaining -= part
            try checkLength()
        }
    }

    /// Maximum number of values; planned waveforms have far fewer.
    private static let maxValues = 1 << 27

    /// Throws if the data exceeds the limit: the file may be longer than its header declares.
    private func checkLength() throws {
        guard data.extremes.count > Self.maxValues else { return }
        throw MediaError.limitExceeded(
            "the audio is much longer than its file states, and exceeds \(Self.maxValues) values")
    }

    /// Mixes channels as audiowaveform does: the sum divided by the number of channels, truncated toward zero.
    private mutating func mix(_ values: UnsafeBufferPointer<Int16>, count: Int) {
        if mixed.count < count { mixed = Array(repeating: 0, count: count) }
        let channels = Int32(source)
        mixed.withUnsafeMutableBufferPointer { mixed in
            if channels == 2 {
                for index in 0..<count {
                    mixed[index] = Int16(
                        truncatingIfNeeded: (Int32(values[2 * index]) + Int32(values[2 * index + 1])) / 2)
                }
                return
            }
            for index in 0..<count {
                var sum: Int32 = 0
                for channel in 0..<Int(channels) { sum += Int32(values[index * Int(channels) + channel]) }
                mixed[index] = Int16(truncatingIfNeeded: sum / channels)
            }
        }
        let whole = mixed
        whole.withUnsafeBufferPointer { take(UnsafeBufferPointer(rebasing: $0.prefix(count)), count: count) }
    }

    /// Adds interleaved samples of the kept channels.
    private mutating func take(_ values: UnsafeBufferPointer<Int16>, count: Int) {
        let channels = data.channels
        var done = 0
        while done < count {
            let part = min(count - done, settings.samplesPerPixel - filled)
            for channel in 0..<channels {
                let (lowest, highest) = Self.extremes(
                    values, from: done * channels + channel, step: channels, count: part)
                low[channel] = min(low[channel], lowest)
                high[channel] = max(high[channel], highest)
                if settings.measuresPower {
                    squares[channel] += Self.squares(
                        values, from: done * channels + channel, step: channels, count: part)
                }
            }
            filled += part
            done += part
            if filled == settings.samplesPerPixel { endPixel() }
        }
        data.sampleCount += count
    }

    private static func extremes(
        _ values: UnsafeBufferPointer<Int16>, from start: Int, step: Int, count: Int
    ) -> (Int16, Int16) {
        var (low, high) = (Int16.max, Int16.min)
        if step == 1 {
            // A contiguous loop can be vectorized.
            for value in UnsafeBufferPointer(rebasing: values[start..<(start + count)]) {
                low = min(low, value)
                high = max(high, value)
            }
            return (low, high)
        }
        var index = start
        for _ in 0..<count {
            low = min(low, values[index])
            high = max(high, values[index])
            index += step
        }
        return (low, high)
    }

    private static func squares(
        _ values: UnsafeBufferPointer<Int16>, from start: Int, step: Int, count: Int
    ) -> Double {
        var sum: Int64 = 0
        var index = start
        for _ in 0..<count {
            let value = Int64(values[index])
            sum &+= value &* value
            index += step
        }
        return Double(sum)
    }

    private mutating func endPixel() {
        for channel in low.indices {
            data.extremes.append(low[channel])
            data.extremes.append(high[channel])
            if settings.measuresPower {
                data.powers.append(Float(squares[channel] / Double(filled) / (32_768 * 32_768)))
            }
            (low[channel], high[channel], squares[channel]) = (.max, .min, 0)
        }
        filled = 0
    }
}
