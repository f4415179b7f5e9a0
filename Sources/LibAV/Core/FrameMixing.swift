internal import CFFmpeg

extension Frame {
    /// Returns a silent frame (`av_samples_set_silence`).
    package static func silence(_ format: AudioFormat, samples: Int32) throws(AVError) -> Frame {
        let frame = try audio(
            format: format.sampleFormat, layout: format.layout.specified, sampleRate: format.sampleRate,
            samples: samples)
        try check(
            av_samples_set_silence(
                frame.raw.pointee.extended_data, 0, samples, Int32(format.layout.channels),
                format.sampleFormat.av), "av_samples_set_silence")
        return frame
    }

    /// Replaces this frame's content by that of another, which is consumed (`av_frame_move_ref`).
    package func take(_ other: consuming Frame) {
        av_frame_unref(raw)
        av_frame_move_ref(raw, other.raw)
    }

    /// Adds the samples from `from` on to another frame's from `at` on, multiplied by a gain that grows by `step` per
    /// sample. Both frames must be planar floats of one layout; samples outside of either frame are ignored.
    package func mix(
        from: Int, count: Int, into sum: borrowing Frame, at: Int, gain: Float, step: Float
    ) throws(AVError) {
        guard raw.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue,
            sum.raw.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue,
            raw.pointee.ch_layout.nb_channels == sum.raw.pointee.ch_layout.nb_channels
        else {
            throw AVError(
                code: tandem_invaliddata, operation: "mixing requires planar floats of one channel layout")
        }
        let run = min(count, sampleCount - from, sum.sampleCount - at)
        guard from >= 0, at >= 0, run > 0 else { return }
        for channel in 0..<Int(raw.pointee.ch_layout.nb_channels) {
            guard let source = raw.pointee.extended_data[channel],
                let target = sum.raw.pointee.extended_data[channel]
            else { continue }
            source.withMemoryRebound(to: Float.self, capacity: sampleCount) { source in
                target.withMemoryRebound(to: Float.self, capacity: sum.sampleCount) { target in
                    if step == 0 {
                        for index in 0..<run { target[at + index] += source[from + index] * gain }
                    } else {
                        for index in 0..<run {
                            target[at + index] += source[from + index] * (gain + step * Float(index))
                        }
                    }
                }
            }
        }
    }
}
