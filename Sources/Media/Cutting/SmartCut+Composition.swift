package import LibAV

/// Smart cuts of several sources: the clips of a composition in order, with encoded frames between them.
extension SmartCut {
    /// Returns a time base that represents exactly the times of all copied clips, cuts, positions, and encoded frames.
    /// If there is none, positions are rounded, then cuts as well. Nil if the clips' own times and the encoded frames
    /// have no common time base.
    package static func tick(
        clock: [(timeBase: Rational, timeZero: MediaTime)], cuts: [MediaTime], positions: [MediaTime],
        frames: Rational?
    ) -> Rational? {
        let limit: Int32 = 3_000_000
        let own = clock.map(\.timeBase) + clock.compactMap(\.timeZero.asTimeBase)
        let generated = frames.map { [$0] } ?? []
        return commonTick(own + generated + (cuts + positions).compactMap(\.asTimeBase), limit: limit)
            ?? commonTick(own + generated + cuts.compactMap(\.asTimeBase), limit: limit)
            ?? commonTick(own + generated, limit: limit)
    }

    /// Creates the cut of a composition. `part` returns the part for a clip's section, by the section's index. Encoded
    /// frames have the duration `unit`.
    package static func composed(
        _ sections: [CompositionSection], tick: Rational, unit: Rational, delay: Int,
        encoder: EncoderConfiguration, part: (Int) -> Part?
    ) throws(Obstacle) -> SmartCut {
        var cut = SmartCut(tick: tick, parts: [], reorderDelay: delay, encoder: encoder)
        cut.encoder.timeBase = tick
        var generated: TimeRange?
        for (index, section) in sections.enumerated() {
            guard case .clip(let clip) = section.content else {
                generated = TimeRange(
                    start: generated?.start ?? section.timeRange.start, end: section.timeRange.end)
                continue
            }
            if let range = generated.take() { try cut.appendGenerated(range, unit) }
            guard var own = part(index) else { throw .nothingToCopy }
            own.clip = clip
            own.position = section.timeRange.start.ticks(in: tick)
            cut.parts.append(own)
        }
        if let range = generated { try cut.appendGenerated(range, unit) }
        guard cut.copiedFrames > 0 else { throw .nothingToCopy }
        return cut
    }

    private mutating func appendGenerated(_ range: TimeRange, _ unit: Rational) throws(Obstacle) {
        try append(CutScan(generated: range, every: unit, tick: tick))
        parts[parts.count - 1].position = parts[parts.count - 1].start
    }

    /// Number of encoded frames outside copied clips: transitions, gaps, and frames below layers.
    package var generatedFrames: Int { parts.reduce(0) { $0 + ($1.clip == nil ? $1.headFrames : 0) } }

    /// Whether the cut belongs to a composition.
    package var isComposed: Bool { parts.contains { $0.position != nil } }
}
