import Diagnostics
import FileSystem
import JobSpec
import LibAV
import Publishing
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The jobs of a call together, without files: order, sources, destinations, space.
@Suite struct BatchPlannerTests {
    /// Jobs of `/jobs/jobs.yaml`, one a line, which copy the video of their source unless they state `tracks`.
    private struct Batch {
        let files: [JobFile]
        let prober: FakeProber

        init(_ jobs: String..., sources: [String: SourceDescription] = BatchPlannerTests.sources) throws {
            let yaml =
                (["version: 1", "defaults: { tracks: [ { video: first, copy: true } ] }", "jobs:"]
                + jobs.map { "  " + $0 }).joined(separator: "\n") + "\n"
            let (file, sink) = decode(yaml, file: "/jobs/jobs.yaml", directory: "/jobs")
            guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
            files = [file]
            prober = FakeProber { request in
                switch request.subject {
                case .description:
                    let name = request.path?.split(separator: "/").last.map(String.init) ?? ""
                    return sources[name].map { .success(.description($0)) }
                        ?? .failure(SourceProblem("no such file"))
                case .cadence:
                    return .success(
                        .cadence(FrameCadence(frameRate: Rational(25, 1), isConstant: true)))
                case .cover: return .success(.cover(BatchPlannerTests.cover))
                case .trial: return .success(.verdict(.valid))
                default: return nil
                }
            }
        }

        func plan(
            on disk: FakeDisk = FakeDisk("/jobs/a.mp4", "/jobs/b.mp4", "/jobs/jobs.yaml"),
            memory: any PlanMemory = NoMemory()
        ) -> BatchPlanner.Result {
            BatchPlanner.plan(files, memory: memory, prober: prober, disk: disk)
        }

        /// Names of the probed files.
        var probed: [String] {
            prober.requests.compactMap { request in
                guard case .description = request.subject else { return nil }
                return request.path?.split(separator: "/").last.map(String.init)
            }.sorted()
        }
    }

    private static let sources = [
        "a.mp4": SourceDescription.file(.video { $0.bitRate = 800_000 }, .audio()),
        "b.mp4": .file(.video { $0.bitRate = 800_000 }, .audio()),
    ]
    private static let cover = CoverImage(
        codec: "png", width: 16, height: 16, pixelFormat: .rgb24, size: 1000,
        digest: String(repeating: "0", count: 64))

    private func messages(_ sink: DiagnosticSink) -> [String] { sink.diagnostics.map(\.message) }

    // MARK: Order and sources

    @Test func jobsArePlannedAfterThoseThatTheyRead() throws {
        let batch = try Batch(
            "late: { asset: { job: first }, destination: late.mp4 }",
            "first: { asset: a.mp4, destination: first.mp4 }",
            "lost: { asset: c.mp4, destination: lost.mp4 }",
            "reader: { asset: { job: lost }, destination: reader.mp4 }")
        let result = batch.plan()
        #expect(result.plan.jobs.map(\.id) == ["first", "late"])
        #expect(result.plan.jobs[1].inputs[0].source == .job(id: "first", path: "/jobs/first.mp4"))
        #expect(result.plan.refusals.map(\.id) == ["lost", "reader"])
        #expect(
            messages(result.diagnostics) == [
                "c.mp4: no such file", "the job `lost`, whose output is the source, was rejected",
            ])
        #expect(messages(result.conflicts) == [])
    }

    /// Several jobs and a composition share the description of a source.
    @Test func eachSourceIsProbedOnce() throws {
        let batch = try Batch(
            "one: { asset: a.mp4, destination: 1.mp4 }", "two: { asset: a.mp4, destination: 2.mp4 }",
            "bad: { asset: c.mp4, destination: 3.mp4 }", "worse: { asset: c.mp4, destination: 4.mp4 }",
            "all: { composition: [ a.mp4, b.mp4, a.mp4 ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: 5.mp4 }",
            "covered: { asset: a.mp4, tracks: [ { audio: first, copy: true } ], metadata: { cover: c.png }, destination: 6.m4a }",
            "covered2: { asset: b.mp4, tracks: [ { audio: first, copy: true } ], metadata: { cover: c.png }, destination: 7.m4a }"
        )
        let result = batch.plan()
        #expect(result.plan.jobs.map(\.id) == ["one", "two", "all", "covered", "covered2"])
        #expect(batch.probed == ["a.mp4", "b.mp4", "c.mp4"])
        #expect(batch.prober.requests.count { $0.subject == .cover } == 1)
        #expect(messages(result.diagnostics) == ["c.mp4: no such file", "c.mp4: no such file"])
    }

    // MARK: Conditions

    /// A job whose condition fails is skipped, as are jobs that read its output, but not jobs that only need it.
    @Test func jobsWhoseConditionFailsAreSkipped() throws {
        let batch = try Batch(
            "small: { asset: a.mp4, when: { video: { height: { min: 1080 } } }, destination: small.mp4 }",
            "reader: { asset: { job: small }, destination: reader.mp4 }",
            "joined: { composition: [ b.mp4, { job: small } ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: joined.mp4 }",
            "after: { asset: b.mp4, needs: small, when: { video: { height: 720 } }, destination: after.mp4 }")
        let result = batch.plan()
        #expect(messages(result.diagnostics) == [] && result.plan.refusals.isEmpty)
        #expect(result.plan.jobs.map(\.id) == ["after"])
        #expect(result.plan.jobs[0].outputs[0].notes == ["`when` holds: video track 0: `height` is 720"])
        #expect(result.plan.skips.map(\.id) == ["small", "reader", "joined"])
        #expect(
            result.plan.skips.map(\.reason) == [
                "video track 0: `height` is 720 (required: at least 1080)",
                "the job `small`, whose output it reads, is skipped",
                "the job `small`, whose output it reads, is skipped",
            ])
    }

    /// Jobs with the same destination and opposite conditions don't collide, because one is skipped.
    @Test func skippedJobsHaveNoDestination() throws {
        let batch = try Batch(
            "hdr: { asset: a.mp4, when: { video: { hdr: true } }, destination: o.mp4 }",
            "sdr: { asset: a.mp4, when: { not: { video: { hdr: true } } }, destination: o.mp4 }")
        let result = batch.plan()
        #expect(messages(result.conflicts) == [] && result.plan.jobs.map(\.id) == ["sdr"])
        let both = try Batch(
            "one: { asset: a.mp4, when: { video: { height: 720 } }, destination: o.mp4 }",
            "two: { asset: a.mp4, when: { video: { hdr: false } }, destination: o.mp4 }")
        #expect(messages(both.plan().conflicts) == ["two jobs have the destination /jobs/o.mp4"])
    }

    /// A condition on a file that doesn't exist yet is evaluated when the file exists.
    @Test func conditionsOnUnknownFactsArePostponed() throws {
        let batch = try Batch(
            "make: { asset: a.mp4, destination: b.mp4 }",
            "large: { asset: { job: make }, when: { size: { min: 2MB } }, destination: large.mp4 }")
        let plan = batch.plan(on: FakeDisk("/jobs/a.mp4", "/jobs/jobs.yaml")).plan
        #expect(plan.jobs.map(\.id) == ["make", "large"])
        #expect(
            plan.jobs[1].outputs[0].notes.first
                == "the job runs if its condition holds once the source exists: `size` is unknown (required: at least 2MB)"
        )
        let replanned = try BatchPlanner.replan(
            plan.jobs[1], in: batch.files, prober: batch.prober,
            disk: FakeDisk("/jobs/a.mp4", "/jobs/b.mp4", "/jobs/jobs.yaml"))
        guard case .skip(let reason) = replanned else { return #expect(Bool(false), "\(replanned)") }
        #expect(reason == "`size` is 1000000 bytes (required: at least 2MB)")
    }

    /// The values of a condition in a plan file are those that a job file can state.
    @Test(arguments: [
        (PublishCondition.Saving.share(20_000), true), (.share(100_000), false), (.share(.min), false),
        (.bytes(0), true), (.bytes(-1), false), (.bytes(.min), false),
    ])
    func conditionsOfPlanFilesAreValidated(_ saving: PublishCondition.Saving, isValid: Bool) throws {
        let batch = try Batch("one: { asset: a.mp4, publish_if: { smaller_by: 20% }, destination: o.mp4 }")
        var plan = try #require(batch.plan().plan.jobs.first)
        #expect(plan.isValid && plan.publishIf?.smallerBy == .share(20_000))
        plan.publishIf?.smallerBy = saving
        #expect(plan.isValid == isValid)
    }

    /// A guessed duration doesn't decide.
    @Test func durationsOfConditionsAreMeasured() throws {
        let guessed = SourceDescription.file(.video(), container: "mpegts") { $0.isDurationExact = false }
        let batch = try Batch(
            "long: { asset: a.ts, when: { duration: { min: 5s } }, destination: o.mp4 }",
            sources: ["a.ts": guessed])
        _ = batch.plan(on: FakeDisk("/jobs/a.ts", "/jobs/jobs.yaml"))
        #expect(batch.prober.requests.map(\.subject).contains(.description(.precise)))
    }

    /// A composition has an identity for each source; the notes are those of its own job.
    @Test func compositionsAreInputsOfTheirOwnJobs() throws {
        let encode = "tracks: [ { video: first, encode: { codec: h264, pixel_format: yuv444p } } ]"
        let batch = try Batch(
            "cut: { asset: a.mp4, destination: cut.mp4 }",
            "all: { composition: [ a.mp4, { job: cut } ], \(encode), destination: all.mp4 }",
            "other: { composition: [ a.mp4 ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: other.mp4 }"
        )
        let result = batch.plan()
        #expect(messages(result.diagnostics) == [])
        let jobs = result.plan.jobs
        guard jobs.count == 3, case .composition(let all, let identities) = jobs[1].inputs[0].source,
            case .composition(let other, _) = jobs[2].inputs[0].source
        else { return #expect(Bool(false), "\(jobs.map(\.id))") }
        #expect(identities.count == 2 && identities[0] != "" && identities[1] == "")
        #expect(jobs[1].inputs[0].awaited.map(\.job) == ["cut"])
        #expect(jobs[1].outputs[0].notes.contains { $0.hasPrefix("cut.mp4 is the output of the job cut") })
        // Only the output with full chroma is composed with it.
        #expect(all.canvas?.pixelFormat == .yuv444p && other.canvas?.pixelFormat == .yuv420p)
        #expect(jobs[2].inputs[0].awaited == [] && !jobs[2].outputs[0].notes.contains { $0.contains("cut") })
    }

    /// Help for a missing source names the job and the output that write it, unless it is the reader itself.
    @Test func missingSourcesHaveHelp() throws {
        let batch = try Batch(
            "first: { asset: a.mp4, destination: c.mp4 }", "late: { asset: c.mp4, destination: d.mp4 }",
            "several: { asset: a.mp4, outputs: { hd: { destination: hd.mp4 } } }",
            "later: { asset: hd.mp4, destination: e.mp4 }", "own: { asset: own.mp4, destination: own.mp4 }")
        let help = batch.plan().diagnostics.diagnostics.map(\.help)
        #expect(
            help == [
                "the job `first` writes this file; `asset: { job: first }` reads it after that job",
                "the job `several` writes this file; `asset: { job: several, output: hd }` reads it after that job",
                nil,
            ])
    }

    /// The output of another job that a job reads by its path exists after the first run. Help names the output.
    @Test func outputsOfEarlierRunsHaveHelp() throws {
        let batch = try Batch(
            "first: { asset: a.mp4, outputs: { hd: { destination: c.mp4 } } }",
            "late: { asset: c.mp4, destination: d.mp4 }",
            "own: { asset: own.mp4, destination: { path: own.mp4, if_exists: replace } }")
        var disk = FakeDisk("/jobs/a.mp4", "/jobs/c.mp4", "/jobs/own.mp4", "/jobs/jobs.yaml")
        for name in ["c", "own"] {
            disk.marks["/jobs/\(name).mp4"] = DestinationPath.Mark(
                output: "1", digest: "2", owner: "me", job: "first")
        }
        let found = batch.plan(on: disk).conflicts.diagnostics
        #expect(found.map(\.rule) == [.destinationIsSource, .destinationIsSource])
        #expect(
            found.map(\.help) == [
                "the file is an output of an earlier run; read it by `asset: { job: first, output: hd }`, and exclude outputs from patterns",
                nil,
            ])
    }

    private struct FakeMemory: PlanMemory {
        let current: [String: [BatchPlan.Output]]
        /// Identities of the files of jobs that are up to date.
        var files: [UpToDateOutputs.File] = []
        func upToDateOutputs(of query: UpToDateQuery) -> UpToDateOutputs? {
            current[query.job.id.value].map { UpToDateOutputs(outputs: $0, files: files) }
        }
        func owns(_ path: String, for file: String) -> Bool { false }
        func wasCreated(by task: OutputTask) -> Bool { false }
        func owner(ofFile path: String, at destination: String) -> String? { "me" }
    }

    /// The source of a job that is up to date isn't probed, but its output is, as the source of others.
    @Test func currentJobsAreNotPlanned() throws {
        let memory = FakeMemory(current: [
            "first": [BatchPlan.Output(id: nil, destination: "/jobs/b.mp4")]
        ])
        let batch = try Batch(
            "late: { asset: { job: first }, destination: late.mp4 }",
            "first: { asset: a.mp4, destination: b.mp4 }")
        let result = batch.plan(memory: memory)
        #expect(result.plan.jobs.map(\.id) == ["late"] && result.plan.upToDateJobs.map(\.id) == ["first"])
        #expect(batch.probed == ["b.mp4"] && messages(result.diagnostics) == [])
        guard case .file("/jobs/b.mp4", _) = result.plan.jobs[0].inputs[0].source else {
            return #expect(Bool(false), "\(result.plan.jobs[0].inputs[0].source)")
        }
    }

    /// The files of a job that is up to date were read to determine this; the checks of a call don't read them again,
    /// and compare them nevertheless.
    @Test func filesOfCurrentJobsAreReadOnce() throws {
        let batch = try Batch("first: { asset: a.mp4, destination: c.mp4 }")
        let disk = FakeDisk("/jobs/a.mp4", "/jobs/c.mp4", "/jobs/jobs.yaml")
        func plan(output inode: UInt64) -> [Rule] {
            let memory = FakeMemory(
                current: ["first": [BatchPlan.Output(id: nil, destination: "/jobs/c.mp4")]],
                files: [
                    .init(path: "/jobs/a.mp4", identity: FileIdentity(device: 1, inode: 1)),
                    .init(path: "/jobs/c.mp4", identity: FileIdentity(device: 1, inode: inode)),
                ])
            return batch.plan(on: disk, memory: memory).conflicts.diagnostics.map(\.rule)
        }
        #expect(plan(output: 2) == [])
        #expect(Set(disk.queries.paths) == ["/jobs", "/jobs/jobs.yaml"])
        #expect(plan(output: 1) == [.destinationIsSource])
    }

    /// A job is planned again once the output that it reads exists.
    @Test func jobsArePlannedAgain() throws {
        let batch = try Batch(
            "first: { asset: a.mp4, destination: b.mp4 }",
            "late: { asset: { job: first }, destination: late.mp4 }")
        let disk = FakeDisk("/jobs/a.mp4", "/jobs/jobs.yaml")
        let plan = try #require(batch.plan(on: disk).plan.jobs.last)
        let same = try BatchPlanner.replan(plan, in: batch.files, prober: batch.prober, disk: disk)
        #expect(same.plan == plan)
        // The destination of the reader exists by now; that isn't checked again.
        let later = FakeDisk("/jobs/b.mp4", "/jobs/late.mp4")
        let fresh = try #require(
            try BatchPlanner.replan(plan, in: batch.files, prober: batch.prober, disk: later).plan)
        guard case .file("/jobs/b.mp4", _) = fresh.inputs[0].source else {
            return #expect(Bool(false), "\(fresh.inputs[0].source)")
        }
        #expect(fresh.outputs[0].destination == plan.outputs[0].destination)
    }

    // MARK: Destinations

    /// Destinations are compared with links resolved.
    @Test(arguments: [
        ("o.mp4", "./o.mp4", "two jobs have the destination /jobs/o.mp4"),
        ("out/o.mp4", "link/o.mp4", "two jobs have the destination /jobs/out/o.mp4"),
        ("new/../o.mp4", "o.mp4", "two jobs have the destination /jobs/o.mp4"),
        (
            "o.mp4", "o.mp4/x/y.mp4",
            "the destination /jobs/o.mp4/x/y.mp4 is inside /jobs/o.mp4, which is the output file of one"
        ),
        ("o.mp4", "O.mp4", nil), ("x/o.mp4", "y/o.mp4", nil),
    ])
    func destinationsMustDiffer(_ first: String, _ second: String, _ message: String?) throws {
        var disk = FakeDisk("/jobs/a.mp4", folders: ["/jobs/out"])
        disk.links = ["/jobs/link": "/jobs/out"]
        let batch = try Batch(
            "one: { asset: a.mp4, destination: \(first) }", "two: { asset: a.mp4, destination: \(second) }")
        let result = batch.plan(on: disk)
        #expect(messages(result.conflicts) == (message.map { [$0] } ?? []))
        #expect(result.diagnostics.diagnostics.map(\.range.line) == (message == nil ? [] : [5]))
    }

    /// Files of image outputs collide with other outputs, but not with those of their own.
    @Test func imageFilesMustDiffer() throws {
        let batch = try Batch("one: { asset: a.mp4, destination: s-2.mp4 }")
        func images(_ name: String, _ paths: String...) -> ImageOutputFiles {
            ImageOutputFiles(
                job: JobKey(file: "/jobs/jobs.yaml", id: name), name: name,
                location: batch.files[0].jobs[0].id.range, paths: paths)
        }
        var table = DestinationTable(on: FakeDisk("/jobs/a.mp4"))
        let apart = [images("two", "/jobs/s-0.png", "/jobs/s-1.png"), images("two", "/jobs/s-1.png")]
        #expect(!CollisionCheck.errors(batch.files, images: apart, &table).sink.hasErrors)
        let taken = CollisionCheck.errors(
            batch.files, images: [images("two", "/jobs/s-2.mp4", "/jobs/s-2.mp4")], &table)
        #expect(messages(taken.sink) == ["two outputs have the destination /jobs/s-2.mp4"])
        #expect(
            taken.sink.diagnostics.first?.notes.map(\.message) == ["the other destination, of one, is here"])
        let both = CollisionCheck.errors(
            batch.files, images: apart + [images("three", "/jobs/./s-1.png")], &table)
        #expect(messages(both.sink) == ["two outputs have the destination /jobs/s-1.png"])
    }

    /// Sources and job files are recognized by device and inode.
    @Test(arguments: [
        ("a.mp4", "the destination is also a source, which is never overwritten: /jobs/a.mp4"),
        ("same.mp4", "the destination is also a source, which is never overwritten: /jobs/same.mp4"),
        ("jobs.yaml", "the destination is a job file: /jobs/jobs.yaml"), ("b.mp4", nil),
    ])
    func sourcesAreNotOverwritten(_ destination: String, _ message: String?) throws {
        var disk = FakeDisk("/jobs/a.mp4", "/jobs/b.mp4", "/jobs/jobs.yaml")
        disk.links = ["/jobs/same.mp4": "/jobs/a.mp4"]
        let batch = try Batch(
            "one: { asset: a.mp4, container: mp4, destination: { path: \(destination), if_exists: replace } }"
        )
        #expect(messages(batch.plan(on: disk).conflicts) == (message.map { [$0] } ?? []))
        // An existing destination that is a source is reported only as such.
        let plain = try Batch("one: { asset: a.mp4, container: mp4, destination: \(destination) }")
        let existing = "the destination exists, and Tandem did not publish it: /jobs/\(destination)"
        #expect(messages(plain.plan(on: disk).diagnostics) == [message ?? existing])
    }

    @Test(arguments: [
        ("o.mp4", ["the destination exists, and Tandem did not publish it: /jobs/o.mp4"]),
        ("{ path: o.mp4, if_exists: replace }", []), ("{ path: o.mp4, if_exists: skip }", []),
        ("mine.mp4", []),
        ("theirs.mp4", ["the destination was published for another job file: /jobs/theirs.mp4"]),
        ("{ path: out, if_exists: replace }", ["the destination /jobs/out is not a regular file"]),
        (
            ".tandem/x.mp4",
            [
                "the destination /jobs/.tandem/x.mp4 is inside a `.tandem` folder, which is reserved for the state of job files"
            ]
        ),
        ("fixed/x.mp4", ["the folder /jobs/fixed is not writable"]), ("new/x.mp4", []),
        (
            "{ path: new/x.mp4, make_directories: false }",
            ["the folder /jobs/new doesn't exist, and `make_directories` is false"]
        ),
        ("a.mp4/x.mp4", ["the parent of `a.mp4/x.mp4` is not a folder"]),
    ])
    func destinationsMustBeFree(_ destination: String, _ expected: [String]) throws {
        var disk = FakeDisk(
            "/jobs/a.mp4", "/jobs/o.mp4", "/jobs/mine.mp4", "/jobs/theirs.mp4",
            folders: ["/jobs/out", "/jobs/fixed"])
        disk.readOnly = ["/jobs/fixed"]
        for owner in ["mine", "theirs"] {
            disk.marks["/jobs/\(owner).mp4"] = DestinationPath.Mark(
                output: "1", digest: "2", owner: owner == "mine" ? "me" : "they", job: "one")
        }
        let batch = try Batch("one: { asset: a.mp4, container: mp4, destination: \(destination) }")
        let result = batch.plan(on: disk, memory: FakeMemory(current: [:]))
        #expect(messages(result.diagnostics) == expected)
        #expect(result.plan.jobs.count == (expected.isEmpty ? 1 : 0))
    }

    /// Outputs of a file system need its space together.
    @Test(arguments: [(nil, nil), (2_000_000, nil), (1_999_999, 4)] as [(Int64?, Int?)])
    func spaceIsNeededTogether(_ space: Int64?, _ line: Int?) throws {
        var disk = FakeDisk("/jobs/a.mp4", "/jobs/b.mp4")
        disk.space = space
        let batch = try Batch(
            "one: { asset: a.mp4, destination: 1.mp4 }", "two: { asset: b.mp4, destination: out/2.mp4 }")
        let warnings = batch.plan(on: disk).diagnostics.diagnostics
        #expect(warnings.map(\.range.line) == (line.map { [$0] } ?? []))
        #expect(warnings.allSatisfy { $0.severity == .warning && $0.rule == .lowSpace })
        if line != nil {
            #expect(
                warnings[0].message
                    == "the estimated size of the outputs is 2.0 MB, but only 2.0 MB are free in /jobs/out")
        }
    }
}

/// Destinations on a file system of values.
@Suite struct DestinationPathTests {
    @Test(arguments: [
        ("/a/b/x.mp4", "/a/b/x.mp4"), ("/l/x.mp4", "/a/b/x.mp4"), ("/a/new/er/x.mp4", "/a/new/er/x.mp4"),
        ("/a/new/../x.mp4", "/a/x.mp4"), ("/a/./b/.//x.mp4", "/a/b/x.mp4"), ("/x.mp4", "/x.mp4"),
        ("/a/f.mp4/x.mp4", nil), ("/", nil), ("/a/new/../../x.mp4", nil),
    ])
    func pathsAreResolved(_ path: String, _ expected: String?) {
        var disk = FakeDisk("/a/f.mp4", folders: ["/a/b"])
        disk.links = ["/l": "/a/b"]
        #expect(DestinationPath(path, on: disk)?.path == expected)
        var table = DestinationTable(on: disk)
        #expect(table.resolve(path)?.path == expected)
    }
}
