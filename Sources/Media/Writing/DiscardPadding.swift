internal import LibAV

/// Marks audio that is decoded but not presented: the encoder delay, and the padding of the last packet. Movies store
/// both in edit lists. Matroska stores them as DiscardPadding of blocks: the duration to discard at a block's end,
/// possibly the entire block.
///
/// A negative DiscardPadding would discard the start of a block. libavformat 5.1 doesn't write it, and mpv 0.35 treats
/// it as the end of the file; so the start of a partially presented packet is kept.
struct DiscardPadding {
    private let unit: Rational
    private let samples: Rational
    /// Number of samples in a complete packet.
    private let frame: Int64
    /// Whether a tick of the time base is one or a few samples, so that a shorter packet is recognized.
    private let isExact: Bool
    /// Packet durations of Vorbis and Opus, which vary and are coded in the packets; nil for other codecs. Matroska has
    /// a separate field for the delay of Opus.
    private let lengths: PacketLengths?
    private let marking: ContainerModel.DiscardMarking
    /// Smallest delay declared for MP3. Without a declared delay, libavformat writes 3,567 samples, which players skip;
    /// decoders skip 529 samples in any case.
    private static let leastDelay: UInt32 = 530
    private var longest: Int64 = 0
    private var hasBegun = false

    /// Returns nil if the codec has no padding to mark, or if the container doesn't store it in packets.
    init?(_ container: ContainerType, _ parameters: CodecParameters, timeBase: Rational) {
        let traits = parameters.traits
        lengths = traits.hasUnevenPackets ? PacketLengths(parameters) : nil
        guard let marking = container.model.discardMarking, parameters.sampleRate > 0,
            lengths != nil || traits.fillsPackets && parameters.frameSize > 0
        else { return nil }
        self.marking = marking
        let (rate, scale) = (Int64(parameters.sampleRate), Int64(timeBase.den))
        unit = timeBase
        samples = Rational(1, parameters.sampleRate)
        frame = Int64(parameters.frameSize)
        isExact = timeBase.num == 1 && (scale % rate == 0 || rate % scale == 0 && scale >= 8000)
    }

    /// Marks the discarded samples of a packet; its times must be those of the output, in `timeBase`.
    mutating func mark(_ packet: borrowing Packet) throws(AVError) {
        let skipped = packet.skippedSamples
        if marking == .firstFrame {
            // The tag in the first frame stores the padding of the last packet; the muxer reads it from each packet.
            let surplus = isExact ? max(0, frame - unit.rescale(packet.duration, to: samples)) : 0
            let end = packet.duration > 0 ? max(surplus, Int64(skipped.end)) : Int64(skipped.end)
            let start = hasBegun || skipped.start > 0 ? UInt32(clamping: skipped.start) : Self.leastDelay
            if start > 0 || end > 0 {
                try packet.setSkippedSamples(start: start, end: UInt32(clamping: min(end, frame)))
            }
            hasBegun = true
            return
        }
        if let lengths {
            // Vorbis decoders return no samples for the first packet, so its delay isn't marked.
            guard let samples = lengths.samples(of: packet), isExact else { return }
            let surplus = samples - unit.rescale(packet.duration, to: self.samples)
            let end = max(surplus, Int64(skipped.end))
            if hasBegun, end > 0 { try packet.setSkippedSamples(end: UInt32(clamping: end)) }
            hasBegun = true
            return
        }
        // A packet before a gap has a duration up to the next packet, but contains no more samples than others. A
        // packet without a duration (Matroska's first) is considered complete.
        let whole = samples.rescale(frame, to: unit)
        let duration = packet.duration > 0 ? packet.duration : whole
        longest = max(longest, min(duration, whole))
        let hidden = hasBegun ? 0 : Int64(skipped.start)
        hasBegun = true
        let isHidden = hidden >= frame || packet.pts + duration <= 0
        let surplus = isExact ? unit.rescale(longest - duration, to: samples) : 0
        let end = isHidden ? frame : max(surplus, Int64(skipped.end))
        guard end > 0 || skipped.start > 0 else { return }
        try packet.setSkippedSamples(end: UInt32(clamping: min(end, frame)))
    }
}
