package import Media

/// A media segment of a rendition, as it was measured.
package struct StreamingSegment: Codable, Hashable, Sendable {
    /// Earliest presentation time, with edit lists applied. Not negative.
    package var start: MediaTime
    /// Presentation time from `start` to the end of the last sample. Manifests use the start of the next segment as the
    /// end; only the last segment ends after its duration.
    package var duration: MediaTime
    /// Size in bytes, with all boxes or transport packets of the segment.
    package var size: Int64
    /// Bytes that a player requires to show the first frame, which is a keyframe: from the beginning of the movie fragment
    /// (`moof`) to the end of its first sample, or the transport packets of the frame behind the tables (PAT, PMT). Nil for
    /// audio and subtitles.
    package var keyframe: ByteRange?

    package init(start: MediaTime, duration: MediaTime, size: Int64, keyframe: ByteRange? = nil) {
        (self.start, self.duration, self.size, self.keyframe) = (start, duration, size, keyframe)
    }
}

/// A range of bytes in a segment or a file.
package struct ByteRange: Codable, Hashable, Sendable {
    /// Position of the first byte.
    package var offset: Int64
    /// Number of bytes.
    package var length: Int64

    package init(offset: Int64, length: Int64) { (self.offset, self.length) = (offset, length) }

    /// The range as HLS writes it: length and offset.
    var hls: String { "\(length)@\(offset)" }
    /// The range as DASH writes it: first and last position.
    var dash: String { "\(offset)-\(offset + length - 1)" }
}
