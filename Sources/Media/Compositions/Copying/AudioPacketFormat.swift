internal import LibAV

/// Properties that the packets of two audio tracks must have in common, so that they can follow one another with the
/// same headers.
package struct AudioPacketFormat: Hashable, Codable, Sendable {
    private var traits: AudioTraits
    private var profile: String?
    private var sampleFormat: SampleFormat
    /// Hash of the codec's extradata.
    private var headers: UInt64

    /// Nil unless the track is audio.
    package init?(_ track: AssetTrack) {
        guard track.mediaType == .audio else { return nil }
        let parameters = track.format.parameters
        traits = AudioTraits(
            codec: track.format.codec, sampleRate: parameters.sampleRate, layout: parameters.channelLayout)
        profile = parameters.profileName
        sampleFormat = parameters.sampleFormat
        var hash = UnitDigest()
        parameters.extradata.withUnsafeBytes { hash.add($0) }
        headers = hash.value
    }

    /// Returns how another format differs, for messages; nil if it is equal.
    package func difference(of other: AudioPacketFormat) -> String? {
        if self == other { return nil }
        if let difference = traits.difference(of: other.traits) { return difference }
        if other.profile != profile || other.sampleFormat != sampleFormat {
            return "its profile differs from the others'"
        }
        return "its codec headers differ from the others'"
    }
}
