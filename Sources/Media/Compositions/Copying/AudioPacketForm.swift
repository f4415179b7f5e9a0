internal import LibAV

/// What packets of two tracks of audio must have in common, so that those of the one can follow those of the other under the same headers.
package struct AudioPacketForm: Hashable, Codable, Sendable {
    private var traits: AudioTraits
    private var profile: String?
    private var sampleFormat: SampleFormat
    /// Of the headers that stand beside the packets.
    private var headers: UInt64

    /// Nil of what is no audio.
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

    /// How another one differs, for people; nil where it is the same.
    package func difference(of other: AudioPacketForm) -> String? {
        if self == other { return nil }
        if let difference = traits.difference(of: other.traits) { return difference }
        if other.profile != profile || other.sampleFormat != sampleFormat {
            return "its profile is another than the others'"
        }
        return "its headers are not the others'"
    }
}
