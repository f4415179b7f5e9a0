internal import LibAV

/// Output in segments.
extension AssetWriter {
    /// Ends the current segment (`flushSegment`): the next sample of the first video track, or of the first audio track
    /// without video, begins another one. A keyframe is requested from a video encoder; a copied track continues the
    /// segment until its next keyframe. Call it on the queue that appends, while a session is running; requires
    /// `preferredOutputSegmentInterval` to be nil.
    ///
    /// The segment is passed to the delegate when the encoders have returned its last packets.
    public func flushSegment() throws {
        guard segmentProfile != nil, preferredOutputSegmentInterval == nil else {
            throw MediaError.misuse(
                "a segment can only be flushed by a writer of segments whose `preferredOutputSegmentInterval` is nil"
            )
        }
        guard isInSession else {
            if let error { throw error }
            if status == .cancelled { return }
            throw MediaError.misuse(
                "a segment must be flushed after `startSession` and before `finishWriting`")
        }
        for input in inputs { input.boundaries?.flush() }
    }

    /// Settings of segments; nil for a writer of files.
    var segmentSettings: SegmentSettings? {
        guard let segmentProfile else { return nil }
        return SegmentSettings(
            profile: segmentProfile, interval: preferredOutputSegmentInterval, startTimes: segmentStartTimes,
            start: initialSegmentStartTime,
            unsupported: [
                ("chapters", !chapters.isEmpty), ("covers", !covers.isEmpty),
                ("attachments", !attachments.isEmpty),
                ("fileLengthLimit", fileLengthLimit != nil),
                ("movieFragmentInterval", movieFragmentInterval != nil),
                ("shouldOptimizeForNetworkUse", shouldOptimizeForNetworkUse),
            ])
    }
}
