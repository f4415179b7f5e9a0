internal import CFFmpeg

extension Frame {
    /// Number of planes of audio: one if channels are interleaved.
    package var audioPlaneCount: Int {
        sampleFormat.isPlanar ? max(0, Int(raw.pointee.ch_layout.nb_channels)) : 1
    }

    /// Calls `body` with the bytes of a plane of audio. Nil if there is no such plane.
    package func withAudioPlane<R>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R? {
        guard width == 0, sampleCount > 0, sampleFormat.bytesPerSample > 0,
            (0..<audioPlaneCount).contains(index), let plane = raw.pointee.extended_data?[index]
        else { return nil }
        let channels = sampleFormat.isPlanar ? 1 : Int(raw.pointee.ch_layout.nb_channels)
        let count = sampleCount * sampleFormat.bytesPerSample * channels
        return try body(UnsafeRawBufferPointer(start: plane, count: count))
    }
}
