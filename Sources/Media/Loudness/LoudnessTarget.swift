/// What audio is to be brought to, by EBU R128.
public struct LoudnessTarget: Hashable, Codable, Sendable {
    /// Loudness of the whole, in LUFS.
    public var integrated = -16.0
    /// Highest true peak, in dBTP.
    public var truePeak = -1.0
    /// Loudness range at most, in LU; nil leaves the dynamics alone.
    public var range: Double?
    /// The loudness that was reached is written as tags.
    public var writesTags = false

    /// The usual target of things that are heard at home.
    public init() {}
}

/// What was measured of audio, by EBU R128.
public struct Loudness: Hashable, Codable, Sendable {
    /// Loudness of the whole, in LUFS; -70 or less is silence.
    public var integrated: Double
    /// There is one: audio is louder than the gate of EBU R128, and longer than one of its blocks.
    public var isMeasured: Bool { integrated > -70 }
    /// Highest true peak, in dBTP.
    public var truePeak: Double
    /// Loudness range, in LU.
    public var range: Double
}
