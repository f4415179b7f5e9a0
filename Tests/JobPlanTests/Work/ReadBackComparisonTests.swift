import JobSpec
import LibAV
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// The comparison of requested properties with those of the finished file, on values.
@Suite struct ReadBackComparisonTests {
    private static func tag(_ key: String, _ value: String) -> MetadataEntry {
        MetadataEntry(key: key, value: value)
    }

    private func comparison(
        _ planned: [TrackPlan] = [], _ found: [AssetTrack] = [], media: MediaPlan = MediaPlan(),
        metadata: [MetadataEntry] = [], chapters: [AssetChapter] = []
    ) throws -> ReadBackComparison {
        var output = OutputPlan.media(planned, of: try JobSnippet(rule: "{ video: first, copy: true }"))
        output.kind = .media(media)
        return ReadBackComparison(
            plan: output, media: media,
            contents: .read(found, metadata: metadata, chapters: chapters), tracks: found)
    }

    /// Compares a tag of the file. Returns the problem if the job sets it, and the loss if the source has it.
    private func fileTag(_ key: String, _ planned: String, found: [MetadataEntry]) throws -> String? {
        let tags = [Self.tag(key, planned)]
        let asked = try comparison(
            media: MediaPlan(metadata: tags, requestedTags: [key.lowercased()]), metadata: found)
        let kept = try comparison(media: MediaPlan(metadata: tags), metadata: found)
        #expect(asked.losses == [] && kept.problem == nil)
        #expect(asked.problem == kept.losses.first)
        return asked.problem
    }

    // MARK: Tags

    /// Containers trim text and normalize numbers, dates and locations.
    @Test(arguments: [
        ("title", "A", "A", true), ("title", "A ", " A\0", true), ("title", "A", "a", false),
        ("title", "A B", "AB", false), ("Title", "A", "A", true), ("track", "03", "3", true),
        ("track", "3/12", "3/12", true), ("track", "3", "3/12", false), ("disc", "1", "2", false),
        ("location", "+48.0001+011.0002/", "+48.0003+011.0001/", true),
        ("location", "+48.000+011.000/", "+48.002+011.000/", false), ("location", "here", "there", false),
        ("location", "+48.0-011.0/", "+48.0+011.0/", false),
        ("creation_time", "2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.000000Z", true),
        ("creation_time", "2024-01-02T03:04:05Z", "2024-01-02T03:04:06Z", false),
        ("timecode", "01:00:00:00", "02:00:00:00", true),
    ])
    func tag_isComparedByItsMeaning(
        _ key: String, _ planned: String, _ found: String, _ isSame: Bool
    ) throws {
        let problem = try fileTag(key, planned, found: [Self.tag(key.lowercased(), found)])
        #expect(problem == (isSame ? nil : "the output doesn't contain the \(key) `\(planned)`"))
    }

    @Test func tag_thatIsMissing_isReported() throws {
        #expect(
            try fileTag("artist", "A", found: [Self.tag("title", "A")])
                == "the output doesn't contain the artist `A`")
        // One of several values suffices.
        #expect(try fileTag("artist", "A", found: [Self.tag("artist", "B"), Self.tag("ARTIST", "A")]) == nil)
    }

    @Test func trackTags_areComparedWithTheTrack() throws {
        var planned = TrackPlan.planned(.audio())
        planned.metadata = [
            Self.tag("language", "deu"), Self.tag("title", "T"), Self.tag("handler_name", "H"),
        ]
        let tagged = try AssetTrack.read(
            .audio {
                $0.language = "deu"
                $0.title = "T"
            }, tags: [Self.tag("TITLE", "H")])
        #expect(try comparison([planned], [tagged]).losses == [])
        // An unknown language is read as none.
        planned.metadata[0].value = "und"
        let unknown = try AssetTrack.read(.audio { $0.title = "T" }, tags: [Self.tag("TITLE", "H")])
        #expect(try comparison([planned], [unknown]).losses == [])
        planned.metadata[0].value = "deu"
        let plain = try AssetTrack.read(.audio { $0.language = "eng" })
        let losses = try comparison([planned], [plain]).losses
        #expect(
            losses == [
                "output track 0 doesn't contain the language `deu`",
                "output track 0 doesn't contain the title `T`",
                "output track 0 doesn't contain the handler_name `H`",
            ])
        planned.requestedTags = ["title"]
        let asked = try comparison([planned], [plain])
        #expect(asked.problem == losses[1] && asked.losses == [losses[0], losses[2]])
    }

    // MARK: Tracks

    @Test func dispositions_areRequired() throws {
        var planned = TrackPlan.planned(.audio())
        planned.disposition = ["default", "forced"]
        let track = try AssetTrack.read(.audio { $0.disposition = ["default", "dub"] })
        #expect(try comparison([planned], [track]).problem == "output track 0 is not marked as forced")
    }

    @Test func encodedVideo_mustHaveItsSize() throws {
        let source = TrackDescription.video(640, 360)
        let planned = TrackPlan.planned(source, .encoded(source, as: "h264", by: "libx264"))
        #expect(try comparison([planned], [.read(source)]).problem == nil)
        let other = try AssetTrack.read(.video(638, 360))
        #expect(
            try comparison([planned], [other]).problem == "output track 0 is 638x360 instead of 640x360")
        // A copy may have any format.
        #expect(try comparison([.planned(source)], [other]).problem == nil)
    }

    @Test func encodedAudio_mustHaveItsRateAndChannels() throws {
        let source = TrackDescription.audio()
        let planned = TrackPlan.planned(source, .encoded(source, as: "aac", by: "aac"))
        #expect(try comparison([planned], [.read(source)]).problem == nil)
        #expect(
            try comparison([planned], [.read(.audio(rate: 44_100))]).problem
                == "output track 0 has 44100 Hz instead of 48000")
        #expect(
            try comparison([planned], [.read(.audio(layout: "mono"))]).problem
                == "output track 0 has 1 channels instead of 2")
        // Opus is decoded at 48 kHz, whatever its encoder received.
        let low = TrackDescription.audio(rate: 24_000)
        let opus = TrackPlan.planned(low, .encoded(low, as: "opus", by: "libopus"))
        #expect(try comparison([opus], [.read(.audio(), codec: "opus")]).problem == nil)
    }

    /// A color that the job sets is required; the source's color is a loss.
    @Test func color_isRequiredIfTheJobSetsIt() throws {
        let source = TrackDescription.video()
        func planned(_ asked: [String], _ change: (inout ColorDescription) -> Void = { _ in }) -> TrackPlan {
            .planned(
                source,
                .encoded(source, as: "h264", by: "libx264") {
                    $0.encoder.color = .hdr
                    change(&$0.encoder.color)
                    $0.requestedColor = asked
                })
        }
        let found = try AssetTrack.read(source)
        let missing = ["primaries `bt2020`", "transfer `smpte2084`", "matrix `bt2020nc`"].map {
            "output track 0 doesn't contain the \($0)"
        }
        #expect(try comparison([planned([])], [found]).losses == missing)
        #expect(try comparison([planned([])], [found]).problem == nil)
        let asked = try comparison([planned(["transfer"])], [found])
        #expect(asked.problem == missing[1] && asked.losses == [missing[0], missing[2]])
        // Without a declared range, players assume the limited one.
        let full = try comparison([planned([]) { $0.range = .full }], [found])
        #expect(full.losses.last == "output track 0 doesn't contain the range `pc`")
    }

    // MARK: Chapters

    @Test func chapterTitles_areCompared() throws {
        func chapter(_ title: String?) -> AssetChapter { AssetChapter(timeRange: span(0, 1), title: title) }
        let media = MediaPlan(chapters: [chapter("A"), chapter(" B"), chapter(nil), chapter("D")])
        let found = [chapter("A"), chapter("B "), chapter("x"), chapter(nil)]
        #expect(
            try comparison(media: media, chapters: found).losses == [
                "chapter 4 of the output is not called `D`"
            ])
    }
}
