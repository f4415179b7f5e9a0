import Diagnostics
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Tests gains that the instances of a job share: the files that are measured, the gain, and errors.
@Suite struct LoudnessGroupTests {
    /// Loudness and peak of the files; the others can't be read.
    private static let levels = ["a.flac": (-20.0, -4.0), "b.flac": (-30.0, -12.0), "c.flac": (-26.0, -20.0)]

    private static func blocks(_ levels: (loudness: Double, peak: Double)) -> LoudnessBlocks {
        var counter = LoudnessBlocks.Counter()
        for _ in 0..<100 { counter.add(levels.loudness) }
        counter.truePeak = levels.peak
        return counter.blocks
    }

    private struct Batch {
        let files: [JobFile]
        let prober: FakeProber

        /// Creates a job for each file, with a rule and other keys of the job.
        init(_ rule: String, _ keys: String = "", of names: [String]) throws {
            try self.init(
                yaml: """
                    version: 1
                    jobs:
                      album:
                        matrix: { name: [ \(names.joined(separator: ", ")) ] }
                        asset: "./${matrix.name}"
                        tracks: [ \(rule) ]
                        \(keys)
                        destination: "out/${matrix.name}"

                    """)
        }

        init(yaml: String) throws {
            let (file, sink) = decode(yaml, file: "/jobs/jobs.yaml", directory: "/jobs")
            guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
            files = [file]
            prober = FakeProber { request in
                let name = request.path?.split(separator: "/").last.map(String.init) ?? ""
                switch request.subject {
                case .description:
                    return name == "missing.flac"
                        ? .failure(SourceProblem("no such file")) : .success(.description(.file(.audio())))
                case .loudness:
                    return levels[name].map { .success(.loudness(blocks($0))) }
                        ?? .failure(SourceProblem("it is damaged"))
                case .trial: return .success(.verdict(.valid))
                default: return nil
                }
            }
        }

        func plan(only: [String] = [], as earlier: BatchPlan? = nil) -> BatchPlanner.Result {
            let disk = FakeDisk(
                "/jobs/a.flac", "/jobs/b.flac", "/jobs/c.flac", "/jobs/missing.flac", "/jobs/damaged.flac",
                "/jobs/jobs.yaml")
            return BatchPlanner.plan(files, only: only, as: earlier, prober: prober, disk: disk)
        }

        /// Names of the measured files.
        var measured: [String] {
            prober.requests.compactMap { request in
                guard case .loudness = request.subject else { return nil }
                return request.path?.split(separator: "/").last.map(String.init)
            }.sorted()
        }
    }

    private static let rule =
        "{ audio: first, encode: { codec: flac, normalize: { integrated: -23, group: job } } }"

    private func gains(_ result: BatchPlanner.Result) -> [String] {
        result.plan.jobs.compactMap { $0.outputs[0].tracks[0].encoding?.audio?.filters?.description }
    }

    /// Powers are averaged: 0.01, 0.001 and 0.0025 are 0.0045, or -23.46 LUFS. Blocks of -30 LUFS are above the relative
    /// gate.
    @Test func oneGain_reachesTheTargetOfAllFiles() throws {
        let batch = try Batch(Self.rule, of: ["a.flac", "b.flac", "c.flac"])
        let result = batch.plan()
        #expect(gains(result) == Array(repeating: "volume=volume=0.46dB:precision=double", count: 3))
        #expect(batch.measured == ["a.flac", "b.flac", "c.flac"])
        let encoding = try #require(result.plan.jobs[1].outputs[0].tracks[0].encoding)
        #expect(encoding.loudness == nil && encoding.sharedGain?.measured?.files == 3)
        #expect(
            encoding.settings.first { $0.key == "normalize" }?.value
                == "-23.0 LUFS, -1.0 dBTP; gain 0.46 dB for 3 files of -23.46 LUFS")
        #expect(!result.plan.jobs[0].workGraph().nodes.contains { $0.task == .measure(output: 0, track: 0) })
        #expect(result.plan.jobs[0].outputs[0].notes == [])
    }

    /// The highest peak limits the gain of all files.
    @Test func peakLimitsTheGain() throws {
        let rule = "{ audio: first, encode: { codec: flac, normalize: { integrated: -10, group: job } } }"
        let result = try Batch(rule, of: ["a.flac", "c.flac"]).plan()
        #expect(gains(result) == Array(repeating: "volume=volume=3.0dB:precision=double", count: 2))
        #expect(
            result.plan.jobs[1].outputs[0].notes == [
                "the gain is 9.03 dB lower than -10.0 LUFS require: the true peak of a file is -4 dBTP"
            ])
    }

    /// `group` divides the instances; filters and the conversion of channels come before the measurement.
    @Test func groups_haveGainsOfTheirOwn() throws {
        let rule =
            "{ audio: first, encode: { codec: flac, channels: mono, filters: acompressor, normalize: { integrated: -23, group: job } } }"
        let batch = try Batch(rule, "group: \"${matrix.name}\"", of: ["a.flac", "b.flac"])
        let chain = "acompressor,aformat=sample_fmts=dblp:channel_layouts=mono"
        #expect(
            gains(batch.plan()) == [
                "\(chain),volume=volume=-3.0dB:precision=double",
                "\(chain),volume=volume=7.0dB:precision=double",
            ])
        let queries = batch.prober.requests.compactMap { request -> String? in
            guard case .loudness(let query) = request.subject else { return nil }
            return query.filters?.description
        }
        #expect(queries == [chain, chain])
    }

    /// Jobs that aren't planned are measured as well; a part of a saved plan keeps the gain of the whole.
    @Test func parts_haveTheGainOfAll() throws {
        let batch = try Batch(Self.rule, of: ["a.flac", "b.flac", "c.flac"])
        let part = batch.plan(only: ["album[name=b.flac]"])
        #expect(part.plan.jobs.map(\.id) == ["album[name=b.flac]"])
        #expect(gains(part) == ["volume=volume=0.46dB:precision=double"])
        let other = try Batch(Self.rule, of: ["a.flac", "b.flac", "c.flac"])
        let again = other.plan(as: part.plan)
        #expect(again.plan.jobs == part.plan.jobs && other.measured == [])
    }

    /// A file that can't be read or measured is an error of all jobs of its group.
    @Test(arguments: [
        ("missing.flac", "can't be planned"), ("damaged.flac", "can't be read: it is damaged"),
    ])
    func unknownLoudness_isAnErrorOfTheGroup(_ name: String, _ reason: String) throws {
        let result = try Batch(Self.rule, of: ["a.flac", name]).plan()
        #expect(result.plan.jobs.isEmpty)
        let messages = result.diagnostics.diagnostics.map(\.message)
        #expect(
            messages.contains(
                "the loudness of the group can't be measured: `album[name=\(name)]` \(reason)"), "\(messages)"
        )
        #expect(Set(messages).count == (name == "missing.flac" ? 2 : 1))
    }

    /// Instances of one group may have targets of their own: all of their files are measured once.
    @Test func targets_areThoseOfTheInstances() throws {
        let rule =
            "{ audio: first, encode: { codec: flac, normalize: { integrated: \"${matrix.target}\", group: job } } }"
        let yaml = """
            version: 1
            jobs:
              album:
                matrix: { name: [ a.flac, b.flac ], target: [ -30, -20 ] }
                asset: "./${matrix.name}"
                outputs:
                  one: { tracks: [ \(rule) ], destination: "one${matrix.target}/${matrix.name}" }
                  two: { tracks: [ \(rule) ], destination: "two${matrix.target}/${matrix.name}" }

            """
        let batch = try Batch(yaml: yaml)
        let result = batch.plan()
        #expect(
            gains(result)
                == ["-7.41", "2.59", "-7.41", "2.59"].map { "volume=volume=\($0)dB:precision=double" })
        #expect(batch.measured == ["a.flac", "b.flac"])
        #expect(result.plan.jobs[0].outputs[0].tracks[0].encoding?.sharedGain?.measured?.files == 2)
    }

    /// A part of a saved plan whose jobs have no audio of the group measures nothing.
    @Test func partsWithoutAudio_measureNothing() throws {
        let yaml = """
            version: 1
            jobs:
              album:
                matrix: { name: [ a.flac, b.flac ] }
                asset: "./${matrix.name}"
                tracks:
                  - { audio: { language: fra }, optional: true, encode: { codec: flac, normalize: { group: job } } }
                  - { audio: first, copy: true }
                destination: "out/${matrix.name}.mka"

            """
        let part = try Batch(yaml: yaml).plan(only: ["album[name=b.flac]"])
        try #require(part.plan.jobs.count == 1)
        let again = try Batch(yaml: yaml)
        #expect(again.plan(as: part.plan).plan.jobs == part.plan.jobs && again.measured == [])
    }

    /// The notes of a package name its renditions.
    @Test func shortfallOfARendition_isANoteOfThePackage() throws {
        let batch = try Batch(
            yaml: """
                version: 1
                jobs:
                  album:
                    asset: ./a.flac
                    outputs:
                      main: { tracks: [ { audio: first, encode: { codec: aac, normalize: { integrated: -10, group: job } } } ] }
                    package: { formats: [hls], segment: 6s, destination: out/ }

                """)
        let output = try #require(batch.plan().plan.jobs.first?.outputs.first)
        #expect(
            output.notes.contains(
                "main: the gain is 7 dB lower than -10.0 LUFS require: the true peak of a file is -4 dBTP"),
            "\(output.notes)")
    }

    @Test func silence_isUnchanged() {
        var gain = SharedGain(LoudnessTarget())
        let blocks = LoudnessBlocks(joining: [])
        gain.measured = SharedGain.Measured(
            files: 2, integrated: blocks.integrated, truePeak: blocks.truePeak)
        #expect(
            gain.decibels == 0
                && gain.text == "no gain: no file has a loudness above -70 LUFS and lasts 0.4 s"
                && gain.shortfall == nil)
        // A file shorter than a block has a peak, but no loudness.
        gain.measured?.truePeak = 0
        #expect(gain.decibels == 0 && gain.shortfall == nil)
    }

    /// Blocks more than 10 LU below the loudness of all blocks don't count, and blocks of -70 LUFS or less never do.
    @Test func blocks_areGated() {
        var counter = LoudnessBlocks.Counter()
        for loudness in [-20.0, -20, -50, -70, -120] { counter.add(loudness) }
        let blocks = counter.blocks
        #expect(blocks.isValid && abs((blocks.integrated ?? 0) + 20) < 0.005)
        #expect(LoudnessBlocks(joining: [blocks, blocks]).integrated == blocks.integrated)
    }
}
