package import LibAV

/// Smart cuts of several sources: the clips of a composition in order, with encoded frames between them.
extension SmartCut {
    /// Returns the time base of a composition's cut, which represents exactly the times of all copied clips, of cuts,
    /// of positions, and of encoded frames. If none does, positions are rounded, then cuts as well; nil if the clips'
    /// own times and the encoded frames have no common time base.
    package static func tick(
        clock: [(timeBase: Rational, timeZero: MediaTime)], cuts: [MediaTime], places: [MediaTime],
        frames: Rational?
    ) -> Rational? {
        let limit: Int32 = 3_000_000
        let own = clock.map(\.timeBase) + clock.compactMap(\.timeZero.asTick)
        let made = frames.map { [$0] } ?? []
        return commonTick(own + made + (cuts + places).compactMap(\.asTick), limit: limit)
            ?? commonTick(own + made + cuts.compactMap(\.asTick), limit: limit)
            ?? commonTick(own + made, limit: limit)
    }

    /// Creates the cut of a composition. `part` returns the part for a section that is a clip's; encoded frames have
    /// the duration `unit`.
    package static func composed(
        _ stretches: [CompositionStretch], tick: Rational, unit: Rational, delay: Int,
        encoder: EncoderConfiguration, part: (Int) -> Part?
    ) throws(Obstacle) -> SmartCut {
        var cut = SmartCut(tick: tick, parts: [], reorderDelay: delay, encoder: encoder)
        cut.encoder.timeBase = tick
        var made: TimeRange?
        for (index, stretch) in stretches.enumerated() {
            guard case .clip(let clip) = stretch.content else {
                made = TimeRange(start: made?.start ?? stretch.timeRange.start, end: stretch.timeRange.end)
                continue
            }
            if let range = made.take() { try cut.appendMade(range, unit) }
            guard var own = part(index) else { throw .nothingToCopy }
            own.clip = clip
            own.place = stretch.timeRange.start.ticks(in: tick)
            cut.parts.append(own)
        }
        if let range = made { try cut.appendMade(range, unit) }
        guard cut.copiedPictures > 0 else { throw .nothingToCopy }
        return cut
    }

    private mutating func appendMade(_ range: TimeRange, _ unit: Rational) throws(Obstacle) {
        try append(CutScan(made: range, every: unit, tick: tick))
        parts[parts.count - 1].place = parts[parts.count - 1].start
    }

    /// Number of encoded frames outside copied clips: joins, gaps, and frames below layers.
    package var madePictures: Int { parts.reduce(0) { $0 + ($1.clip == nil ? $1.headPictures : 0) } }

    /// Whether the cut belongs to a composition.
    package var isComposed: Bool { parts.contains { $0.place != nil } }
}
