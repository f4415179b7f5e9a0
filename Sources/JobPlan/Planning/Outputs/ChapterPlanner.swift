internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of an output's chapters. They are the source's chapters, moved and clipped to the range; one chapter for
/// each clip of a composition; or the job's list.
struct ChapterPlanner {
    let spec: Located<ChapterSpec>?
    let source: [AssetChapter]
    /// Chapters of a composition, one for each clip; nil for other sources.
    let clips: [AssetChapter]?
    let ranges: [TimeRange]
    /// Locator of frame numbers, which count frames of the first selected video track in the range that is
    /// read.
    let frames: FrameLocator
    let duration: MediaTime
    let container: Located<ContainerType>
    /// Codec of the output's audio.
    let codec: String?

    private var canHold: Bool { container.value.hasChapters(withAudio: codec) }
    private var problem: String {
        let name = container.value.name
        return container.value.hasChapters
            ? "\(name) can't store chapters together with \(codec ?? "")" : "\(name) can't store chapters"
    }

    /// Returns the output's chapters; nil after an error.
    func decide() -> Decision<[AssetChapter]> {
        var reasons = Reasons()
        var chapters: [AssetChapter]
        var outcome = LedgerEntry.Outcome.dropped
        let reason: String
        var requested = spec?.value ?? .keep
        if case .clips = requested, clips == nil { requested = .keep }
        switch requested {
        case .drop: (chapters, reason) = ([], "the job drops them")
        case .list(let list):
            reason = "replaced by the job's list"
            if canHold {
                chapters = own(list, &reasons) ?? []
            } else {
                chapters = []
                refuse(&reasons)
            }
        case .clips:
            reason = "replaced by a chapter for each clip"
            chapters = canHold ? storable(kept(clips ?? []).chapters, &reasons) : []
            if !canHold { refuse(&reasons) }
        case .keep where canHold:
            let kept = kept(source)
            chapters = storable(kept.chapters, &reasons)
            if !chapters.isEmpty { outcome = .copied }
            reason =
                kept.count == 0
                ? "none is in the range"
                : kept.count < source.count
                    ? "\(kept.count) of them are in the range"
                    : ranges.isEmpty ? "kept" : "moved with the range"
        case .keep: (chapters, reason) = ([], problem)
        }
        if !source.isEmpty {
            reasons.account(for: .named(Self.number(source.count)), of: nil, outcome, reason)
        }
        return Decision(reasons.hasErrors ? nil : chapters, reasons)
    }

    private static func number(_ count: Int) -> String { "\(count) chapter\(count == 1 ? "" : "s")" }

    /// Returns the chapters that the container can represent: no more than its maximum, none shorter than its
    /// minimum duration. The ledger lists the others.
    private func storable(_ chapters: [AssetChapter], _ reasons: inout Reasons) -> [AssetChapter] {
        let (name, limit) = (container.value.name, container.value.model.maxChapters)
        let long = chapters.filter { $0.timeRange.duration >= container.value.model.shortestChapter }
        if long.count < chapters.count {
            reasons.account(
                for: .named("\(Self.number(chapters.count - long.count)) too short"), of: nil, .dropped,
                "\(name) can't store chapters shorter than \(container.value.model.shortestChapter) s")
        }
        if long.count > limit {
            reasons.account(
                for: .named("\(Self.number(long.count - limit)) too many"), of: nil, .dropped,
                "\(name) stores at most \(limit); `chapters` can list others")
        }
        return Array(long.prefix(limit))
    }

    private func refuse(_ reasons: inout Reasons) {
        reasons.error(
            .containerSetting, problem, at: spec?.range ?? container.range,
            notes: [Diagnostic.Note("the container is determined here", at: container.range)])
    }

    /// Returns the source's chapters, moved and clipped to the ranges, and the number of source chapters that
    /// remain.
    private func kept(_ source: [AssetChapter]) -> (chapters: [AssetChapter], count: Int) {
        var chapters: [AssetChapter] = []
        var offset = MediaTime.zero
        var kept: Set<Int> = []
        for range in ranges.isEmpty ? [TimeRange(start: .zero, duration: duration)] : ranges {
            for (index, chapter) in source.enumerated() {
                let from = max(chapter.timeRange.start - range.start, .zero)
                let to = min(chapter.timeRange.end - range.start, min(range.duration, duration - offset))
                // Chapters outside the range, and chapters of zero duration, are dropped.
                guard to > from else { continue }
                kept.insert(index)
                chapters.append(
                    AssetChapter(
                        timeRange: TimeRange(start: offset + from, end: offset + to), title: chapter.title))
            }
            offset = offset + range.duration
        }
        return (chapters, kept.count)
    }

    /// Returns the start of a chapter; nil after an error.
    private func time(
        of start: Located<TimeExpression>, _ frames: FrameLocator, _ reasons: inout Reasons
    ) -> MediaTime? {
        if case .frames(let number) = start.value {
            let number = Located(number, at: start.range)
            guard let found = frames.position(of: number, in: ranges, into: &reasons.diagnostics)
            else { return nil }
            if let frame = found.position { return frame.start }
            FrameLocator.reportMissing(number, of: found.count, in: ranges, into: &reasons.diagnostics)
            return nil
        }
        if let time = OutputTime.resolve(start.value, duration: duration) { return time }
        reasons.error(
            .invalidValue,
            "a chapter can't start at a chapter of the source; expected a time in the output, such as 1:30, 25%, 250f or -10s",
            at: start.range)
        return nil
    }

    /// Returns the chapters that the job lists; nil after an error.
    private func own(
        _ list: [(start: Located<TimeExpression>, title: String)], _ reasons: inout Reasons
    ) -> [AssetChapter]? {
        var starts: [MediaTime] = []
        var frames = frames
        let (name, limit) = (container.value.name, container.value.model.maxChapters)
        if list.count > limit {
            reasons.error(
                .containerSetting, "\(name) stores at most \(limit) chapters; the list has \(list.count)",
                at: list[limit].start.range,
                notes: [Diagnostic.Note("the container is determined here", at: container.range)])
            return nil
        }
        guard frames.locate(list.map(\.start), in: ranges, into: &reasons.diagnostics) else { return nil }
        for entry in list {
            guard let time = time(of: entry.start, frames, &reasons) else { return nil }
            guard time >= .zero, time < duration else {
                reasons.error(
                    .invalidRange, "the chapter begins at \(time) s, but the output ends at \(duration) s",
                    at: entry.start.range)
                return nil
            }
            starts.append(time)
        }
        var chapters: [AssetChapter] = []
        for (index, entry) in list.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : duration
            guard end > starts[index] else {
                reasons.error(
                    .invalidRange, "the chapter begins at or after the start of the next one",
                    at: entry.start.range)
                return nil
            }
            guard end - starts[index] >= container.value.model.shortestChapter else {
                reasons.error(
                    .containerSetting,
                    "the chapter lasts \(end - starts[index]) s; \(name) can't store chapters shorter than \(container.value.model.shortestChapter) s",
                    at: entry.start.range)
                return nil
            }
            chapters.append(
                AssetChapter(timeRange: TimeRange(start: starts[index], end: end), title: entry.title))
        }
        return chapters
    }
}
