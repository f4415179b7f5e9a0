internal import CFFmpeg

/// A decoded frame or run of audio samples (`AVFrame`), owned by one place at a time. Its buffers are
/// reference-counted by the library and never copied.
///
/// Unchecked `Sendable`: the pointer has one owner, which moves from queue to queue with the value.
public struct Frame: ~Copyable, @unchecked Sendable {
    let raw: UnsafeMutablePointer<AVFrame>

    /// An empty frame.
    public init() throws(AVError) {
        guard let raw = av_frame_alloc() else { throw .outOfMemory("av_frame_alloc") }
        self.raw = raw
    }

    deinit {
        var copy: UnsafeMutablePointer<AVFrame>? = raw
        av_frame_free(&copy)
    }

    /// An audio frame with room for `samples` of a format.
    public static func audio(
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

    /// A frame of video whose pixels are still to be set.
    public static func video(format: PixelFormat, width: Int, height: Int) throws(AVError) -> Frame {
        let frame = try Frame()
        frame.raw.pointee.format = format.av.rawValue
        frame.raw.pointee.width = Int32(clamping: width)
        frame.raw.pointee.height = Int32(clamping: height)
        try check(av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    /// Calls `body` with the bytes of the first plane of audio, to be set: all of it where samples are interleaved.
    public func withSamples<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R? {
        guard sampleCount > 0, let bytes = raw.pointee.data.0 else { return nil }
        return try body(UnsafeMutableRawBufferPointer(start: bytes, count: bytesOfSamples))
    }

    /// Another frame that shares this one's buffers (`av_frame_ref`).
    public func reference() throws(AVError) -> Frame {
        let copy = try Frame()
        try check(av_frame_ref(copy.raw, raw), "av_frame_ref")
        return copy
    }

    /// Shares another's buffers instead of its own (`av_frame_ref`).
    public func become(_ other: borrowing Frame) throws(AVError) {
        av_frame_unref(raw)
        try check(av_frame_ref(raw, other.raw), "av_frame_ref")
    }

    /// Presentation time in the time base of whoever made the frame; `noTimestamp` where there is none.
    public var pts: Int64 {
        get { raw.pointee.pts }
        nonmutating set { raw.pointee.pts = newValue }
    }
    /// Where `pts` is missing, what the decoder believes.
    public var bestEffortPTS: Int64 { raw.pointee.best_effort_timestamp }
    /// Duration in the same time base; 0 where unknown.
    public var duration: Int64 {
        get { tandem_frame_duration(raw) }
        nonmutating set { tandem_frame_set_duration(raw, newValue) }
    }
    /// What a filter found out, by key (`AVFrame.metadata`).
    public func metadata(_ key: String) -> String? {
        av_dict_get(raw.pointee.metadata, key, nil, 0).map { String(cString: $0.pointee.value) }
    }

    /// Width in pixels; 0 for audio.
    public var width: Int { Int(raw.pointee.width) }
    /// Height in pixels; 0 for audio.
    public var height: Int { Int(raw.pointee.height) }
    /// Samples per channel; 0 for video.
    public var sampleCount: Int { Int(raw.pointee.nb_samples) }
    /// Samples per second; 0 for video.
    public var sampleRate: Int32 { raw.pointee.sample_rate }
    /// The pixel format; meaningless for audio.
    public var pixelFormat: PixelFormat { PixelFormat(AVPixelFormat(rawValue: raw.pointee.format)) }
    /// The sample format; meaningless for video.
    public var sampleFormat: SampleFormat { SampleFormat(AVSampleFormat(rawValue: raw.pointee.format)) }
    /// The channel layout of audio.
    public var channelLayout: ChannelLayout { ChannelLayout(raw.pointee.ch_layout) }
    /// The shape of a pixel.
    public var sampleAspectRatio: Rational { Rational(raw.pointee.sample_aspect_ratio) }
    /// Colour as tagged on the frame.
    public var color: ColorDescription { ColorDescription(frame: raw) }
    /// Coded as two fields.
    public var isInterlaced: Bool { tandem_frame_is_interlaced(raw) != 0 }
    /// The field order of an interlaced frame; nil for a progressive one.
    public var fieldOrder: FieldOrder? {
        guard isInterlaced else { return nil }
        return tandem_frame_is_top_field_first(raw) != 0 ? .topFirst : .bottomFirst
    }
    /// Whether the decoder reports a keyframe, from which decoding can begin.
    package var isKey: Bool { tandem_frame_is_key(raw) != 0 }
    /// Whether the frame is coded without references.
    package var isIntra: Bool { raw.pointee.pict_type == AV_PICTURE_TYPE_I }
    /// Whether the decoder has not reached a random-access point since it began (`AV_FRAME_FLAG_CORRUPT`, H.264).
    package var lacksReferences: Bool { raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
    /// It carries closed captions (CEA-608 or 708, as ATSC A/53 has them).
    public var hasCaptions: Bool { av_frame_get_side_data(raw, AV_FRAME_DATA_A53_CC) != nil }
    /// The nine numbers of the display matrix that its decoder found in it, as in an image from a camera; nil where there is none.
    package var displayMatrix: [Int32]? {
        guard let data = av_frame_get_side_data(raw, AV_FRAME_DATA_DISPLAYMATRIX), data.pointee.size >= 36,
            let bytes = data.pointee.data
        else { return nil }
        return (0..<9).map { UnsafeRawPointer(bytes).loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }
    /// The decoder met errors in it. A frame before the first key frame is not meant: it is as it was coded.
    public var isDamaged: Bool { raw.pointee.decode_error_flags != 0 }
    /// Memory that the frame's planes take, in bytes.
    public var byteCount: Int {
        if width > 0 {
            let format = AVPixelFormat(rawValue: raw.pointee.format)
            return Int(max(0, av_image_get_buffer_size(format, raw.pointee.width, raw.pointee.height, 1)))
        }
        return sampleCount * sampleFormat.bytesPerSample * Int(raw.pointee.ch_layout.nb_channels)
    }

    /// Lets the encoder choose frame types anew; a source's are no wish of the user's.
    public func clearPictureType() { raw.pointee.pict_type = AV_PICTURE_TYPE_NONE }

    /// Narrows audio to `count` samples from `start` on, by moving its pointers: nothing is copied.
    public func narrow(start: Int, count: Int) {
        guard start >= 0, count >= 0, start + count <= sampleCount else { return }
        if start > 0 {
            let planes = sampleFormat.isPlanar ? channels : 1
            let stride = sampleFormat.bytesPerSample * (sampleFormat.isPlanar ? 1 : channels)
            // `data` holds the first eight plane pointers again where there are more.
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

    /// Calls `body` with the bytes of one plane; for tests and measurements.
    public func withPlane<R>(_ index: Int, _ body: (UnsafeRawBufferPointer, _ stride: Int) -> R) -> R? {
        guard let data = planeBytes(index) else { return nil }
        let stride = withUnsafeBytes(of: raw.pointee.linesize) {
            Int($0.bindMemory(to: Int32.self)[index])
        }
        let length = width > 0 ? stride * planeHeight(index) : bytesOfSamples
        return body(UnsafeRawBufferPointer(start: data, count: max(0, length)), stride)
    }

    /// Bytes in a plane of audio.
    private var bytesOfSamples: Int {
        sampleCount * sampleFormat.bytesPerSample * (sampleFormat.isPlanar ? 1 : channels)
    }

    private var channels: Int { Int(raw.pointee.ch_layout.nb_channels) }
}
