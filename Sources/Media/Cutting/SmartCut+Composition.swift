package import LibAV

/// Cuts of several sources: the clips of a composition one after the other, with what is made anew between them.
extension SmartCut {
    /// The unit of a composition's cut: of the times of all clips whose packets are taken, of where they are cut and stand, and of frames
    /// that are made. Where all of that has none, what only rounds where something stands is left out first; nil where the clips'
    /// own times have none.
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

    /// The cut of a composition. `part` is the part of the clip of each stretch that is one's; what is made has frames of `unit`.
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

    /// Frames of clips that are made anew, or of what is between and above them.
    package var madePictures: Int { parts.reduce(0) { $0 + ($1.clip == nil ? $1.headPictures : 0) } }

    /// It is one of a composition.
    package var isComposed: Bool { parts.contains { $0.place != nil } }
}
