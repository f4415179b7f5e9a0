internal import CFFmpeg

/// A FIFO of audio samples from which any number can be taken (`AVAudioFifo`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct SampleFIFO: ~Copyable, @unchecked Sendable {
    private let fifo: OpaquePointer
    package let format: AudioFormat

    /// Creates an empty FIFO for samples of a format.
    package init(format: AudioFormat) throws(AVError) {
        guard
            let fifo = av_audio_fifo_alloc(
                format.sampleFormat.av, Int32(clamping: format.layout.channels), 4096)
        else { throw .outOfMemory("av_audio_fifo_alloc") }
        self.fifo = fifo
        self.format = format
    }

    deinit { av_audio_fifo_free(fifo) }

    /// Number of samples per channel in the FIFO.
    package var count: Int { Int(av_audio_fifo_size(fifo)) }

    /// Appends the samples of a frame from index `from` up to `to`, exclusive; nil for the end of the frame.
    package func append(_ frame: borrowing Frame, from: Int = 0, to: Int? = nil) throws(AVError) {
        let end = min(to ?? frame.sampleCount, frame.sampleCount)
        guard from < end else { return }
        _ = try withPlanes(of: frame, offset: from) { planes throws(AVError) in
            try check(av_audio_fifo_write(fifo, planes, Int32(clamping: end - from)), "av_audio_fifo_write")
        }
    }

    /// Appends `samples` samples of silence per channel.
    package func appendSilence(_ samples: Int) throws(AVError) {
        var remaining = samples
        while remaining > 0 {
            let run = min(remaining, 8192)
            let frame = try Frame.silence(format, samples: Int32(run))
            try append(frame)
            remaining -= run
        }
    }

    /// Removes the first samples, at most `samples`, and returns them.
    package func take(_ samples: Int) throws(AVError) -> Frame {
        let frame = try Frame.audio(
            format: format.sampleFormat, layout: format.layout.specified, sampleRate: format.sampleRate,
            samples: Int32(clamping: max(1, samples)))
        let received = try withPlanes(of: frame, offset: 0) { planes throws(AVError) in
            try check(av_audio_fifo_read(fifo, planes, Int32(clamping: samples)), "av_audio_fifo_read")
        }
        frame.raw.pointee.nb_samples = received
        return frame
    }

    private func withPlanes<R>(
        of frame: borrowing Frame, offset: Int,
        _ body: (UnsafeMutablePointer<UnsafeMutableRawPointer?>) throws(AVError) -> R
    ) throws(AVError) -> R {
        let channels = format.layout.channels
        let isPlanar = format.sampleFormat.isPlanar
        let planes = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: max(1, channels))
        defer { planes.deallocate() }
        let stride = format.sampleFormat.bytesPerSample * (isPlanar ? 1 : channels)
        for i in 0..<(isPlanar ? channels : 1) {
            planes[i] = frame.raw.pointee.extended_data[i].map {
                UnsafeMutableRawPointer($0) + offset * stride
            }
        }
        return try body(planes)
    }
}
