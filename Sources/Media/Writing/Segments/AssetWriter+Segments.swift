internal import LibAV
internal import Locking

/// Output in segments.
extension AssetWriter {
    /// Ends the current segment (`flushSegment`): the next sample of the first video track, or of the first audio track
    /// without video, begins another one. A keyframe is requested from a video encoder; a copied track continues the
    /// segment until its next keyframe. Call it on the queue that appends, while a session is running; requires
    /// `preferredOutputSegmentInterval` to be nil.
    ///
    /// The segment is passed to the delegate when the encoders have returned its last packets.
    public func flushSegment() throws {
        guard segments != nil, preferredOutputSegmentInterval == nil else {
            throw MediaError.misuse(
                "a segment can only be flushed by a writer of segments whose `preferredOutputSegmentInterval` is nil"
            )
        }
        guard state.withLock({ $0.status == .working && $0.hasStartedSession }) else {
            if let error { throw error }
            if status == .cancelled { return }
            throw MediaError.misuse(
                "a segment must be flushed after `startSession` and before `finishWriting`")
        }
        for input in inputs { input.boundaries?.flush() }
    }

    /// Returns the boundaries of the track whose keyframes begin segments, and sets those of the other inputs; nil for a
    /// writer of files.
    func makeSegmentStarts() throws -> FragmentScheduler.SegmentStarts? {
        guard let segments else { return nil }
        try checkSettings(for: segments.profile)
        let schedule: SegmentSchedule =
            segmentStartTimes.map { .at($0) } ?? preferredOutputSegmentInterval.map { .every($0) } ?? .manual
        let lead = FragmentScheduler.lead(of: inputs.map(\.mediaType))
        for input in inputs where input.encodesVideo || input.index == lead {
            input.boundaries = SegmentBoundaries(schedule, isLead: input.index == lead)
        }
        return inputs[lead].boundaries.map {
            FragmentScheduler.SegmentStarts(
                boundaries: $0, isRegular: !inputs[lead].encodesVideo,
                waitsForAllTracks: segments.profile.hasInitialization)
        }
    }

    private func checkSettings(for profile: SegmentProfile) throws {
        if let interval = preferredOutputSegmentInterval, interval <= .zero {
            throw MediaError.invalidArgument(
                "`preferredOutputSegmentInterval` is \(interval) s; it must be greater than 0, or nil")
        }
        let limit = MediaTime(value: TimeBounds.seconds, timescale: 1)
        guard initialSegmentStartTime >= .zero, initialSegmentStartTime <= limit else {
            throw MediaError.invalidArgument(
                "`initialSegmentStartTime` is \(initialSegmentStartTime) s; expected 0 to \(limit) s")
        }
        let unsupported = [
            ("chapters", !chapters.isEmpty), ("covers", !covers.isEmpty),
            ("attachments", !attachments.isEmpty),
            ("fileLengthLimit", fileLengthLimit != nil),
            ("movieFragmentInterval", movieFragmentInterval != nil),
            ("shouldOptimizeForNetworkUse", shouldOptimizeForNetworkUse),
        ].filter(\.1).map { "`\($0.0)`" }
        guard unsupported.isEmpty else {
            throw MediaError.invalidArgument("segments don't support \(unsupported.joined(separator: ", "))")
        }
    }

    /// Completes a segment and passes it to the delegate, whose error fails the writer.
    func endSegment(_ segments: SegmentOutput) throws(AVError) {
        do {
            guard segments.profile.hasInitialization else {
                try muxer?.endFragment()
                try segments.passTransportSegment(of: self)
                try muxer?.resendTables()
                return
            }
            try muxer?.writeDelayedHeader()
            try segments.passHeader(of: self)
            try segments.beginSegment()
            try muxer?.endFragment()
            try segments.passSegment(of: self)
        } catch let error as AVError {
            throw error
        } catch {
            throw ended(by: error)
        }
    }
}
