internal import CFFmpeg

/// A decoded video frame or block of audio samples (`AVFrame`) with a single owner. Its buffers are
/// reference-counted, so that several frames can share them.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Frame: ~Copyable, @unchecked Sendable {
    let raw: UnsafeMutablePointer<AVFrame>

    /// Creates a frame without buffers (`av_frame_alloc`).
    package init() throws(AVError) {
        guard let raw = av_frame_alloc() else { throw .outOfMemory("av_frame_alloc") }
        self.raw = raw
    }

    deinit {
        var copy: UnsafeMutablePointer<AVFrame>? = raw
        av_frame_free(&copy)
    }

    /// Allocates an audio frame with space for `samples` samples per channel.
    package static func audio(
        format: SampleFormat, layout: ChannelLayout, sampleRate: Int32, samples: Int32
    ) throws(AVError) -> Frame {
        let frame = try Frame()
        frame.raw.pointee.format = format.av.rawValue
        frame.raw.pointee.sample_rate = sampleRate
        frame.raw.pointee.nb_samples = samples
        try layout.copy(to: &frame.raw.pointee.ch_layout)
        try check(av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    /// Allocates a video frame with uninitialized pixels.
    package static func video(format: PixelFormat, width: Int, height: Int) throws(AVError) -> Frame {
        let frame = try Frame()
        frame.raw.pointee.format = format.av.rawValue
        frame.raw.pointee.width = Int32(clamping: width)
        frame.raw.pointee.height = Int32(clamping: height)
        try check(av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    /// Calls `body` with the writable bytes of the first plane of audio, which contains all channels if samples are
    /// interleaved. Returns nil if the frame contains no samples.
    package func withSamples<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R? {
        guard sampleCount > 0, let bytes = raw.pointee.data.0 else { return nil }
        return try body(UnsafeMutableRawBufferPointer(start: bytes, count: bytesOfSamples))
    }

    /// Returns another frame that shares this one's buffers (`av_frame_ref`).
    package func reference() throws(AVError) -> Frame {
        let copy = try Frame()
        try check(av_frame_ref(copy.raw, raw), "av_frame_ref")
        return copy
    }

    /// Replaces the frame's buffers by a reference to those of another (`av_frame_ref`).
    package func assign(_ other: borrowing Frame) throws(AVError) {
        av_frame_unref(raw)
        try check(av_frame_ref(raw, other.raw), "av_frame_ref")
    }

    /// Presentation time in the time base of the frame's producer; `noTimestamp` if unknown.
    package var pts: Int64 {
        get { raw.pointee.pts }
        nonmutating set { raw.pointee.pts = newValue }
    }
    /// The decoder's estimate of the presentation time, for frames without `pts`.
    package var bestEffortPTS: Int64 { raw.pointee.best_effort_timestamp }
    /// Duration in the time base of `pts`; 0 if unknown.
    package var duration: Int64 {
        get { tandem_frame_duration(raw) }
        nonmutating set { tandem_frame_set_duration(raw, newValue) }
    }
    /// Returns the metadata value that a filter added under a key (`AVFrame.metadata`); nil if there is none.
    package func metadata(_ key: String) -> String? {
        av_dict_get(raw.pointee.metadata, key, nil, 0).map { String(cString: $0.pointee.value) }
    }

    /// Width in pixels; 0 for audio.
    package var width: Int { Int(raw.pointee.width) }
    /// Height in pixels; 0 for audio.
    package var height: Int { Int(raw.pointee.height) }
    /// Samples per channel; 0 for video.
    package var sampleCount: Int { Int(raw.pointee.nb_samples) }
    /// Samples per second; 0 for video.
    package var sampleRate: Int32 { raw.pointee.sample_rate }
    /// The pixel format; meaningless for audio.
    package var pixelFormat: PixelFormat { PixelFormat(AVPixelFormat(rawValue: raw.pointee.format)) }
    /// The sample format; meaningless for video.
    package var sampleFormat: SampleFormat { SampleFormat(AVSampleFormat(rawValue: raw.pointee.format)) }
    /// The channel layout of audio; meaningless for video.
    package var channelLayout: ChannelLayout { ChannelLayout(raw.pointee.ch_layout) }
    /// The pixel aspect ratio; 0/1 if unknown.
    package var sampleAspectRatio: Rational { Rational(raw.pointee.sample_aspect_ratio) }
    /// The color properties of the frame; unspecified ones are nil.
    package var color: ColorDescription { ColorDescription(frame: raw) }
    /// Whether the frame is interlaced (`AV_FRAME_FLAG_INTERLACED`).
    package var isInterlaced: Bool { tandem_frame_is_interlaced(raw) != 0 }
    /// The field order of an interlaced frame; nil for a progressive one.
    package var fieldOrder: FieldOrder? {
        guard isInterlaced else { return nil }
        return tandem_frame_is_top_field_first(raw) != 0 ? .topFirst : .bottomFirst
    }
    /// Whether the decoder reports a keyframe, from which decoding can begin.
    package var isKey: Bool { tandem_frame_is_key(raw) != 0 }
    /// Whether the frame is an I picture (`AV_PICTURE_TYPE_I`).
    package var isIntra: Bool { raw.pointee.pict_type == AV_PICTURE_TYPE_I }
    /// Whether the decoder hasn't reached a random-access point yet (`AV_FRAME_FLAG_CORRUPT`, H.264).
    package var lacksReferences: Bool { raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
    /// Whether the frame contains closed captions (CEA-608 or 708 in ATSC A/53).
    package var hasCaptions: Bool { av_frame_get_side_data(raw, AV_FRAME_DATA_A53_CC) != nil }
    /// Elements of the display matrix in the frame's side data, such as the orientation of a camera image; nil
    /// without a matrix.
    package var displayMatrix: [Int32]? {
        guard let data = av_frame_get_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX), data.pointee.size >= 36,
            let bytes = data.pointee.data
        else { return nil }
        return (0..<9).map { UnsafeRawPointer(bytes).loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }
    /// Whether the decoder reports errors in the frame (`decode_error_flags`). Frames that precede the first keyframe
    /// are not marked.
    package var isDamaged: Bool { raw.pointee.decode_error_flags != 0 }
    /// Size of all planes in bytes, without the padding of rows.
    package var byteCount: Int {
        if width > 0 {
            let format = AVPixelFormat(rawValue: raw.pointee.format)
            return Int(max(0, av_image_get_buffer_size(format, raw.pointee.width, raw.pointee.height, 1)))
        }
        return sampleCount * sampleFormat.bytesPerSample * Int(raw.pointee.ch_layout.nb_channels)
    }

    /// Clears the frame type of the source, so that the encoder chooses the type.
    package func clearPictureType() { raw.pointee.pict_type = AV_PICTURE_TYPE_NONE }

    /// Requests that the encoder codes the frame as a keyframe.
    package func requestKeyframe() { raw.pointee.pict_type = AV_PICTURE_TYPE_I }

    /// Narrows audio to `count` samples from `start` on, by moving pointers, without copying.
    package func narrow(start: Int, count: Int) {
        guard start >= 0, start <= sampleCount, count >= 0, count <= sampleCount - start else { return }
        if start > 0 {
            let planes = audioPlaneCount
            let stride = sampleFormat.bytesPerSample * (sampleFormat.isPlanar ? 1 : channels)
            // With more than eight planes, `data` contains copies of the first eight pointers of `extended_data`.
            let own = withUnsafeMutablePointer(to: &raw.pointee.data) {
                UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
            }
            if let extended = raw.pointee.extended_data, extended != own {
                for i in 0..<planes { extended[i] = extended[i].map { $0 + start * stride } }
            }
            for i in 0..<min(planes, 8) { own[i] = own[i].map { $0 + start * stride } }
        }
        raw.pointee.nb_samples = Int32(clamping: count)
    }

    /// Calls `body` with the bytes and the stride of a plane. Returns nil if the plane doesn't exist.
    package func withPlane<R>(_ index: Int, _ body: (UnsafeRawBufferPointer, _ stride: Int) -> R) -> R? {
        guard let data = planeBytes(index) else { return nil }
        let stride = withUnsafeBytes(of: raw.pointee.linesize) {
            Int($0.bindMemory(to: Int32.self)[index])
        }
        let length = width > 0 ? stride * planeHeight(index) : bytesOfSamples
        return body(UnsafeRawBufferPointer(start: data, count: max(0, length)), stride)
    }

    /// Size of an audio plane in bytes.
    private var bytesOfSamples: Int {
        sampleCount * sampleFormat.bytesPerSample * (sampleFormat.isPlanar ? 1 : channels)
    }

    /// Number of audio channels; 0 for video.
    package var channels: Int { max(0, Int(raw.pointee.ch_layout.nb_channels)) }

    /// Number of planes of audio: one if channels are interleaved.
    package var audioPlaneCount: Int { sampleFormat.isPlanar ? channels : 1 }

    /// Calls `body` with the bytes of a plane of audio. Nil if there is no such plane.
    package func withAudioPlane<R>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R? {
        guard width == 0, bytesOfSamples > 0, (0..<audioPlaneCount).contains(index),
            let plane = raw.pointee.extended_data?[index]
        else { return nil }
        return try body(UnsafeRawBufferPointer(start: plane, count: bytesOfSamples))
    }
}
