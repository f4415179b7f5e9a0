internal import JobPlan
internal import LibAV
internal import Media
internal import Publishing
internal import Streaming

/// Describes a finished rendition of a package, from its track and from the segments that were recorded while it was
/// written.
struct RenditionInspector {
    let plan: OutputPlan
    /// Tracks of the rendition's file, as they were read back.
    let tracks: [AssetTrack]
    let recorder: SegmentRecorder

    private var container: SegmentContainer { SegmentContainer(rawValue: plan.container) ?? .mp4 }

    /// Byte ranges of the initialization section, if there is one, and of the segments in the file.
    var parts: [TemporaryFile.Part] {
        let segments = recorder.segments.map(\.part)
        guard recorder.initialization > 0 else { return segments }
        return [TemporaryFile.Part(offset: 0, length: recorder.initialization)] + segments
    }

    /// Number of bytes of a segment in which its first presentation time is.
    private static let beginning = 3 * TransportSegment.packetSize

    /// Reads the beginning of each segment of a transport stream: its tables, and the timestamp to which other renditions and
    /// subtitles are aligned. Returns the first deviation from the plan; nil if there is none, and for mp4.
    func problem() throws -> String? {
        guard container == .ts else { return nil }
        for (index, segment) in recorder.segments.enumerated() {
            let bytes = try recorder.beginning(of: segment, size: Self.beginning)
            guard let unit = bytes.withUnsafeBytes({ TransportSegment($0).firstUnit }) else {
                return "segment \(index + 1) doesn't begin with the tables of a transport stream"
            }
            let start =
                segment.report.firstVideoSample?.presentationTime ?? segment.report.earliestPresentationTime
            let time = start + container.profile.timestampOffset
            let ticks = time.ticks(in: TransportSegment.timestampUnit)
            guard (ticks - unit.presentationTime) % TransportSegment.timestampPeriod == 0 else {
                return
                    "segment \(index + 1) begins with the timestamp \(unit.presentationTime) instead of \(ticks)"
            }
        }
        return nil
    }

    /// Returns the description of the rendition.
    ///
    /// - Throws: `MediaError` if the file has no track.
    func description() throws -> StreamingRendition {
        guard let id = plan.id, let planned = plan.tracks.first, let track = tracks.first else {
            throw MediaError.internalError("a rendition without its track")
        }
        return StreamingRendition(
            id: id, kind: try kind(of: track, planned), codec: CodecString(track.format.parameters),
            timescale: track.timeBase.den, initializationSize: recorder.initialization, segments: segments)
    }

    private func kind(of track: AssetTrack, _ planned: TrackPlan) throws -> StreamingRendition.Kind {
        let format = track.format
        guard track.mediaType == .video else {
            return .audio(
                .init(
                    sampleRate: format.sampleRate,
                    layout: format.channelLayout ?? format.parameters.channelLayout))
        }
        // Encoders close the GOP at a requested keyframe; frames before it in presentation order may follow it.
        let isEncoded = if case .encode = planned.action { true } else { false }
        let isTurned = planned.transform?.isQuarterTurn == true
        return .video(
            .init(
                width: isTurned ? format.height : format.width,
                height: isTurned ? format.width : format.height,
                sampleAspectRatio: format.pixelAspectRatio.map { isTurned ? $0.inverted : $0 },
                frameRate: frameRate(of: planned), color: format.color,
                accessPoint: try isEncoded || hasClosedSegments(track) ? .leading : .open))
    }

    /// Maximum size of the first frame of a segment in bytes, larger than any of a level of H.264 and HEVC.
    private static let mostBytes = 64 << 20

    /// Whether each segment of copied video can be decoded without earlier ones.
    private func hasClosedSegments(_ track: AssetTrack) throws -> Bool {
        guard let access = SegmentAccess(track.format.parameters) else { return false }
        return try recorder.segments.allSatisfy { segment in
            try firstSample(of: segment).map(access.isClosed) ?? false
        }
    }

    /// Returns the first video sample of a segment without the framing of the container; nil without one.
    private func firstSample(of segment: SegmentRecorder.Segment) throws -> [UInt8]? {
        guard let bytes = try recorder.firstSample(of: segment, limit: Self.mostBytes) else { return nil }
        return container == .mp4 ? bytes : bytes.withUnsafeBytes { TransportSegment($0).unitContents }
    }

    /// Returns the frame rate that the plan predicts; for a variable one, the average.
    private func frameRate(of planned: TrackPlan) -> Rational? {
        if case .encode(let encoding) = planned.action, let rate = encoding.encoder.frameRate { return rate }
        if planned.source.hasConstantFrameRate, let rate = planned.source.frameRate { return rate }
        let frames = recorder.segments.reduce(0) { $0 + $1.report.sampleCount }
        let seconds = recorder.segments.reduce(0.0) { $0 + $1.report.duration.seconds }
        let thousandths = Double(frames) * 1000 / seconds
        return thousandths >= 1 && thousandths < 1e9 ? Rational(Int32(thousandths.rounded()), 1000) : nil
    }

    /// Segments with the times at which they are presented. The first segment of audio begins with the encoder delay,
    /// which an edit list hides.
    private var segments: [StreamingSegment] {
        recorder.segments.map { segment in
            let start = segment.report.earliestPresentationTime
            let end = segment.report.presentationEnd
            let shown = max(.zero, start)
            return StreamingSegment(
                start: shown, duration: max(.zero, end - shown), size: segment.part.length,
                keyframe: segment.report.firstVideoSample.flatMap { sample in
                    sample.isKeyframe ? range(of: sample) : nil
                })
        }
    }

    /// Returns the bytes of a segment that players require for its first frame.
    private func range(of sample: AssetSegmentSample) -> ByteRange {
        let (offset, length) = (Int64(sample.offset), Int64(sample.length))
        return switch container {
        case .mp4: ByteRange(offset: 0, length: offset + length)
        // The range excludes the tables (RFC 8216bis, 4.4.3.6).
        case .ts: ByteRange(offset: offset, length: length)
        }
    }
}
