internal import LibAV

/// Inspection of a track's first packets and frames, for properties that the headers of its codec don't
/// contain.
enum FirstFrames {
    /// Number of frames to inspect; the first ones may be progressive, such as a title before interlaced video.
    private static let count = 5
    private static let packetLimit = 64

    /// Returns whether the frames must be inspected: the container doesn't declare interlacing, and the codec
    /// stores it in frames only.
    static func needsInspection(_ stream: StreamInfo) -> Bool {
        stream.parameters.mediaType == .video && !stream.isAttachedPicture
            && stream.parameters.isInterlaced == nil && stream.parameters.traits.declaresFieldsInFrames
            && stream.parameters.isDecodable
    }

    /// Returns the field order of the first interlaced frame; nil if the first frames are progressive. Read
    /// errors are ignored here, and reported when the track's samples are read.
    static func fieldOrder(
        of stream: StreamInfo, path: String, environment: SourceEnvironment, interrupt: InterruptFlag
    ) -> FieldOrder? {
        do {
            let demuxer = try Demuxer.open(
                path: path, environment: environment, interrupt: interrupt, discovery: .header)
            guard stream.index < demuxer.streamCount else { return nil }
            demuxer.select([stream.index])
            let decoder = try PacketDecoder.open(
                stream.parameters, timeBase: stream.timeBase, threads: 1, limits: environment.limits)
            let packet = try Packet()
            let frame = try Frame()
            var frames = 0
            for _ in 0..<packetLimit {
                guard !interrupt.isRaised, frames < count, try demuxer.read(into: packet) else { return nil }
                guard packet.streamIndex == stream.index, try decoder.send(packet) else { continue }
                while frames < count, case .ready = try decoder.receive(into: frame) {
                    frames += 1
                    if let order = frame.fieldOrder { return order }
                }
            }
        } catch {
            return nil
        }
        return nil
    }

    /// Returns whether the first packet isn't a keyframe, for a codec with references between frames. Read
    /// errors are ignored here, and reported when the track's samples are read.
    static func precedeKeyframe(
        of stream: StreamInfo, path: String, environment: SourceEnvironment, interrupt: InterruptFlag
    ) -> Bool {
        guard stream.parameters.mediaType == .video, !stream.isAttachedPicture,
            stream.parameters.traits.randomAccess != nil
        else { return false }
        do {
            let demuxer = try Demuxer.open(
                path: path, environment: environment, interrupt: interrupt, discovery: .header)
            guard stream.index < demuxer.streamCount else { return false }
            demuxer.select([stream.index])
            let packet = try Packet()
            for _ in 0..<packetLimit where try !interrupt.isRaised && demuxer.read(into: packet) {
                if packet.streamIndex == stream.index { return !packet.isKey }
            }
        } catch {
            return false
        }
        return false
    }
}
