internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The conversion of frame numbers to times. The times of a file's frames are read from the file; those of a generated
/// source, and of a file that another job has yet to publish, are computed from the frame rate.
struct FrameLocator {
    /// The first selected video track.
    let track: TrackDescription?
    /// Path of the file that contains the track; nil if the track is generated or predicted.
    let path: String?
    let prober: any SourceProber

    init(track: TrackDescription?, path: String?, prober: any SourceProber) {
        (self.track, self.path, self.prober) = (track, path, prober)
    }

    init(track: TrackDescription?, source: InputPlan.Source, prober: any SourceProber) {
        let path: String? = if case .file(let path, _) = source { path } else { nil }
        self.init(track: track, path: path, prober: prober)
    }

    /// Returns the positions of frames, counted in `ranges` joined end to end, or in the whole track. Returns
    /// nil if the source can't be read, which is reported.
    func positions(
        of numbers: [Located<Int64>], in ranges: [TimeRange], into sink: inout DiagnosticSink
    ) -> FramePositions? {
        guard let location = numbers.first?.range else { return FramePositions(positions: [], count: 0) }
        guard let track, path != nil || track.frameRate?.isPositive == true else {
            sink.error(
                .invalidRange, "a time in frames requires a selected video track",
                at: location)
            return nil
        }
        guard let path else {
            let frame = (track.frameRate ?? Rational(25, 1)).inverted
            let count = track.timeRange.end.ticks(in: frame, rounding: .up)
            return FramePositions(of: numbers.map(\.value), in: ranges, count: count, every: frame)
        }
        do throws(SourceProblem) {
            return try prober.frames(numbers.map(\.value), of: track.index, in: ranges, of: path)
        } catch {
            sink.error(.sourceUnreadable, "\(path): \(error)", at: location)
            return nil
        }
    }

    /// Frames that were located in one read of the source, by number, for some ranges.
    private var located: (ranges: [TimeRange], frames: [Int64: FramePositions.Position?], count: Int64)?

    /// Locates several frames in one read of the source, for later calls of `position`. Returns false if the
    /// source can't be read, which is reported.
    mutating func locate(
        _ times: [Located<TimeExpression>], in ranges: [TimeRange], into sink: inout DiagnosticSink
    ) -> Bool {
        let numbers = times.compactMap { time in
            if case .frames(let number) = time.value { Located(number, at: time.range) } else { nil }
        }
        guard !numbers.isEmpty else { return true }
        guard let found = positions(of: numbers, in: ranges, into: &sink) else { return false }
        let frames = Dictionary(zip(numbers.map(\.value), found.positions)) { first, _ in first }
        located = (ranges, frames, found.count)
        return true
    }

    /// Returns the position of a frame and the number of frames. The position is nil if there is no such frame; the
    /// result is nil after an error is reported, if the source can't be read.
    func position(
        of number: Located<Int64>, in ranges: [TimeRange], into sink: inout DiagnosticSink
    ) -> (position: FramePositions.Position?, count: Int64)? {
        if let located, located.ranges == ranges, let known = located.frames[number.value] {
            return (known, located.count)
        }
        return positions(of: [number], in: ranges, into: &sink).flatMap { found in
            found.positions.first.map { ($0, found.count) }
        }
    }

    /// Reports a frame that doesn't exist.
    static func reportMissing(
        _ number: Located<Int64>, of count: Int64, in ranges: [TimeRange], into sink: inout DiagnosticSink
    ) {
        let whose = ranges.isEmpty ? "the video track" : "the range"
        sink.error(
            .invalidRange,
            "frame \(number.value) doesn't exist: \(whose) has \(count) frame\(count == 1 ? "" : "s")"
                + (count > 0 ? ", 0f to \(count - 1)f" : ""),
            at: number.range)
    }
}
