internal import LibAV

/// What packets of two tracks of audio must have in common, so that those of the one can follow those of the other under the same headers.
package struct AudioPacketForm: Hashable, Codable, Sendable {
    private var codec: String
    private var profile: String?
    private var sampleRate: Int32
    private var sampleFormat: SampleFormat
    private var layout: ChannelLayout
    /// Of the headers that stand beside the packets.
    private var headers: UInt64

    /// Nil of what is no audio.
    package init?(_ track: AssetTrack) {
        guard track.mediaType == .audio else { return nil }
        let parameters = track.format.parameters
        codec = track.format.codec
        profile = parameters.profileName
        sampleRate = parameters.sampleRate
        sampleFormat = parameters.sampleFormat
        layout = parameters.channelLayout.specified
        var hash = UnitDigest()
        parameters.extradata.withUnsafeBytes { hash.add($0) }
        headers = hash.value
    }

    /// How another one differs, for people; nil where it is the same.
    package func difference(of other: AudioPacketForm) -> String? {
        if self == other { return nil }
        if other.codec != codec { return "it is \(other.codec), and the others \(codec)" }
        if other.sampleRate != sampleRate {
            return "it has \(other.sampleRate) samples a second, and the others \(sampleRate)"
        }
        if other.layout != layout { return "its channels are \(other.layout), and the others' \(layout)" }
        if other.profile != profile || other.sampleFormat != sampleFormat {
            return "its profile is another than the others'"
        }
        return "its headers are not the others'"
    }
}
