import Diagnostics
import FileSystem
import JobSpec
import LibAV
import Publishing
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Tests outputs of one track each: their names, destinations, tracks and ledgers, and sources without such tracks.
@Suite struct TrackDividerTests {
    /// A film with video, three audio tracks and two subtitle tracks.
    private static let film = SourceDescription.file(
        .video(),
        .audio(1) { $0.language = "eng" },
        .audio(2, codec: "ac3") { $0.language = "../fra" },
        .audio(3),
        .other(4) { $0.language = "eng" },
        .other(5, codec: "ass") { $0.language = "deu" }, container: SourceDescription.matroska)
    private static let silent = SourceDescription.file(.video())
    private static let empty = SourceDescription.file(
        .video(), .other(4), .other(6) { $0.language = "spa" }, container: SourceDescription.matroska)

    private struct Batch: LocatedText {
        let yaml: String
        let file: JobFile
        let prober = FakeProber { request in
            let name = request.path?.split(separator: "/").last.map(String.init) ?? ""
            switch request.subject {
            case .description where name == "missing.mkv":
                return .failure(SourceProblem("no such file", isMissing: true))
            case .description:
                return .success(
                    .description(name == "silent.mkv" ? silent : name == "empty.mkv" ? empty : film))
            case .trial: return .success(.verdict(.valid))
            case .presentationTimes: return .success(.presentationTimes(true))
            case .order: return .success(.order(nil))
            case .subtitleEvents(let track, _): return .success(.presence(track != 6))
            default: return nil
            }
        }

        init(_ jobs: String) throws { try self.init(yaml: "version: 1\njobs:\n" + jobs) }

        init(yaml: String) throws {
            self.yaml = yaml
            let (file, sink) = decode(yaml, file: "/jobs/jobs.yaml", directory: "/jobs")
            guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
            self.file = file
        }

        /// Creates a job with some rules, which reads a file.
        init(_ rules: String, _ keys: String = "", of name: String = "film.mkv", to destination: String)
            throws
        {
            try self.init(
                """
                  one:
                    asset: \(name)
                    tracks: [ \(rules) ]
                    \(keys)
                    destination: "\(destination)"

                """)
        }

        func plan(only: [String] = []) -> BatchPlanner.Result {
            let disk = FakeDisk(
                "/jobs/film.mkv", "/jobs/silent.mkv", "/jobs/empty.mkv", "/jobs/jobs.yaml")
            return BatchPlanner.plan([file], only: only, prober: prober, disk: disk)
        }

        /// Names, destinations and tracks of the outputs, such as `one/audio:0 /jobs/x.mka 1`.
        func outputs() -> [String] {
            let result = plan()
            #expect(messages(result.diagnostics) == [])
            return result.plan.jobs.flatMap(\.tasks).map { task in
                let tracks = task.output.tracks.map { "\($0.source.index)" }.joined(separator: " ")
                return "\(task.name) \(task.output.destination ?? "") \(tracks)"
            }
        }
    }

    private static let copies = "{ audio: all, copy: true }"

    /// A code of a language becomes a part of a path: it can't name another folder.
    @Test func eachSelectedTrack_hasAnOutput() throws {
        let batch = try Batch(
            Self.copies, to: "out/${asset.stem}.${track.index}.${track.language}.${track.codec}.mka")
        #expect(
            batch.outputs() == [
                "one/audio:0 /jobs/out/film.0.eng.aac.mka 1",
                "one/audio:1 /jobs/out/film.1.---fra.ac3.mka 2",
                "one/audio:2 /jobs/out/film.2.und.aac.mka 3",
            ])
    }

    /// The other rules select a track that each output contains.
    @Test func otherRules_applyToEachOutput() throws {
        let batch = try Batch(
            "{ video: first, copy: true }, { subtitle: all, copy: true, title: \"Track ${track.index}\" }",
            to: "out/${track.language}.mkv")
        #expect(
            batch.outputs() == [
                "one/subtitle:0 /jobs/out/eng.mkv 0 4", "one/subtitle:1 /jobs/out/deu.mkv 0 5",
            ])
        let titles = batch.plan().plan.jobs[0].outputs.map { output in
            output.tracks[1].metadata.first { $0.key == "title" }?.value
        }
        #expect(titles == ["Track 0", "Track 1"])
    }

    @Test func selection_limitsTheTracks() throws {
        let language = try Batch(
            "{ audio: [ { language: spa }, { language: eng }, all ], copy: true }",
            to: "out/${track.index}.mka")
        #expect(language.outputs() == ["one/audio:0 /jobs/out/0.mka 1"])
        let single = try Batch("{ audio: 2, copy: true }", to: "out/${track.index}.mka")
        #expect(single.outputs() == ["one/audio:2 /jobs/out/2.mka 3"])
        let chosen = try Batch(
            "{ audio: all, choose: [ { when: { duration: { max: 1s } }, copy: true }, { encode: { codec: flac } } ] }",
            to: "out/${track.index}.flac")
        #expect(
            chosen.outputs() == [
                "one/audio:0 /jobs/out/0.flac 1", "one/audio:1 /jobs/out/1.flac 2",
                "one/audio:2 /jobs/out/2.flac 3",
            ])
    }

    /// The tracks of other outputs are not left over.
    @Test func leftoverTracks_areThoseOfNoOutput() throws {
        let batch = try Batch(
            "{ audio: all, copy: true }", "leftover: warn", to: "out/${track.index}.mka")
        let result = batch.plan()
        #expect(
            batch.messages(result.diagnostics) == [
                "warning leftover-track at warn: no rule selects track 0 of the source: video h264 1280x720",
                "warning leftover-track at warn: no rule selects track 4 of the source: subtitle subrip (eng)",
                "warning leftover-track at warn: no rule selects track 5 of the source: subtitle ass (deu)",
            ])
        let ledger = result.plan.jobs[0].outputs[1].ledger.map {
            "\($0.item.text) \($0.outcome.rawValue): \($0.reason)"
        }
        #expect(ledger.contains("audio aac 48000 Hz stereo (eng) dropped: another output contains it"))
    }

    private static let outputs = """
          one:
            asset: NAME
            KEYS
            outputs:
              main: { tracks: [ { video: first, copy: true } ], destination: out/main.mkv }
              subs:
                tracks: [ { subtitle: all, copy: true, optional: OPTIONAL } ]
                destination: "out/${output}.${track.index}.mkv"

        """

    private func film(_ name: String, optional: Bool = true, _ keys: String = "") throws -> Batch {
        try Batch(
            Self.outputs.replacing("NAME", with: name).replacing("KEYS", with: keys)
                .replacing("OPTIONAL", with: "\(optional)"))
    }

    /// An optional output is omitted if the source has no such track, and the plan says so.
    @Test func optionalOutput_isOmitted() throws {
        #expect(
            try film("film.mkv").outputs() == [
                "one/main /jobs/out/main.mkv 0", "one/subs:0 /jobs/out/subs.0.mkv 4",
                "one/subs:1 /jobs/out/subs.1.mkv 5",
            ])
        let silent = try film("silent.mkv")
        #expect(silent.outputs() == ["one/main /jobs/out/main.mkv 0"])
        #expect(
            silent.plan().plan.jobs[0].outputs[0].notes == [
                "the output `subs` is omitted: no subtitle track of the source matches"
            ])
    }

    /// A track without events has no output, if it is optional.
    @Test func trackWithoutEvents_isOmitted() throws {
        let rule = "{ video: first, copy: true }, { subtitle: all, copy: true, optional: true }"
        let batch = try Batch(rule, of: "empty.mkv", to: "out/${track.index}.mkv")
        #expect(batch.outputs() == ["one/subtitle:0 /jobs/out/0.mkv 0 4"])
        #expect(
            batch.plan().plan.jobs[0].outputs[0].notes == [
                "the output `subtitle:1` is omitted: optional subtitle track 6 dropped: it has no event"
            ])
        let language = "{ subtitle: { language: spa }, copy: true, optional: true }"
        let none = try Batch(language, of: "empty.mkv", to: "out/${track.index}.srt")
        let result = none.plan()
        #expect(
            none.messages(result.diagnostics) == [
                "no-such-track at one: the job has no output: optional subtitle track 6 dropped: it has no event"
            ])
        #expect(result.plan.refusals.map(\.id) == ["one"])
        let required = try Batch(
            "{ subtitle: all, copy: true }", of: "empty.mkv", to: "out/${track.index}.srt")
        #expect(
            required.messages(required.plan().diagnostics) == [
                "no-such-track at all: subtitle track 6 has no event"
            ])
    }

    @Test func noTrack_isAnError() throws {
        let required = try film("silent.mkv", optional: false)
        #expect(
            required.messages(required.plan().diagnostics) == [
                "no-such-track at all: no subtitle track matches, so that nothing is written: the source has no subtitle"
            ])
        let only = try Batch(
            "{ audio: [ { language: spa }, { language: ita } ], copy: true, optional: true }",
            to: "out/${track.index}.mka")
        let result = only.plan()
        #expect(
            only.messages(result.diagnostics) == [
                "no-such-track at [ { language: spa }, { language: ita } ]: no audio track matches `language: spa` or `language: ita`, so that nothing is written: the source has 3 audio tracks"
            ])
        #expect(result.plan.refusals.map(\.id) == ["one"])
    }

    /// A condition is evaluated first, and a source that can't be read is reported as in any other job.
    @Test func skippedAndUnreadableSources() throws {
        let skipped = try film("silent.mkv", optional: false, "when: { subtitle: { count: { min: 1 } } }")
        let result = skipped.plan()
        #expect(result.plan.skips.map(\.id) == ["one"])
        #expect(skipped.findings(result.diagnostics) == [])
        let missing = try film("missing.mkv")
        #expect(
            missing.messages(missing.plan().diagnostics) == [
                "source-unreadable at missing.mkv: missing.mkv: no such file"
            ])
    }

    @Test func equalDestinations_areAnError() throws {
        let batch = try Batch(Self.copies, to: "out/${track.codec}.mka")
        let result = batch.plan()
        #expect(
            batch.messages(result.conflicts) == [
                "destination-collision at \"out/${track.codec}.mka\": two outputs have the destination /jobs/out/aac.mka"
            ])
        #expect(result.conflicts.diagnostics[0].help == "use `${track.index}` in the path")
    }

    /// A job can have 32 outputs; only that job is refused.
    @Test func tooManyTracks_areRefused() throws {
        let tracks = (0..<33).map { index in TrackDescription.audio(index) }
        let many = SourceDescription.file(with: { $0.tracks = tracks })
        let prober = FakeProber { request in
            guard case .description = request.subject else { return .success(.verdict(.valid)) }
            return .success(.description(request.path == "/jobs/many.mka" ? many : Self.film))
        }
        let batch = try Batch(
            """
              one: { asset: many.mka, tracks: [ { audio: all, copy: true } ], destination: "out/${track.index}.mka" }
              two: { asset: film.mkv, tracks: [ { audio: all, copy: true } ], destination: "out/b${track.index}.mka" }
              three:
                asset: many.mka
                outputs:
                  first: { tracks: [ { audio: first, copy: true } ], destination: out/c.mka }
                  all: { tracks: [ { audio: all, copy: true, optional: true } ], destination: "out/c${track.index}.mka" }

            """)
        let result = BatchPlanner.plan(
            [batch.file], prober: prober, disk: FakeDisk("/jobs/many.mka", "/jobs/film.mkv"))
        #expect(
            batch.messages(result.diagnostics) == [
                "fan-out at \"out/${track.index}.mka\": a job can have at most 32 outputs, and the source has 33 tracks for this destination",
                "fan-out at \"out/c${track.index}.mka\": a job can have at most 32 outputs, and the source has 33 tracks for this destination",
            ])
        #expect(result.plan.refusals.map(\.id) == ["one", "three"])
        #expect(result.plan.jobs.map(\.id) == ["two"])
    }

    /// A condition of the divided rule applies to its outputs, whose other tracks don't suffice.
    @Test func ruleThatDoesNotApply() throws {
        func rules(_ isOptional: Bool) -> String {
            "{ video: first, copy: true }, { audio: all, when: { duration: { min: 1:00 } }, copy: true, optional: \(isOptional) }"
        }
        let required = try Batch(rules(false), to: "out/${track.index}.mkv")
        let refused = required.plan()
        #expect(
            required.messages(refused.diagnostics) == [
                "no-such-track at all: the rule of `${track.…}` doesn't apply, so that nothing is written"
            ])
        let optional = try Batch(rules(true), to: "out/${track.index}.mkv")
        let reason = "the audio rule in line 5 doesn't apply: `duration` is 10 s (required: at least 1:00)"
        #expect(
            optional.messages(optional.plan().diagnostics) == [
                "no-such-track at one: the job has no output: \(reason)"
            ])
        let beside = try Batch(
            """
              one:
                asset: film.mkv
                outputs:
                  main: { tracks: [ { video: first, copy: true } ], destination: out/main.mkv }
                  dub: { tracks: [ \(rules(true)) ], destination: "out/${track.index}.mkv" }

            """)
        #expect(beside.outputs() == ["one/main /jobs/out/main.mkv 0"])
        #expect(beside.plan().plan.jobs[0].dividedOutputs == ["dub"])
    }

    /// `publish_if` of `defaults` applies to jobs with a single output.
    @Test func defaults_applyToDividedOutputs() throws {
        let yaml = """
            version: 1
            defaults: { publish_if: { smaller_by: 50% }, destination: "out/${job}.${track.index}.mka", metadata: { set: { title: "${track.language}" } } }
            jobs:
              one: { asset: film.mkv, tracks: [ { audio: all, copy: true } ] }

            """
        let batch = try Batch(yaml: yaml)
        #expect(
            batch.outputs() == [
                "one/audio:0 /jobs/out/one.0.mka 1", "one/audio:1 /jobs/out/one.1.mka 2",
                "one/audio:2 /jobs/out/one.2.mka 3",
            ])
        #expect(batch.plan().plan.jobs[0].publishIf == nil)
    }

    /// Warnings that depend on the destination are reported once it is known.
    @Test func warnings_areReportedAfterTheDivision() throws {
        let batch = try Batch(Self.copies, "container: mkv", to: "out/${track.index}.mp4")
        #expect(
            batch.messages(batch.plan().diagnostics) == [
                "warning unknown-container at \"out/${track.index}.mp4\": the extension `.mp4` doesn't match the container mkv; players may reject the file"
            ])
    }

    /// Only the sources of selected jobs are opened, each once.
    @Test func unselectedSources_areNotOpened() throws {
        let batch = try Batch(
            """
              one: { asset: film.mkv, tracks: [ { audio: all, copy: true } ], destination: "out/${track.index}.mka" }
              two: { asset: silent.mkv, tracks: [ { audio: all, copy: true } ], destination: "out/b${track.index}.mka" }

            """)
        #expect(batch.plan(only: ["one"]).plan.jobs.map(\.outputs.count) == [3])
        let opened = batch.prober.requests.filter {
            if case .description = $0.subject { true } else { false }
        }
        #expect(opened.map(\.path) == ["/jobs/film.mkv"])
    }

    /// The paths of a job file include those of undivided outputs by name only.
    @Test func paths_areVariable() throws {
        let batch = try film("film.mkv")
        let paths = JobPaths([batch.file], beneath: .anywhere, disk: FakeDisk("/jobs/film.mkv"))
        #expect(paths.destinations.map(\.path) == ["/jobs/out/main.mkv"])
        #expect(paths.variableOutputs.map(\.id) == ["one/subs"])
    }
}
