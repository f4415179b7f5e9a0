/// A combination of renditions that HLS offers as a variant stream.
package struct StreamingVariant: Codable, Hashable, Sendable {
    /// Id of the video rendition; nil for an audio-only variant.
    package var video: String?
    /// Id of the audio rendition; nil for a variant without audio. Variants of the same video with different audio
    /// form groups (`AudioGroups`).
    package var audio: String?

    package init(video: String?, audio: String?) { (self.video, self.audio) = (video, audio) }
}
