internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media

/// Sorting of ledger entries in the order of the source, with an entry added for each item that no decision covers.
enum LedgerCollector {
    /// The reason for an item that no decision covers. It indicates a bug; tests search for it.
    static let unnamed = "no stage of the plan accounts for it"

    /// Returns the entries by track in the source's order, followed by the entries of the file. A track that is
    /// selected twice has the entries of both selections; an item is listed as dropped only if neither selection keeps
    /// it.
    static func ledger(_ entries: [LedgerEntry], of source: SourceDescription) -> [LedgerEntry] {
        let ofFiles = Dictionary(grouping: entries.filter { $0.file != nil }) {
            FileTrack(file: ($0.file ?? "").exact, track: $0.track)
        }
        let byTrack = Dictionary(grouping: entries.filter { $0.file == nil }, by: \.track)
        var result: [LedgerEntry] = []
        for track in source.tracks {
            let name = LedgerItem.track(track)
            let own = merged(byTrack[track.index] ?? [])
            result += own.filter { $0.item == name } + own.filter { $0.item != name }
            result += missing(of: track, in: own)
        }
        let own = merged(byTrack[nil] ?? [])
        result += own
        let items = Set(own.map(\.item))
        for tag in source.metadata where !tag.isTimecode && !items.contains(.tag(tag.key)) {
            result.append(LedgerEntry(track: nil, item: .tag(tag.key), outcome: .dropped, reason: unnamed))
        }
        var seen: Set<FileTrack> = []
        for entry in entries {
            let key = FileTrack(file: (entry.file ?? "").exact, track: entry.track)
            guard entry.file != nil, seen.insert(key).inserted else { continue }
            result += merged(ofFiles[key] ?? [])
        }
        return result
    }

    /// A track of a subtitle file.
    private struct FileTrack: Hashable {
        let file: ExactString
        let track: Int?
    }

    private static func merged(_ entries: [LedgerEntry]) -> [LedgerEntry] {
        let taken = Set(entries.filter { $0.outcome != .dropped }.map(\.item))
        var seen: Set<LedgerEntry> = []
        var dropped: Set<LedgerItem> = []
        return entries.filter { entry in
            guard seen.insert(entry).inserted else { return false }
            guard entry.outcome == .dropped else { return true }
            return !taken.contains(entry.item) && dropped.insert(entry.item).inserted
        }
    }

    /// Returns entries for known items of a track that have none. Items of a dropped track need none.
    private static func missing(of track: TrackDescription, in entries: [LedgerEntry]) -> [LedgerEntry] {
        let name = LedgerItem.track(track)
        let items = Set(entries.map(\.item))
        var expected: [LedgerItem] = []
        if !items.contains(name) && !items.contains(.timecodeTrack) { expected.append(name) }
        let isTaken = entries.contains { $0.item == name && $0.outcome != .dropped }
        if isTaken, track.mediaType != .attachment {
            expected += track.tags.filter { !$0.isTimecode }.map { .tag($0.key) }
            if !track.isAttachedPicture {
                expected += track.sideDataKinds.map { .sideData($0) }
                if track.transform?.isIdentity == false { expected.append(.displayMatrix) }
                if track.cleanAperture != nil { expected.append(.cleanAperture) }
            }
        }
        return expected.filter { !items.contains($0) }.map {
            LedgerEntry(track: track.index, item: $0, outcome: .dropped, reason: unnamed)
        }
    }
}
