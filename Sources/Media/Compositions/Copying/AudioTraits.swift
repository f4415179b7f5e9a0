package import LibAV

/// Properties of an audio track that are known without its packets.
package struct AudioTraits: Hashable, Codable, Sendable {
    private var codec: String
    private var sampleRate: Int32
    private var layout: ChannelLayout?

    /// Creates the traits; `layout` is nil if it isn't known.
    package init(codec: String, sampleRate: Int32, layout: ChannelLayout?) {
        (self.codec, self.sampleRate, self.layout) = (codec, sampleRate, layout?.specified)
    }

    /// Returns the first difference of another track, for messages; nil if no known property differs.
    package func difference(of other: AudioTraits) -> String? {
        if other.codec != codec { return "its codec is \(other.codec), the others' is \(codec)" }
        if other.sampleRate != sampleRate {
            return "its sample rate is \(other.sampleRate) Hz, the others' is \(sampleRate) Hz"
        }
        guard let layout, let others = other.layout, others != layout else { return nil }
        return "its channel layout is \(others), the others' is \(layout)"
    }
}
