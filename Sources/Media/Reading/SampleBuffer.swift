public import LibAV

/// One packet, frame or block of audio with its timing (AVFoundation's `CMSampleBuffer`). A buffer has one owner;
/// FFmpeg counts references to its data, which isn't copied.
public struct SampleBuffer: ~Copyable, Sendable {
    /// The packet or frame of a sample buffer.
    package enum Payload: ~Copyable, Sendable {
        /// Compressed data.
        case packet(Packet)
        /// A decoded frame or block of audio.
        case frame(Frame)
    }

    /// The packet or frame with the sample data.
    package var payload: Payload
    /// Presentation time on the asset's time line, in ticks of `timeBase`.
    public var pts: Int64
    /// Decoding time in ticks of `timeBase`; equals `pts` for frames.
    public var dts: Int64
    /// Duration in ticks of `timeBase`.
    public var duration: Int64
    /// Time base of `pts`, `dts` and `duration`.
    public var timeBase: Rational
    /// Number of audio samples per channel; 1 for packets and video frames.
    public var sampleCount: Int
    /// Size of the data in bytes.
    public var byteCount: Int

    /// Wraps a packet, with times in ticks of `timeBase`.
    package init(packet: consuming Packet, pts: Int64, dts: Int64, duration: Int64, timeBase: Rational) {
        self.pts = pts
        self.dts = dts
        self.duration = duration
        self.timeBase = timeBase
        sampleCount = 1
        byteCount = packet.size
        payload = .packet(packet)
    }

    /// Wraps a frame, with times in ticks of `timeBase`.
    package init(frame: consuming Frame, pts: Int64, duration: Int64, timeBase: Rational) {
        self.pts = pts
        dts = pts
        self.duration = duration
        self.timeBase = timeBase
        sampleCount = frame.width > 0 ? 1 : frame.sampleCount
        byteCount = frame.byteCount
        payload = .frame(frame)
    }

    /// Presentation time on the asset's time line (`presentationTimeStamp`).
    public var presentationTime: MediaTime { MediaTime(ticks: pts, timeBase: timeBase) }
    /// Decoding time on the asset's time line (`decodeTimeStamp`); equals `presentationTime` for frames.
    public var decodingTime: MediaTime { MediaTime(ticks: dts, timeBase: timeBase) }
    /// Duration (`CMSampleBufferGetDuration`).
    public var presentationDuration: MediaTime { MediaTime(ticks: duration, timeBase: timeBase) }

    /// Whether decoding can start at the sample; true for decoded frames and audio.
    public var isKeyframe: Bool {
        switch payload {
        case .packet(let packet): packet.isKey
        case .frame: true
        }
    }

    /// Whether the sample is decoded but not presented, because it lies outside the range that is read.
    public var isHidden: Bool {
        switch payload {
        case .packet(let packet): packet.isDiscarded
        case .frame: false
        }
    }

    /// Calls `body` with compressed data (`CMSampleBufferGetDataBuffer`), which is valid during the call; returns nil for
    /// decoded frames and audio.
    public borrowing func withData<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        switch payload {
        case .packet(let packet): try packet.withBytes(body)
        case .frame: nil
        }
    }

    /// Description of the payload for messages.
    var kind: String {
        switch payload {
        case .packet: "a packet"
        case .frame(let frame) where frame.width > 0: "a frame of \(frame.width)x\(frame.height)"
        case .frame(let frame):
            "audio of \(frame.sampleRate) Hz and \(frame.channelLayout.channels) channels"
        }
    }

    /// Returns another sample with the same timing, which shares the data: to append it to two writers, or to keep it
    /// while another owner consumes the original. Data is not copied.
    /// - Throws: `AVError` if memory is exhausted.
    public borrowing func reference() throws(AVError) -> SampleBuffer {
        var copy: SampleBuffer
        switch payload {
        case .packet(let packet):
            copy = SampleBuffer(
                packet: try packet.reference(), pts: pts, dts: dts, duration: duration, timeBase: timeBase)
        case .frame(let frame):
            copy = SampleBuffer(
                frame: try frame.reference(), pts: pts, duration: duration, timeBase: timeBase)
            copy.dts = dts
        }
        (copy.sampleCount, copy.byteCount) = (sampleCount, byteCount)
        return copy
    }

    /// Returns the frame, or nil for a packet.
    package consuming func takeFrame() -> Frame? {
        switch consume payload {
        case .frame(let frame): frame
        case .packet: nil
        }
    }

    /// Returns the packet, or nil for a frame.
    package consuming func takePacket() -> Packet? {
        switch consume payload {
        case .packet(let packet): packet
        case .frame: nil
        }
    }

    /// Calls `body` with the frame, or returns nil for a packet.
    package borrowing func withFrame<R>(_ body: (borrowing Frame) throws -> R) rethrows -> R? {
        switch payload {
        case .frame(let frame): try body(frame)
        case .packet: nil
        }
    }

    /// Returns the pixels of a video frame, without a copy (`CMSampleBufferGetImageBuffer`). Throws
    /// `MediaError.invalidArgument` for packets and audio.
    public borrowing func pixelBuffer() throws -> PixelBuffer {
        switch payload {
        case .frame(let frame) where frame.width > 0: return try PixelBuffer(reading: try frame.reference())
        default: throw MediaError.invalidArgument("the sample contains no video frame")
        }
    }

    /// Calls `body` with the packet, or returns nil for a frame.
    package borrowing func withPacket<R>(_ body: (borrowing Packet) throws -> R) rethrows -> R? {
        switch payload {
        case .packet(let packet): try body(packet)
        case .frame: nil
        }
    }
}
