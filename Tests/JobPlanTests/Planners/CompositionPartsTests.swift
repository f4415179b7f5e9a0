import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The planners of a composition's parts, each with a draft that contains only what it needs.
@Suite struct CompositionPartsTests {
    private static let source = SourceDescription.file(.video(), .audio())

    private func draft(
        _ composition: String, _ descriptions: [String: SourceDescription] = ["a.mp4": source],
        _ prober: FakeProber = FakeProber(), change: (inout CompositionDraft) -> Void = { _ in }
    ) throws -> (draft: CompositionDraft, snippet: JobSnippet) {
        let snippet = try JobSnippet(
            rule: "{ video: first, encode: { codec: h264 } }", "composition: \(composition)", asset: "",
            to: "o.mkv")
        guard case .composition(let spec) = snippet.job.asset.source else {
            throw ProgramError(message: "no composition")
        }
        var draft = CompositionDraft(spec, prober: prober) { asset, _, _ in
            var reasons = Reasons()
            guard case .file(let name) = asset.source, let description = descriptions[name.value] else {
                reasons.error(.sourceUnreadable, "no such source", at: asset.range)
                return Decision(nil, reasons)
            }
            return Decision(
                ResolvedSource(source: .file("/" + name.value), description: description, isStill: false))
        }
        change(&draft)
        return (draft, snippet)
    }

    /// The errors of sources are among those of the composition, in the order of the items.
    @Test func errorsOfSourcesAndItemsAreInOrder() throws {
        let (draft, snippet) = try draft(
            "[ { asset: a.mp4, audio: 7 }, missing.mp4, { asset: a.mp4, range: { start: 5s, end: 99s } } ]")
        var planner = SequencePlanner(draft: draft)
        #expect(planner.place() == nil)
        #expect(
            snippet.findings(planner.draft.reasons) == [
                "no-such-track at 7", "source-unreadable at missing.mp4", "invalid-range at 99s",
            ])
    }

    @Test func clipsArePlacedBehindEachOther() throws {
        let (draft, _) = try draft("[ { id: x, asset: a.mp4 }, { gap: 1s }, { asset: a.mp4, speed: 2 } ]")
        var planner = SequencePlanner(draft: draft)
        let found = planner.place()
        let placed = try #require(found)
        #expect(placed.map(\.timeRange) == [span(0, 10), span(11, 16)])
        #expect(planner.draft.ids == ["x": span(0, 10)] && planner.draft.composition.duration == s(16))
    }

    /// Without clips with video, only `size` creates a canvas.
    @Test(arguments: [("", false), ("size: 64x48, ", true)]) func canvasOfSoundRequiresASize(
        _ keys: String, _ hasCanvas: Bool
    ) throws {
        let (draft, _) = try draft("{ \(keys)sequence: [ a.wav ] }", ["a.wav": .file(.audio(0))])
        var sequence = SequencePlanner(draft: draft)
        let found = sequence.place()
        let placed = try #require(found)
        var planner = CanvasPlanner(draft: sequence.draft, keepsFullChroma: false)
        planner.setFormat(from: placed)
        #expect((planner.draft.composition.canvas != nil) == hasCanvas)
        #expect(planner.draft.composition.audioFormat?.sampleRate == 48_000)
    }

    /// Each clip is located, and its unused tracks are recorded.
    @Test func clipsAreAddedWithTheirLocations() throws {
        let (draft, snippet) = try draft("[ { asset: a.mp4, audio: none } ]")
        var sequence = SequencePlanner(draft: draft)
        let found = sequence.place()
        let placed = try #require(found)
        sequence.draft.composition.canvas = Canvas(like: .video())
        var planner = ClipPlanner(draft: sequence.draft, stretchesPrecisely: true)
        planner.add(placed)
        let known = planner.draft.known
        #expect(known.clipLocations.map { snippet.text(at: $0) } == ["{ asset: a.mp4, audio: none }"])
        #expect(known.unused.map(\.reason) == ["`audio: none`"] && known.audioLocations.isEmpty)
        #expect(planner.draft.composition.clips.count == 1 && planner.draft.composition.audio.isEmpty)
    }

    /// An item may be anchored to one that follows it in the list.
    @Test func audioItemsMayBeAnchoredToLaterOnes() throws {
        let items = "[ { asset: a.mp4, at: y.start+1s }, { id: y, asset: a.mp4, at: 2s, until: 6s } ]"
        let (draft, _) = try draft("{ sequence: [ a.mp4 ], audio: \(items) }") {
            $0.composition.duration = s(10)
        }
        var planner = AudioItemPlanner(draft)
        planner.position()
        planner.add()
        #expect(planner.draft.composition.audio.map(\.placement.timeRange) == [span(3, 10), span(2, 6)])
        #expect(planner.draft.ids == ["y": span(2, 6)] && !planner.draft.reasons.hasErrors)
    }

    /// Layers are placed on the canvas in even pixels, and end with their source.
    @Test func layersArePlacedOnTheCanvas() throws {
        let layer = "{ asset: a.mp4, at: 8s, place: { right: 10, top: 20, width: 25% } }"
        let (draft, _) = try draft("{ sequence: [ a.mp4 ], layers: [ \(layer) ] }") {
            $0.composition.duration = s(20)
            $0.composition.canvas = Canvas(like: .video())
        }
        var planner = LayerPlanner(draft: draft, fonts: FontFinder(paths: []))
        planner.add()
        let added = try #require(planner.draft.composition.layers.first)
        guard case .frames(let placement, let rectangle, _) = added.content else {
            throw ProgramError(message: "no frames")
        }
        #expect(rectangle == PixelRectangle(x: 950, y: 20, width: 320, height: 180))
        #expect(added.timeRange == span(8, 18) && placement.sourceRange == span(0, 10))
    }
}
