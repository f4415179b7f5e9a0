/// Target loudness, according to EBU R128.
package struct LoudnessTarget: Hashable, Codable, Sendable {
    /// Integrated loudness in LUFS. Default: -16.
    package var integrated = -16.0
    /// Maximum true peak in dBTP. Default: -1.
    package var truePeak = -1.0
    /// Maximum loudness range in LU; nil keeps the dynamics.
    public var range: Double?
    /// Whether the resulting loudness is written as tags. Default: false.
    package var writesTags = false

    /// Creates a target of -16 LUFS and at most -1 dBTP, without a limit of the loudness range.
    package init() {}
}

/// Measured loudness, according to EBU R128.
public struct Loudness: Hashable, Codable, Sendable {
    /// Integrated loudness in LUFS; -70 or less is silence.
    public var integrated: Double
    /// Whether a loudness was measured; false for audio below the absolute gate of EBU R128 (-70 LUFS), or shorter than
    /// one of its blocks.
    public var isMeasured: Bool { integrated > -70 }
    /// Maximum true peak in dBTP.
    public var truePeak: Double
    /// Loudness range in LU.
    public var range: Double
}
