internal import Glibc
internal import LibAV

/// Changes the tempo of audio without changing its pitch, sample-accurate: output time is source time divided by the
/// speed.
///
/// libavfilter's filters (`rubberband` if available, otherwise `atempo`) shift audio by an amount that depends on speed
/// and sample rate, and keep some of it buffered at the end. The shift is measured once with a short test signal.
/// Silence before the audio compensates for it, and silence after the audio flushes the buffer. Confined to one queue.
package final class TempoStretcher {
    private let graph: FilterGraph
    private let format: AudioFormat
    /// Number of output samples before the first sample of the audio.
    let lead: Int64
    /// Number of samples of silence still to be sent after the audio.
    private var tail: Int64

    /// Returns the number of samples of silence to send before the audio: 0.1 s.
    private static func silence(_ format: AudioFormat) -> Int64 { Int64(format.sampleRate) / 10 }
    private static let chunk: Int64 = 4096

    init(speed: Double, format: AudioFormat) throws(AVError) {
        self.format = format
        // The filters buffer less than a second of audio at any speed.
        tail = Int64(format.sampleRate)
        let offset = try Self.offset(speed: speed, sampleRate: format.sampleRate)
        graph = try FilterGraph.audio(Self.steps(for: speed), format: format)
        var remaining = Self.silence(format)
        lead = max(0, Int64((Double(remaining) / speed).rounded()) + offset)
        while remaining > 0 {
            let count = min(remaining, Self.chunk)
            try graph.send(try Frame.silence(format, samples: Int32(count)))
            remaining -= count
        }
    }

    /// Whether libavfilter has `rubberband`, which is more accurate.
    package static var isPrecise: Bool { FilterInfo.exists("rubberband") }

    /// Returns the filters for a speed. `rubberband` preserves short sounds but attenuates others above a speed of 2,
    /// so `atempo` applies the remaining factor. One `atempo` supports speeds of 0.5 and above.
    static func steps(for speed: Double) -> [FilterStep] {
        let format = FilterStep("aformat", ["sample_fmts": "fltp"])
        var (remaining, steps) = (speed, [FilterStep]())
        if isPrecise {
            steps.append(
                FilterStep(
                    "rubberband", ["tempo": "\(min(2, speed))", "window": "short", "channels": "together"]))
            if speed > 2 { steps.append(FilterStep("atempo", ["tempo": "\(speed / 2)"])) }
            return steps + [format]
        }
        while remaining < 0.5 {
            steps.append(FilterStep("atempo", ["tempo": "0.5"]))
            remaining *= 2
        }
        return steps + [FilterStep("atempo", ["tempo": "\(remaining)"]), format]
    }

    func send(_ frame: consuming Frame) throws(AVError) { try graph.send(frame) }

    /// Flushes the filters by sending one block of silence per call. Returns false when all silence has been sent.
    func pushOut() throws(AVError) -> Bool {
        // EOF isn't sent, because `rubberband` of FFmpeg 5.1 fails at the end of the stream if samples are buffered.
        guard tail > 0 else { return false }
        let count = min(tail, Self.chunk)
        tail -= count
        try graph.send(try Frame.silence(format, samples: Int32(count)))
        return true
    }

    func receive(into frame: borrowing Frame) throws(AVError) -> CodecOutput {
        try graph.receive(into: frame)
    }

    // MARK: Measurement

    /// Measures the filters' delay in output samples; negative if the output is early.
    private static func offset(speed: Double, sampleRate: Int32) throws(AVError) -> Int64 {
        let format = AudioFormat(sampleFormat: .planarFloat, sampleRate: sampleRate, layout: .mono)
        let rate = Double(sampleRate)
        // The test signal is a click for speeds below 1. Otherwise it is a longer tone, measured at its middle,
        // because clicks are lost.
        let (seconds, frequency): (Double, Float) = speed < 1 ? (0.002, 3000) : (0.05 * speed, 1000)
        let (start, length) = (Int64(rate * 0.35), Int64(rate * seconds))
        let total = start + length + Int64(rate * (0.5 + 0.3 * max(0, speed - 1)))
        let graph = try FilterGraph.audio(steps(for: speed), format: format)
        let signal = try Frame.silence(format, samples: Int32(clamping: total))
        _ = signal.withPlane(0) { bytes, _ in
            // The frame isn't shared yet.
            let samples = UnsafeMutableRawBufferPointer(mutating: bytes).bindMemory(to: Float.self)
            for index in 0..<Int(length) where Int(start) + index < samples.count {
                samples[Int(start) + index] = 0.5 * sin(Float(index) * 2 * Float.pi * frequency / Float(rate))
            }
        }
        try graph.send(signal)
        var energy: [Float] = []
        var isOver = false
        while !isOver {
            let frame = try Frame()
            guard case .ready = try graph.receive(into: frame) else {
                isOver = true
                continue
            }
            let count = frame.sampleCount
            _ = frame.withPlane(0) { bytes, _ in
                energy += bytes.bindMemory(to: Float.self).prefix(count).map { $0 * $0 }
            }
        }
        guard let loudest = energy.max(), loudest > 0 else { return 0 }
        guard speed >= 1 else {
            // A slowed click keeps its sharp onset.
            let onset = energy.firstIndex { $0 >= loudest / 4 } ?? 0
            return Int64(onset) - Int64((Double(start) / speed).rounded())
        }
        var (weight, sum) = (0.0, 0.0)
        for (index, value) in energy.enumerated() {
            weight += Double(value)
            sum += Double(value) * Double(index)
        }
        return Int64((sum / weight - (Double(start) + Double(length) / 2) / speed).rounded())
    }
}
