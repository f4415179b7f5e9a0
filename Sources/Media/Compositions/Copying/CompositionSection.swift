internal import LibAV

/// A section of a composition's time line whose frames are all produced in the same way.
package struct CompositionSection: Hashable, Sendable {
    /// Reason for encoding frames rather than copying them.
    package enum Reason: Hashable, Sendable {
        /// No clip is on screen.
        case gap
        /// A transition from the previous clip.
        case join(into: Int)
        /// A layer is above the clip.
        case layer(Int)
        /// The clip's packets can't be copied.
        case clip(Int)
        /// The clip's first frame is later than the clip's start.
        case late(Int)
    }

    /// Range on the composition's time line.
    package var timeRange: TimeRange
    /// The clip whose packets can be copied, or the reason for encoding.
    package var content: Content

    /// Source of a section's frames.
    package enum Content: Hashable, Sendable {
        /// Packets of a single clip without layers.
        case clip(Int)
        /// Encoded frames, with the reason.
        case encoded(Reason)
    }
}

extension Composition {
    /// Divides the time line into maximal sections. `beginning` returns the position of a clip's first frame, or nil if
    /// its packets can't be copied. The cost depends on the number of starts and ends, not on the number of
    /// simultaneous items.
    ///
    /// Starts and ends of layers and transitions are rounded up to frames of the canvas.
    package func sections(beginning: (Int) -> MediaTime?) -> [CompositionSection] {
        let grid = FrameGrid(self)
        let begins = clips.indices.map { beginning($0) }
        let spans = clips.indices.map { grid.span(ofClip: $0) }
        let above = layers.map { grid.span(of: $0.timeRange) }
        var all: Set<MediaTime> = [.zero, duration]
        for span in spans + above { all.formUnion([span.start, span.end]) }
        for (span, begin) in zip(spans, begins) {
            if let begin, begin > span.start, begin < span.end { all.insert(begin) }
        }
        let times = all.filter { $0 >= .zero && $0 <= duration }.sorted()
        let layerOrder = above.indices.sorted { above[$0].start < above[$1].start }
        var (nextClip, nextLayer) = (0, 0)
        var (shown, open): ([Int], [Int]) = ([], [])
        var found: [CompositionSection] = []
        for (start, end) in zip(times, times.dropFirst()) {
            while nextClip < clips.count, spans[nextClip].start <= start {
                shown.append(nextClip)
                nextClip += 1
            }
            while nextLayer < layerOrder.count, above[layerOrder[nextLayer]].start <= start {
                open.append(layerOrder[nextLayer])
                nextLayer += 1
            }
            shown.removeAll { spans[$0].end <= start }
            open.removeAll { above[$0].end <= start }
            let content = content(at: start, shown, open, begins)
            if found.last?.content == content {
                found[found.count - 1].timeRange = TimeRange(
                    start: found[found.count - 1].timeRange.start, end: end)
            } else {
                found.append(
                    CompositionSection(timeRange: TimeRange(start: start, end: end), content: content))
            }
        }
        return found
    }

    private func content(
        at time: MediaTime, _ shown: [Int], _ open: [Int], _ begins: [MediaTime?]
    ) -> CompositionSection.Content {
        guard let clip = shown.last else { return .encoded(.gap) }
        if let layer = open.min() { return .encoded(.layer(layer)) }
        if shown.count > 1 { return .encoded(.join(into: clip)) }
        guard let begin = begins[clip] else { return .encoded(.clip(clip)) }
        return time < begin ? .encoded(.late(clip)) : .clip(clip)
    }
}

/// Times at which layers and transitions appear and disappear. They are frames of the canvas, except where a clip
/// begins or ends without a transition.
private struct FrameGrid {
    private let composition: Composition
    private let unit: Rational
    /// Times at which a clip begins or ends without a transition, in order.
    private let edges: [MediaTime]

    init(_ composition: Composition) {
        self.composition = composition
        unit = composition.canvas?.frameRate.inverted ?? Rational(1, 25)
        let ranges = composition.clips.map(\.placement.timeRange)
        var edges: Set<MediaTime> = [composition.duration]
        for (index, range) in ranges.enumerated() {
            if index == 0 || ranges[index - 1].end <= range.start { edges.insert(range.start) }
            if index + 1 == ranges.count || ranges[index + 1].start >= range.end { edges.insert(range.end) }
        }
        self.edges = edges.sorted()
    }

    /// Returns the time of the first canvas frame at or after `time`, or of an edge in between.
    private func snapped(_ time: MediaTime) -> MediaTime {
        let frame = MediaTime(ticks: time.ticks(in: unit, rounding: .up), timeBase: unit)
        var (low, high) = (0, edges.count)
        while low < high {
            let middle = (low + high) / 2
            if edges[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low < edges.count ? min(frame, edges[low]) : frame
    }

    func span(of range: TimeRange) -> TimeRange {
        let start = snapped(range.start)
        return TimeRange(start: start, end: max(start, snapped(range.end)))
    }

    /// Returns a clip's time range, with its ends moved to frames where it has a transition.
    func span(ofClip index: Int) -> TimeRange { span(of: composition.clips[index].placement.timeRange) }
}
