internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Decides the output's chapters: the source's, moved with the range and cut to it, or the job's own.
struct ChapterPlanner {
    let spec: Located<ChapterSpec>?
    let source: [AssetChapter]
    let ranges: [TimeRange]
    let duration: MediaTime
    let container: Located<ContainerType>
    /// Of the output's audio.
    let codec: String?
    private(set) var chapters: [AssetChapter] = []
    /// What becomes of the source's, for the ledger.
    private(set) var outcome: LedgerEntry.Outcome = .left
    private(set) var reason = ""

    init(
        spec: Located<ChapterSpec>?, source: [AssetChapter], ranges: [TimeRange], duration: MediaTime,
        container: Located<ContainerType>, codec: String?
    ) {
        self.spec = spec
        self.source = source
        self.ranges = ranges
        self.duration = duration
        self.container = container
        self.codec = codec
    }

    private var canHold: Bool { container.value.hasChapters(withSound: codec) }
    private var problem: String {
        let name = container.value.name
        return container.value.hasChapters
            ? "\(name) can hold no chapters beside \(codec ?? "")" : "\(name) can't hold chapters"
    }

    mutating func plan(into sink: inout DiagnosticSink) {
        switch spec?.value ?? .keep {
        case .drop: reason = "the job drops them"
        case .list(let list):
            reason = "the job has its own"
            guard canHold else {
                sink.error(
                    .containerSetting, problem,
                    at: spec?.range ?? container.range,
                    notes: [Diagnostic.Note("the container comes from here", at: container.range)])
                return
            }
            own(list, into: &sink)
        case .keep:
            guard canHold else {
                reason = problem
                return
            }
            keep()
        }
    }

    private mutating func keep() {
        var offset = MediaTime.zero
        var kept: Set<Int> = []
        for range in ranges.isEmpty ? [TimeRange(start: .zero, duration: duration)] : ranges {
            for (index, chapter) in source.enumerated() {
                let from = max(chapter.timeRange.start - range.start, .zero)
                let to = min(chapter.timeRange.end - range.start, min(range.duration, duration - offset))
                // Those outside the range, or of no length, are gone.
                guard to > from else { continue }
                kept.insert(index)
                chapters.append(
                    AssetChapter(
                        timeRange: TimeRange(start: offset + from, end: offset + to), title: chapter.title))
            }
            offset = offset + range.duration
        }
        outcome = chapters.isEmpty ? .left : .copied
        reason =
            chapters.isEmpty
            ? "none lies in the range"
            : kept.count < source.count
                ? "\(kept.count) of them lie in the range"
                : ranges.isEmpty ? "kept" : "moved with the range"
    }

    private mutating func own(
        _ list: [(start: Located<TimeExpression>, title: String)], into sink: inout DiagnosticSink
    ) {
        var starts: [MediaTime] = []
        for entry in list {
            guard let time = OutputTime.resolve(entry.start.value, duration: duration) else {
                sink.error(
                    .invalidValue, "a chapter's start is a time of the output: 1:30, 25% or -10s",
                    at: entry.start.range)
                return
            }
            guard time >= .zero, time < duration else {
                sink.error(
                    .invalidRange, "the chapter begins at \(time) s, but the output ends at \(duration) s",
                    at: entry.start.range)
                return
            }
            starts.append(time)
        }
        for (index, entry) in list.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : duration
            guard end > starts[index] else {
                sink.error(
                    .invalidRange, "the chapter begins no later than the next one", at: entry.start.range)
                return
            }
            chapters.append(
                AssetChapter(timeRange: TimeRange(start: starts[index], end: end), title: entry.title))
        }
    }
}
