import LibAV
import Media
import Testing

@testable import JobPlan

/// The ledger contains an entry for everything in the source, in the source's order.
@Suite struct LedgerCollectorTests {
    private let source = SourceDescription.file(
        .video(codec: "mpeg4"),
        .audio { $0.tags = [MetadataEntry(key: "language", value: "eng")] }
    ) { $0.metadata = [MetadataEntry(key: "title", value: "T")] }

    @Test func itemsWithoutADecisionAreListed() {
        let unnamed = LedgerCollector.ledger([], of: source)
        #expect(unnamed.allSatisfy { $0.outcome == .dropped && $0.reason == LedgerCollector.unnamed })
        #expect(unnamed.contains { $0.track == nil && $0.item == .tag("title") })
        #expect(Set(unnamed.compactMap(\.track)) == [0, 1])
        // Items of a track are listed only if the track is used.
        let audio = LedgerItem.track(source.tracks[1])
        let taken = LedgerCollector.ledger(
            [LedgerEntry(track: 1, item: audio, outcome: .copied, reason: "as track 0")], of: source)
        #expect(taken.contains { $0.track == 1 && $0.item == .tag("language") && $0.outcome == .dropped })
    }

    @Test func entriesAreInSourceOrderAndDuplicatesAreMerged() {
        let video = LedgerItem.track(source.tracks[0])
        func entry(_ item: LedgerItem, _ outcome: LedgerEntry.Outcome, _ reason: String) -> LedgerEntry {
            LedgerEntry(track: 0, item: item, outcome: outcome, reason: reason)
        }
        let copied = entry(.tag("title"), .copied, "kept")
        let ledger = LedgerCollector.ledger(
            [
                LedgerEntry(track: nil, item: .tag("title"), outcome: .copied, reason: "kept"),
                copied, entry(video, .copied, "as track 0"),
                entry(.tag("title"), .dropped, "set by the rule"),
                copied, entry(video, .encoded, "as track 1"), entry(.tag("x"), .dropped, "one"),
                entry(.tag("x"), .dropped, "two"),
            ], of: source)
        let own = ledger.filter { $0.track == 0 && $0.reason != LedgerCollector.unnamed }
        #expect(own.map(\.reason) == ["as track 0", "as track 1", "kept", "one"])
        #expect(ledger.last?.track == nil)
    }
}
