internal import CFFmpeg

extension Frame {
    /// Returns a frame of silence with `samples` samples per channel (`av_samples_set_silence`).
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

    /// Moves the buffers and properties of another frame to this one (`av_frame_move_ref`).
    package func take(_ other: consuming Frame) {
        av_frame_unref(raw)
        av_frame_move_ref(raw, other.raw)
    }

    /// Adds `count` samples from index `from` to those of `sum` from index `at`. The samples are multiplied by
    /// `gain`, which changes by `step` per sample. Both frames must be planar floats with equal numbers of channels.
    /// Samples outside of either frame are ignored.
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
