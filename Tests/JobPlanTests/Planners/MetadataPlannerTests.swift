import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// An output has the source tags that are kept, followed by the tags that the job sets.
@Suite struct MetadataPlannerTests {
    private func decide(
        _ source: KeyValuePairs<String, String>, _ metadata: String = "{}", in container: String = "mkv",
        changesLevels: Bool = false
    ) throws -> (decision: Decision<[MetadataEntry]>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ audio: first, copy: true }", "metadata: \(metadata)", "container: \(container)",
            to: "o.x")
        let decision = MetadataPlanner(
            spec: try #require(snippet.output.media).metadata, container: try .required(container),
            source: source.map { MetadataEntry(key: $0.key, value: $0.value) }, changesLevels: changesLevels
        ).decide()
        return (decision, snippet.findings(decision.reasons))
    }

    private func pairs(_ decision: Decision<[MetadataEntry]>) -> [String]? {
        decision.value?.map { "\($0.key)=\($0.value)" }
    }

    @Test func tagsOfTheSourceAreKeptAndThoseOfTheJobAdded() throws {
        let (decision, findings) = try decide(
            ["title": "Old", "artist": "A", "mood": "x"],
            "{ keep: [title, artist], set: { title: New, comment: c } }")
        #expect(pairs(decision) == ["artist=A", "title=New", "comment=c"] && findings == [])
        #expect(
            decision.reasons.lines == [
                "tag artist copied: kept", "tag title dropped: the job sets it",
                "tag mood dropped: the job doesn't keep it",
            ])
    }

    /// Each dropped tag has a reason.
    @Test(arguments: [
        ("title", "T", "{ keep: none }", "mkv", false, "the job doesn't keep it"),
        ("encoder", "Lavf", "{}", "mkv", false, "describes the source's container"),
        ("major_brand", "isom", "{}", "mkv", false, "describes the source's container"),
        ("iTunSMPB", "00", "{}", "mkv", false, "describes the source's encoder delay and padding"),
        ("mood", "x", "{}", "mp4", false, "mp4 can't store it"),
        ("title", "T", "{}", "adts", false, "adts can't store it"),
        (
            "REPLAYGAIN_TRACK_GAIN", "1 dB", "{}", "mkv", true,
            "describes the source's levels, which the output doesn't have"
        ),
        (
            "creation_time", "1970-01-01T00:00:00.000000Z", "{}", "mp4", false,
            "mp4 uses 1970-01-01T00:00:00.000000Z for an unknown time"
        ),
        ("creation_time", "12:30", "{}", "mkv", false, "mkv requires a date and time, not `12:30`"),
    ])
    func tagsAreDroppedWithAReason(
        _ key: String, _ value: String, _ metadata: String, _ container: String, _ changesLevels: Bool,
        _ reason: String
    ) throws {
        let source: KeyValuePairs = [key: value]
        let (decision, findings) = try decide(source, metadata, in: container, changesLevels: changesLevels)
        #expect(pairs(decision) == [] && findings == [])
        #expect(decision.reasons.lines == ["tag \(key) dropped: \(reason)"])
    }

    /// Recording time and location are kept.
    @Test(arguments: ["mp4", "mov", "mkv"])
    func recordingTimeAndPlaceAreKept(_ container: String) throws {
        let (decision, _) = try decide(
            ["creation_time": "2024-05-06T07:08:09.000000Z", "location": "+48.4/"], in: container)
        #expect(pairs(decision) == ["creation_time=2024-05-06T07:08:09.000000Z", "location=+48.4/"])
        // QuickTime's key is written as `location`; its translation by libavformat duplicates it.
        let (apple, _) = try decide(["com.apple.quicktime.location.ISO6709": "+48.4/"], in: container)
        #expect(pairs(apple) == ["location=+48.4/"])
        let (twice, _) = try decide(["location": "+48.4/", "location-eng": "+48.4/"], in: container)
        #expect(pairs(twice) == ["location=+48.4/"])
        #expect(twice.reasons.lines.last == "tag location-eng dropped: duplicates `location`")
    }

    /// Ogg and FLAC store `comment` and `description` in one field.
    @Test func sharedFieldsStoreOneTag() throws {
        let (decision, _) = try decide(["comment": "c", "description": "d"], in: "flac")
        #expect(pairs(decision) == ["comment=c"])
        #expect(
            decision.reasons.lines.last
                == "tag description dropped: flac stores it in the same field as `comment`")
        #expect(try pairs(decide(["description": "d"], in: "flac").decision) == ["description=d"])
    }

    /// The timecode isn't listed as a tag.
    @Test func timecodeIsNotListedAsATag() throws {
        let (decision, _) = try decide(
            ["timecode": "01:00:00:00"], "{ set: { timecode: '02:00:00:00' } }", in: "mov")
        #expect(pairs(decision) == [] && decision.reasons.ledger.isEmpty)
    }
}

/// Tests the covers that are kept from the source.
@Suite struct CoverPlannerTests {
    private func decide(
        _ cover: TrackDescription = .cover(3), keep: String = "all", in container: String = "mp4",
        isFile: Bool = true, isFragmented: Bool = false, isReplaced: Bool = false
    ) throws -> (kept: [Int]?, lines: [String]) {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", "metadata: { keep: \(keep) }")
        let decision = CoverPlanner(
            spec: try #require(snippet.output.media).metadata, container: try .required(container),
            source: .file(.video(), .audio(), cover), isFile: isFile, isFragmented: isFragmented,
            isReplaced: isReplaced
        ).decide()
        return (decision.value, decision.reasons.lines)
    }

    @Test func coversAreKeptUnchanged() throws {
        #expect(try decide().kept == [3] && decide().lines == ["cover mjpeg copied: kept"])
        #expect(try decide(in: "mkv").kept == [3])
        #expect(try decide(keep: "[cover]").kept == [3])
    }

    @Test func coversAreDroppedWithAReason() throws {
        #expect(try decide(keep: "none").lines == ["cover mjpeg dropped: the job doesn't keep it"])
        #expect(try decide(keep: "[title]").kept == [])
        #expect(try decide(isFile: false).lines == ["cover mjpeg dropped: the job doesn't keep it"])
        #expect(try decide(in: "mov").lines == ["cover mjpeg dropped: mov can't store it"])
        #expect(
            try decide(isFragmented: true).lines == ["cover mjpeg dropped: mp4 can't store it in fragments"])
        #expect(
            try decide(isReplaced: true).lines == [
                "cover mjpeg dropped: replaced by the cover that the job sets"
            ])
        #expect(try decide(.cover(3, codec: "gif")).lines == ["cover gif dropped: mp4 can't store it"])
    }

    /// mp4 stores covers without tags; Matroska stores them as attachments with tags.
    @Test func tagsOfCoversAreKeptInStreams() throws {
        var cover = TrackDescription.cover(3)
        cover.tags = ["title", "comment", "encoder", "mood"].map { MetadataEntry(key: $0, value: "x") }
        #expect(
            try decide(cover, in: "mp3").lines == [
                "cover mjpeg copied: kept", "tag title copied: kept", "tag comment copied: kept",
                "tag encoder dropped: describes the source's container",
                "tag mood dropped: mp3 can't store it for a cover",
            ])
        #expect(
            try decide(cover, in: "mkv").lines.contains("tag title dropped: mkv can't store it for a cover"))
        #expect(try decide(cover, keep: "none").lines == ["cover mjpeg dropped: the job doesn't keep it"])
    }
}
