internal import Diagnostics
internal import LibAV
internal import Media

/// Brings what decisions say of a source into its order, and sees to it that they say something of everything.
enum LedgerCollector {
    /// What stands in for the reason of what no decision names: a fault of ours, which tests look for.
    static let unnamed = "no decision names it"

    /// The entries by track in the source's order, the file's own last. A track that is taken twice has entries of both;
    /// what is left there is told where neither takes it.
    static func ledger(_ entries: [LedgerEntry], of source: SourceDescription) -> [LedgerEntry] {
        let byTrack = Dictionary(grouping: entries, by: \.track)
        var result: [LedgerEntry] = []
        for track in source.tracks {
            let name = LedgerText.plainName(track)
            let own = merged(byTrack[track.index] ?? [])
            result += own.filter { $0.item == name } + own.filter { $0.item != name }
            result += missing(of: track, in: own)
        }
        let own = merged(byTrack[nil] ?? [])
        result += own
        let items = Set(own.map(\.item))
        for tag in source.metadata where !isTimecode(tag.key) && !items.contains("tag \(tag.key)") {
            result.append(LedgerEntry(track: nil, item: "tag \(tag.key)", outcome: .left, reason: unnamed))
        }
        return result
    }

    private static func isTimecode(_ key: String) -> Bool { key.lowercased() == "timecode" }

    private static func merged(_ entries: [LedgerEntry]) -> [LedgerEntry] {
        let taken = Set(entries.filter { $0.outcome != .left }.map(\.item))
        var seen: Set<LedgerEntry> = []
        var left: Set<String> = []
        return entries.filter { entry in
            guard seen.insert(entry).inserted else { return false }
            guard entry.outcome == .left else { return true }
            return !taken.contains(entry.item) && left.insert(entry.item).inserted
        }
    }

    /// What is known of a track and has no entry. What belongs to a track that is left as a whole needs none.
    private static func missing(of track: TrackDescription, in entries: [LedgerEntry]) -> [LedgerEntry] {
        let name = LedgerText.plainName(track)
        let items = Set(entries.map(\.item))
        var expected: [String] = []
        if !items.contains(name) && !items.contains("timecode track") { expected.append(name) }
        let isTaken = entries.contains { $0.item == name && $0.outcome != .left }
        if isTaken, track.mediaType != .attachment {
            expected += track.tags.filter { !isTimecode($0.key) }.map { "tag \($0.key)" }
            if !track.isAttachedPicture {
                expected += track.carriedKinds.map { "side data \($0)" }
                if track.transform?.isIdentity == false { expected.append("display matrix") }
                if track.cleanAperture != nil { expected.append("clean aperture") }
            }
        }
        return expected.filter { !items.contains($0) }.map {
            LedgerEntry(track: track.index, item: $0, outcome: .left, reason: unnamed)
        }
    }
}
