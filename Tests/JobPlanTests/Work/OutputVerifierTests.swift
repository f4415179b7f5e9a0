import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// The verification of a finished output against its plan, on contents by value.
@Suite struct OutputVerifierTests {
    private func verifier(
        _ tracks: [TrackPlan] = [.planned(.video()), .planned(.audio())], media: MediaPlan = MediaPlan(),
        reports: [TrackReport] = [], stop: MediaTime? = nil, container: String = "mp4",
        policy: DamagePolicy = .fail
    ) throws -> OutputVerifier {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        var output = OutputPlan.media(tracks, of: snippet)
        (output.kind, output.container) = (.media(media), container)
        var input = InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent())
        input.damagePolicy = policy
        return OutputVerifier(
            task: OutputTask(job: "one", file: "jobs.yaml", input: input, output: output), media: media,
            reports: reports, cutEvidence: [], stop: stop, environment: MediaEnvironment(),
            isCancelled: { false })
    }

    // MARK: The file

    private func fileProblem(
        _ media: MediaPlan = MediaPlan(), _ planned: [TrackPlan] = [.planned(.video()), .planned(.audio())],
        tracks: [TrackDescription] = [.video(), .audio()], chapters: Int = 0, missing: Int64 = 0,
        cover: CoverArt? = nil
    ) throws -> String? {
        let contents = AssetContents.read(
            try tracks.map { try .read($0) },
            chapters: (0..<chapters).map { AssetChapter(timeRange: span(0, 1), title: "\($0)") },
            missingBytes: missing)
        var found: [AssetTrack] = []
        let problem = try verifier(planned, media: media).problem(
            of: contents, cover: { _ in cover }, tracks: &found)
        if problem == nil { #expect(found.map(\.mediaType) == planned.map(\.source.mediaType)) }
        return problem
    }

    private static let chapter = AssetChapter(timeRange: span(0, 1), title: "A")

    @Test func file_asPlanned_isAccepted() throws {
        #expect(try fileProblem() == nil)
        #expect(
            try fileProblem(
                MediaPlan(chapters: [Self.chapter], covers: [3], attachments: [4]),
                tracks: [
                    .video(), .audio(), .cover(2), .other(3, .attachment),
                    .other(4, .data, codec: "bin_data"),
                ], chapters: 1) == nil)
    }

    @Test(
        arguments: [
            ("the output is truncated: 7 bytes missing", MediaPlan(), 0, [], 7),
            ("the output has 0 attachments instead of 1", MediaPlan(attachments: [2]), 0, [], 0),
            ("the output has 1 attachments instead of 0", MediaPlan(), 0, [.other(2, .attachment)], 0),
            ("the output has 0 covers instead of 1", MediaPlan(covers: [2]), 0, [], 0),
            ("the output has 1 covers instead of 0", MediaPlan(), 0, [.cover(2)], 0),
            ("the output has 0 chapters instead of 1", MediaPlan(chapters: [chapter]), 0, [], 0),
            ("the output has 1 chapter instead of 0", MediaPlan(), 1, [], 0),
            ("the output has 3 tracks instead of 2", MediaPlan(), 0, [.audio(2)], 0),
            // Only the track that libavformat adds for chapters is expected in addition.
            ("the output has 3 tracks instead of 2", MediaPlan(), 0, [.other(2, .data)], 0),
            (
                "the output has 4 tracks instead of 2", MediaPlan(chapters: [chapter]), 1,
                [.other(2, .data), .other(3, .data)], 0
            ),
            (
                "the output has 3 tracks instead of 2", MediaPlan(chapters: [chapter]), 1, [.other(2)], 0
            ),
        ] as [(String, MediaPlan, Int, [TrackDescription], Int64)])
    func file_thatDiffers_isDefective(
        _ problem: String, _ media: MediaPlan, _ chapters: Int, _ more: [TrackDescription], _ missing: Int64
    ) throws {
        #expect(
            try fileProblem(
                media, tracks: [.video(), .audio()] + more, chapters: chapters, missing: missing) == problem)
    }

    @Test func missingTrack_isDefective() throws {
        #expect(try fileProblem(tracks: [.video()]) == "the output has 1 tracks instead of 2")
        #expect(try fileProblem(tracks: []) == "the output has 0 tracks instead of 2")
    }

    /// The timecode may have a track of its own.
    @Test func timecode_mustBeReadBack() throws {
        var video = TrackPlan.planned(.video())
        video.metadata = [MetadataEntry(key: "timecode", value: "01:00:00:00")]
        func problem(_ found: String?) throws -> String? {
            var tags: [MetadataEntry] = []
            if let found { tags = [MetadataEntry(key: "timecode", value: found)] }
            let contents = AssetContents.read([
                try .read(.video(), tags: tags), try .read(.other(1, .data)),
            ])
            var tracks: [AssetTrack] = []
            return try verifier([video]).problem(of: contents, cover: { _ in nil }, tracks: &tracks)
        }
        #expect(try problem("01:00:00:00") == nil)
        #expect(
            try problem("02:00:00:00") == "the output's timecode is 02:00:00:00 instead of 01:00:00:00")
        #expect(try problem(nil) == "the output's timecode is none instead of 01:00:00:00")
    }

    @Test func coverFromAFile_mustBeTheImage() throws {
        let image = CoverImage(
            codec: "png", width: 16, height: 16, pixelFormat: .rgb24, size: 1000,
            digest: String(repeating: "0", count: 64))
        let media = MediaPlan(
            cover: CoverPlan(path: "/c.png", image: image, location: .startOfFile("jobs.yaml")))
        #expect(
            try fileProblem(media, tracks: [.video(), .audio(), .cover(2)])
                == "the output's cover is not the image of /c.png")
        #expect(try fileProblem(media) == "the output has 0 covers instead of 1")
    }

    // MARK: Tracks

    private func report(
        _ appended: Int, written: Int? = nil, hidden: Int = 0, filled: Int = 0, end: Double = 10
    ) -> TrackReport {
        var report = TrackReport(samples: appended, end: s(end), damage: DamageTally.Count())
        (report.writtenPackets, report.hiddenSamples) = (written ?? appended, hidden)
        report.filledSamples = filled
        return report
    }

    private func trackProblem(
        _ planned: TrackPlan, _ found: TrackDescription, _ report: TrackReport, codec: String? = nil,
        editEnd: MediaTime? = nil, stop: MediaTime? = nil, container: String = "mp4"
    ) throws -> String? {
        try verifier([planned], stop: stop, container: container).problem(
            planned, .read(found, codec: codec, editEnd: editEnd), report, "output track 0")
    }

    private static func counted(_ count: Int?) -> TrackDescription { .video { $0.sampleCount = count } }

    @Test func track_ofAnotherType_isDefective() throws {
        #expect(try trackProblem(.planned(.video()), .audio(), report(250)) == "output track 0 is audio")
    }

    @Test func copy_mustWriteAllPackets() throws {
        let planned = TrackPlan.planned(Self.counted(250))
        #expect(try trackProblem(planned, Self.counted(250), report(250)) == nil)
        #expect(
            try trackProblem(planned, Self.counted(249), report(250, written: 249))
                == "output track 0 has 249 of 250 packets")
        // The source is verified first.
        #expect(
            try trackProblem(planned, Self.counted(249), report(249))?.hasPrefix(
                "source track 0 is truncated or damaged") == true)
        // Containers may merge or split packets of audio.
        #expect(
            try trackProblem(.planned(.audio()), .audio { $0.sampleCount = 9 }, report(470, written: 235))
                == nil)
    }

    /// Hidden frames need an edit list, and are not shown.
    @Test func hiddenFrames_needAnEditList() throws {
        let planned = TrackPlan.planned(.video())
        #expect(try trackProblem(planned, Self.counted(250), report(252, hidden: 2)) == nil)
        #expect(
            try trackProblem(planned, Self.counted(252), report(252, hidden: 2))
                == "output track 0 shows 252 frames instead of 250: the source's edit list hides the others")
        #expect(
            try trackProblem(planned, Self.counted(252), report(252, hidden: 2), container: "mkv")
                == "source track 0 has 2 frames that an edit list hides; mkv has no edit lists; use `encode`, or mp4 or mov"
        )
    }

    @Test func smartCut_mustHaveItsFrames() throws {
        let planned = TrackPlan.planned(.video(), .smartCut(.cut(head: 2, copied: 96, tail: 2)))
        #expect(try trackProblem(planned, Self.counted(100), report(100)) == nil)
        #expect(
            try trackProblem(planned, Self.counted(99), report(100))
                == "output track 0 has 99 frames instead of 100")
    }

    @Test func encodedVideo_mustHaveItsCodecAndFrames() throws {
        let source = TrackDescription.video()
        let planned = TrackPlan.planned(source, .encoded(source, as: "h264", by: "libx264"))
        #expect(try trackProblem(planned, Self.counted(250), report(250)) == nil)
        #expect(try trackProblem(planned, Self.counted(nil), report(250)) == nil)
        #expect(
            try trackProblem(planned, Self.counted(249), report(250))
                == "output track 0 has 249 frames instead of 250")
        #expect(
            try trackProblem(planned, Self.counted(250), report(250), codec: "hevc")
                == "output track 0 is hevc instead of h264")
    }

    /// The length of audio is exact to the sample, if the container stores it.
    @Test(arguments: [
        (480_000, 10.0, true, true), (480_001, 10, true, true), (480_048, 10, true, false),
        (479_000, 10, true, false), (479_000, 10, false, true),
    ])
    func encodedAudio_isExact(
        _ appended: Int, _ end: Double, _ hasEditList: Bool, _ isAccepted: Bool
    ) throws {
        let source = TrackDescription.audio()
        let planned = TrackPlan.planned(source, .encoded(source, as: "aac", by: "aac"))
        let problem = try trackProblem(
            planned, .audio(over: span(0, end)), report(appended), editEnd: hasEditList ? s(end) : nil)
        #expect(
            problem
                == (isAccepted ? nil : "output track 0 has 480000 samples instead of \(appended)"))
    }

    /// A size limit ends audio at the limit's time, without an edit list up to a tenth of a second earlier.
    @Test(arguments: [
        (5.0, true, true), (4.999, true, false), (5.001, true, false), (5, false, true), (4.9, false, true),
        (4.899, false, false), (5.001, false, false),
    ])
    func limitedAudio_endsAtTheLimit(_ end: Double, _ hasEditList: Bool, _ isAccepted: Bool) throws {
        let source = TrackDescription.audio(codec: "pcm_s16le", format: "s16")
        let planned = TrackPlan.planned(source, .encoded(source, as: "pcm_s16le", by: "pcm_s16le"))
        let problem = try trackProblem(
            planned, .audio(codec: "pcm_s16le", format: "s16", over: span(0, end)), report(240_000, end: 5),
            editEnd: hasEditList ? s(end) : nil, stop: s(5))
        #expect((problem == nil) == isAccepted, "\(problem ?? "")")
    }

    @Test func limit_withoutAnySample_isDefective() throws {
        #expect(
            try trackProblem(.planned(.video()), .video(), report(1, written: 0), stop: s(5))
                == "output track 0 would be empty: no sample fits into the limit")
        // The number of subtitle events isn't predicted.
        let text = TrackPlan.planned(.other())
        #expect(try trackProblem(text, .other(), report(0), stop: s(5)) == nil)
        #expect(try trackProblem(text, .other(), report(0)) == nil)
    }

    // MARK: Files

    @Test func file_thatCannotBeRead_isDefective() throws {
        let scratch = try Scratch()
        let path = try scratch.write("no media", to: "o.mp4")
        guard case .defective(let reason) = try verifier().verdict(path: path) else {
            return #expect(Bool(false), "the file was accepted")
        }
        #expect(reason.hasPrefix("the finished output can't be read back: "), "\(reason)")
    }
}
