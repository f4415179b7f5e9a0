internal import LibAV

/// A stretch of a composition's time line over which its frames are made in one way.
package struct CompositionStretch: Hashable, Sendable {
    /// Why frames are made anew, and no packets taken.
    package enum Reason: Hashable, Sendable {
        /// Nothing is on screen.
        case gap
        /// A clip comes on screen while the one before it still is.
        case join(into: Int)
        /// A layer lies above.
        case layer(Int)
        /// The clip itself is none whose packets could be taken.
        case clip(Int)
        /// The clip's own frames begin later than it does.
        case late(Int)
    }

    /// Where it stands.
    package var timeRange: TimeRange
    /// The clip whose packets could be taken, or why there is none.
    package var content: Content

    /// What there is to see.
    package enum Content: Hashable, Sendable {
        /// One clip and nothing else.
        case clip(Int)
        /// Frames that are made.
        case made(Reason)
    }
}

extension Composition {
    /// The time line cut where something begins or ends, each stretch as long as it goes; `beginning` says of which clips packets could be
    /// taken, and when on the time line their first frame comes. Costs grow with what begins and ends, not with what there is at once.
    ///
    /// Layers and joins begin and end with frames: what is between two frames is shown by none.
    package func stretches(beginning: (Int) -> MediaTime?) -> [CompositionStretch] {
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
        var found: [CompositionStretch] = []
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
                    CompositionStretch(timeRange: TimeRange(start: start, end: end), content: content))
            }
        }
        return found
    }

    private func content(
        at time: MediaTime, _ shown: [Int], _ open: [Int], _ begins: [MediaTime?]
    ) -> CompositionStretch.Content {
        guard let clip = shown.last else { return .made(.gap) }
        if let layer = open.min() { return .made(.layer(layer)) }
        if shown.count > 1 { return .made(.join(into: clip)) }
        guard let begin = begins[clip] else { return .made(.clip(clip)) }
        return time < begin ? .made(.late(clip)) : .clip(clip)
    }
}

/// When what lies above clips, and what joins two of them, comes on screen and goes: with a frame of the canvas, but for where a clip
/// begins or ends by itself.
private struct FrameGrid {
    private let composition: Composition
    private let unit: Rational
    /// Where a clip begins or ends while no other one is on screen, in order.
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

    /// The first frame that isn't earlier, or the edge before it.
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

    /// Its own edges stay; where it is joined with a neighbour, a frame decides.
    func span(ofClip index: Int) -> TimeRange { span(of: composition.clips[index].placement.timeRange) }
}
