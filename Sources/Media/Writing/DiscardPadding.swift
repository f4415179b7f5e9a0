internal import LibAV

/// What of a track's audio is decoded and not to be heard: the encoder's delay, and what fills the last packet. Movies say it
/// in edit lists, Matroska at its blocks (DiscardPadding): how much of a block's end, which may be all of it, goes.
///
/// What goes at a block's start would be a number below 0 there. libavformat 5.1 doesn't write one, and mpv 0.35 takes it
/// for the end of the file: of a packet that is heard in part, such a beginning stays.
struct DiscardPadding {
    private let unit: Rational
    private let samples: Rational
    /// Samples of a whole packet.
    private let frame: Int64
    /// The unit counts samples, so that a packet is known to be shorter than others.
    private let isExact: Bool
    /// Packets of Vorbis and Opus differ, and say themselves how long they are. The delay of Opus has a field of its own in
    /// Matroska.
    private let lengths: PacketLengths?
    private let form: ContainerModel.DiscardForm
    /// The least that an MP3 file's muxer writes; libavformat makes a delay that nobody tells one of 3,567 samples, which players
    /// leave out: decoders take 529 samples off by themselves.
    private static let leastDelay: UInt32 = 530
    private var longest: Int64 = 0
    private var hasBegun = false

    /// Nil where there is nothing to say, or no place for it.
    init?(_ container: ContainerType, _ parameters: CodecParameters, timeBase: Rational) {
        let traits = parameters.traits
        lengths = traits.hasUnevenPackets ? PacketLengths(parameters) : nil
        guard let form = container.discardForm, parameters.sampleRate > 0,
            lengths != nil || traits.fillsPackets && parameters.frameSize > 0
        else { return nil }
        self.form = form
        let (rate, scale) = (Int64(parameters.sampleRate), Int64(timeBase.den))
        unit = timeBase
        samples = Rational(1, parameters.sampleRate)
        frame = Int64(parameters.frameSize)
        isExact = timeBase.num == 1 && (scale % rate == 0 || rate % scale == 0 && scale >= 8000)
    }

    /// Tells a packet, whose times are the output's in the track's unit, what of it is not heard.
    mutating func mark(_ packet: borrowing Packet) throws(AVError) {
        let told = packet.skippedSamples
        if form == .firstFrame {
            // The last packet's filling stands in the first frame's tag: the muxer asks each packet for it.
            let surplus = isExact ? max(0, frame - unit.rescale(packet.duration, to: samples)) : 0
            let end = packet.duration > 0 ? max(surplus, Int64(told.end)) : Int64(told.end)
            let start = hasBegun || told.start > 0 ? UInt32(clamping: told.start) : Self.leastDelay
            if start > 0 || end > 0 {
                try packet.setSkippedSamples(start: start, end: UInt32(clamping: min(end, frame)))
            }
            hasBegun = true
            return
        }
        if let lengths {
            // Vorbis' decoder gives nothing for the first packet: no delay is to be told of.
            guard let samples = lengths.samples(of: packet), isExact else { return }
            let surplus = samples - unit.rescale(packet.duration, to: self.samples)
            let end = max(surplus, Int64(told.end))
            if hasBegun, end > 0 { try packet.setSkippedSamples(end: UInt32(clamping: end)) }
            hasBegun = true
            return
        }
        // A packet before a pause lasts until the next one, and is no longer for that.
        // One whose length nobody told (Matroska's first) is like others.
        let whole = samples.rescale(frame, to: unit)
        let duration = packet.duration > 0 ? packet.duration : whole
        longest = max(longest, min(duration, whole))
        let hidden = hasBegun ? 0 : Int64(told.start)
        hasBegun = true
        let isHidden = hidden >= frame || packet.pts + duration <= 0
        let surplus = isExact ? unit.rescale(longest - duration, to: samples) : 0
        let end = isHidden ? frame : max(surplus, Int64(told.end))
        guard end > 0 || told.start > 0 else { return }
        try packet.setSkippedSamples(end: UInt32(clamping: min(end, frame)))
    }
}
