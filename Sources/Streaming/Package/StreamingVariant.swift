/// A combination of renditions that HLS offers as a variant stream.
package struct StreamingVariant: Codable, Hashable, Sendable {
    /// Id of the video rendition; nil for an audio-only variant.
    package var video: String?
    /// Id of the audio rendition; nil for a variant without audio. Variants of the same video with different audio
    /// form groups (`AudioGroups`).
    package var audio: String?

    /// Name of the group of audio renditions that the variant belongs to; nil to form groups by format.
    package var audioGroup: String?

    package init(video: String?, audio: String?, audioGroup: String? = nil) {
        (self.video, self.audio, self.audioGroup) = (video, audio, audioGroup)
    }
}
