/// What sound is to be brought to, by EBU R128.
public struct LoudnessTarget: Hashable, Codable, Sendable {
    /// Loudness of the whole, in LUFS.
    public var integrated = -16.0
    /// Highest true peak, in dBTP.
    public var truePeak = -1.0
    /// Loudness range, in LU.
    public var range = 11.0

    /// The usual target of things that are heard at home.
    public init() {}
}
