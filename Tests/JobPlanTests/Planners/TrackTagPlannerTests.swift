import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// Tests tags, titles, languages and dispositions of output tracks.
@Suite struct TrackTagPlannerTests {
    private func decide(
        _ track: TrackDescription, keys: String = "", in container: String, keep: String = "all",
        hasSeparateAlpha: Bool = false, changesLevels: Bool = false
    ) throws -> (tags: TrackTagPlanner.Tags, reasons: Reasons, findings: [String]) {
        let type = track.mediaType.rawValue
        let snippet = try JobSnippet(
            rule: "{ \(type): first, copy: true\(keys.isEmpty ? "" : ", ")\(keys) }",
            "container: \(container)", "metadata: { keep: \(keep) }", to: "o.x")
        let decision = TrackTagPlanner(
            track: track, rule: snippet.rule, keep: try #require(snippet.output.media).metadata.keep,
            container: try snippet.container, hasSeparateAlpha: hasSeparateAlpha, changesLevels: changesLevels
        ).decide()
        return (try #require(decision.value), decision.reasons, snippet.findings(decision.reasons))
    }

    private static func tagged(_ tags: KeyValuePairs<String, String>) -> TrackDescription {
        .audio {
            $0.tags = tags.map { MetadataEntry(key: $0.key, value: $0.value) }
            $0.language = tags.first { $0.key == "language" && $0.value != "und" }?.value
            $0.title = tags.first { $0.key == "title" }?.value
        }
    }

    private func pairs(_ tags: TrackTagPlanner.Tags) -> [String] {
        tags.entries.map { "\($0.key)=\($0.value)" }
    }

    /// mp4 stores three-letter codes, QuickTime a fixed list, Matroska any text.
    @Test(arguments: [
        ("eng", "mp4", "eng", "kept"), ("de", "mp4", "deu", "as deu"), ("deu", "mov", "ger", "as ger"),
        ("de-CH", "mkv", "de-CH", "kept"), ("de-CH", "mp4", nil, "mp4 can't store it"),
        ("und", "mp4", nil, "`und`: undetermined"), ("eng", "wav", nil, "wav can't store it"),
    ])
    func languagesAreStoredInTheContainersForm(
        _ language: String, _ container: String, _ written: String?, _ reason: String
    ) throws {
        let (tags, reasons, findings) = try decide(Self.tagged(["language": language]), in: container)
        #expect(pairs(tags) == [written].compactMap { $0.map { "language=\($0)" } })
        #expect(reasons.lines == ["tag language \(written == nil ? "dropped" : "copied"): \(reason)"])
        #expect(findings == [] && reasons.notes.count == (written == nil && language != "und" ? 1 : 0))
    }

    @Test func titlesHaveTheContainersKey() throws {
        let track = Self.tagged(["title": "Main"])
        #expect(try pairs(decide(track, in: "mkv").tags) == ["title=Main"])
        #expect(try pairs(decide(track, in: "mp4").tags) == ["handler_name=Main"])
        let none = try decide(track, in: "wav")
        #expect(
            pairs(none.tags) == []
                && none.reasons.lines == ["tag title dropped: wav can't store track titles"])
        let replaced = try decide(track, keys: "title: Other", in: "mkv")
        #expect(
            pairs(replaced.tags) == ["title=Other"] && replaced.tags.requested == ["title", "handler_name"])
        #expect(replaced.reasons.lines == ["tag title dropped: set by the rule"])
    }

    @Test(
        arguments: [
            (["default", "comment"], "mkv", ["default", "comment"], []),
            (
                ["default", "comment"], "webm", ["default"],
                ["disposition comment dropped: webm can't store it"]
            ),
            // The loss of `default` isn't reported.
            (["default"], "ts", [], []), (["default"], "flac", [], []),
        ] as [([String], String, [String], [String])])
    func dispositionsAreKeptIfTheContainerSupportsThem(
        _ source: [String], _ container: String, _ kept: [String], _ lines: [String]
    ) throws {
        let (tags, reasons, findings) = try decide(.audio { $0.disposition = source }, in: container)
        #expect(tags.disposition == kept && reasons.lines == lines && findings == [])
    }

    @Test func dispositionsOfTheRuleReplaceTheSources() throws {
        let track = TrackDescription.audio { $0.disposition = ["default", "comment"] }
        #expect(try decide(track, keys: "disposition: none", in: "mkv").tags.disposition == [])
        #expect(try decide(track, keys: "disposition: [forced]", in: "mkv").tags.disposition == ["forced"])
    }

    /// Each tag of the source is kept, or dropped with a reason.
    @Test(arguments: [
        ("mkv", "all", false, "mood", "x", "copied: kept"),
        ("mkv", "none", false, "mood", "x", "dropped: the job doesn't keep it"),
        ("mkv", "[mood]", false, "mood", "x", "copied: kept"),
        ("mp4", "all", false, "mood", "x", "dropped: mp4 can't store tags of tracks"),
        ("mkv", "all", false, "BPS-eng", "1", "dropped: describes the source's container"),
        ("mkv", "all", false, "encoder", "x", "dropped: describes the source's container"),
        ("mkv", "all", false, "REPLAYGAIN_TRACK_GAIN", "1 dB", "copied: kept"),
        (
            "mkv", "all", true, "REPLAYGAIN_TRACK_GAIN", "1 dB",
            "dropped: describes the source's levels, which the output doesn't have"
        ),
        ("mkv", "all", false, "handler_name", "SoundHandler", "dropped: a default name that programs write"),
        ("mkv", "all", false, "alpha_mode", "1", "dropped: the output has no separate alpha plane"),
    ])
    func tagsAreAccountedFor(
        _ container: String, _ keep: String, _ changesLevels: Bool, _ key: String, _ value: String,
        _ outcome: String
    ) throws {
        let track = TrackDescription.audio { $0.tags = [MetadataEntry(key: key, value: value)] }
        let (tags, reasons, findings) = try decide(
            track, in: container, keep: keep, changesLevels: changesLevels)
        #expect(reasons.lines == ["tag \(key) \(outcome)"] && findings == [])
        #expect(pairs(tags) == (outcome.hasPrefix("copied") ? ["\(key)=\(value)"] : []))
    }

    @Test func tagsOfTheRuleReplaceTheSources() throws {
        let track = TrackDescription.audio { $0.tags = [MetadataEntry(key: "Mood", value: "calm")] }
        let (tags, reasons, _) = try decide(track, keys: "metadata: { mood: wild }", in: "mkv")
        #expect(pairs(tags) == ["mood=wild"] && tags.requested == ["mood"])
        #expect(reasons.lines == ["tag Mood dropped: set by the rule"])
    }

    @Test func separateAlphaPlanesAreDeclared() throws {
        let track = TrackDescription.video(codec: "vp9") { $0.tags = [.separateAlphaTag] }
        let (tags, reasons, _) = try decide(track, in: "mkv", hasSeparateAlpha: true)
        #expect(pairs(tags) == ["alpha_mode=1"] && reasons.lines == ["tag alpha_mode copied: kept"])
    }
}
