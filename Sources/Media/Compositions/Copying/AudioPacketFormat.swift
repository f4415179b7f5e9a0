internal import LibAV

/// Properties that audio tracks must share for their packets to be joined in one track with one set of headers.
package struct AudioPacketFormat: Hashable, Codable, Sendable {
    private var traits: AudioTraits
    private var profile: String?
    private var sampleFormat: SampleFormat
    /// Hash of the codec's extradata.
    private var headers: UInt64

    /// Creates the format of a track; nil unless the track is audio.
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

    /// Returns the first difference of another format, for messages; nil if both are equal.
    package func difference(of other: AudioPacketFormat) -> String? {
        if self == other { return nil }
        if let difference = traits.difference(of: other.traits) { return difference }
        if other.profile != profile || other.sampleFormat != sampleFormat {
            return "its profile differs from the others'"
        }
        return "its codec headers differ from the others'"
    }
}
