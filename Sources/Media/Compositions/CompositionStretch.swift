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
    /// The time line cut where something begins or ends, each stretch as long as it goes; `fits` says of which clips packets could be
    /// taken. Costs grow with what begins and ends, not with what there is at once.
    package func stretches(fits: (Int) -> Bool) -> [CompositionStretch] {
        let ends = [MediaTime.zero, duration]
        let all = clips.map(\.placement.timeRange) + layers.map(\.timeRange)
        let times = Set(ends + all.flatMap { [$0.start, $0.end] }).filter { $0 >= .zero && $0 <= duration }
            .sorted()
        let layerOrder = layers.indices.sorted { layers[$0].timeRange.start < layers[$1].timeRange.start }
        var (nextClip, nextLayer) = (0, 0)
        var (shown, above): ([Int], [Int]) = ([], [])
        var found: [CompositionStretch] = []
        for (start, end) in zip(times, times.dropFirst()) {
            while nextClip < clips.count, clips[nextClip].placement.timeRange.start <= start {
                shown.append(nextClip)
                nextClip += 1
            }
            while nextLayer < layerOrder.count, layers[layerOrder[nextLayer]].timeRange.start <= start {
                above.append(layerOrder[nextLayer])
                nextLayer += 1
            }
            shown.removeAll { clips[$0].placement.timeRange.end <= start }
            above.removeAll { layers[$0].timeRange.end <= start }
            let content = content(shown, above, fits)
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
        _ shown: [Int], _ above: [Int], _ fits: (Int) -> Bool
    ) -> CompositionStretch.Content {
        guard let clip = shown.last else { return .made(.gap) }
        if let layer = above.min() { return .made(.layer(layer)) }
        if shown.count > 1 { return .made(.join(into: clip)) }
        return fits(clip) ? .clip(clip) : .made(.clip(clip))
    }
}
