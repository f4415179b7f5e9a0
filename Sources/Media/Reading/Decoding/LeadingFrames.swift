internal import LibAV

/// Detects the frames at the beginning of a stream that precede its first random-access point, so that their references
/// are missing.
///
/// libavcodec conceals missing references with gray, or withholds such frames. Until the first frame that decodes
/// correctly, frames are dropped and counted. This includes the leading frames of an open GOP.
struct LeadingFrames {
    /// Properties of a decoded frame from which missing references are detected.
    struct FrameInfo {
        var pts: Int64
        /// Whether the decoder reports the frame as a keyframe.
        var isKey: Bool
        /// Whether the frame is coded without references.
        var isIntra: Bool
        /// Whether the decoder reports the frame as preceding the first recovery point.
        var lacksReferences: Bool
    }

    private let method: BitstreamTraits.RandomAccess
    /// Start of the range; earlier frames are not counted.
    private let start: Int64
    /// Presentation times of the packets that are presented and not before `start`.
    private var times: [Int64] = []
    /// Whether a packet before `start` was sent to the decoder.
    private var hasEarlier = false
    private var sentPackets = 0
    private var firstTime: Int64?
    /// Number of the first keyframe packet, counted from 1; nil before it.
    private var firstKey: Int?
    private var intraFrames = 0
    /// Number of dropped frames.
    private(set) var dropped = 0

    /// Returns nil for a codec whose frames don't depend on each other, or whose random-access method is unknown.
    init?(_ traits: BitstreamTraits, start: Int64) {
        guard let method = traits.randomAccess else { return nil }
        (self.method, self.start) = (method, start)
    }

    /// Records a packet that is sent to the decoder.
    mutating func note(pts: Int64, isKey: Bool, isHidden: Bool) {
        sentPackets += 1
        if isKey, firstKey == nil { firstKey = sentPackets }
        if firstTime == nil { firstTime = pts }
        guard pts != noTimestamp, !isHidden else { return }
        if pts < start { hasEarlier = true } else { times.append(pts) }
    }

    /// Returns whether a decoding error concerns a packet before the first keyframe; up to `delay` packets may have
    /// been sent after it.
    func covers(errorAfter delay: Int) -> Bool {
        guard firstKey != 1 else { return false }
        return firstKey.map { sentPackets - delay < $0 } ?? true
    }

    /// Returns whether a frame decodes correctly; otherwise counts it as dropped.
    mutating func accepts(_ frame: FrameInfo) -> Bool {
        if frame.isIntra { intraFrames += 1 }
        // The first packet's frame if it is intra, or a later intra frame in a stream that marks no recovery points.
        let isEntry = frame.isIntra && (frame.pts == firstTime || intraFrames > 1)
        let isIntact =
            switch method {
            case .recoveryPoint: !frame.lacksReferences
            case .keyframe: firstKey == 1 || frame.isKey
            case .withheld: true
            }
        if isIntact || isEntry { return true }
        dropped += 1
        return false
    }

    /// Returns the number of frames of the range that are missing before the first accepted one at `time`. The frame
    /// presented at the start of a range belongs to the range.
    func missing(before time: Int64) -> Int {
        guard time != noTimestamp else { return dropped }
        let isOnScreen = hasEarlier && time > start && !times.contains(start)
        return times.count { $0 < time } + (isOnScreen ? 1 : 0)
    }
}

extension LeadingFrames.FrameInfo {
    init(_ frame: borrowing Frame) {
        self.init(
            pts: frame.pts, isKey: frame.isKey, isIntra: frame.isIntra,
            lacksReferences: frame.lacksReferences)
    }
}
