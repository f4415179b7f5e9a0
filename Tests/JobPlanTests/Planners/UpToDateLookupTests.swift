import Diagnostics
import ExactStrings
import FileSystem
import JobSpec
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// The lookup of jobs that needn't be planned, with a memory of values.
@Suite struct UpToDateLookupTests {
    private static let disk = FakeDisk("/jobs/a.mp4", "/jobs/b.mp4")

    /// A memory in which the named jobs are up to date, each with one output that has its name.
    private func memory(_ names: String...) -> PlannerMemory {
        PlannerMemory(upToDate: { query in
            let name = query.job.id.value
            guard names.contains(name) else { return nil }
            return UpToDateOutputs(
                outputs: [BatchPlan.Output(id: nil, destination: "/out/\(name).mp4")],
                files: [.init(path: "/out/\(name).mp4", identity: FileIdentity(device: 1, inode: 2))])
        })
    }

    /// Returns each query as its job, its source, covers and outputs.
    private func texts(_ queries: [UpToDateQuery]) -> [String] {
        queries.map { query in
            let outputs = query.outputs.map {
                "\($0.id ?? "-")=\($0.destination ?? "-")\($0.hasSeveralFiles ? " several" : "")"
            }
            return ([query.job.id.value, query.source ?? "-"] + query.covers + outputs).joined(separator: " ")
        }
    }

    /// Only local files are looked up ahead. Those whose jobs must be planned are probed.
    @Test func fetch_returnsTheFilesToProbe() throws {
        let snippet = try JobFileSnippet(
            "current: { asset: a.mp4, destination: 1.mp4 }", "old: { asset: a.mp4, destination: 2.mp4 }",
            "slow: { asset: { path: b.mp4, timing: precise }, destination: 3.mp4 }",
            "signal: { asset: { pattern: smpte, duration: 1s }, destination: 4.mkv, tracks: [ { video: first, encode: { codec: h264 } } ] }",
            "reader: { asset: { job: old }, destination: 5.mp4 }",
            "template: { asset: \"in/*.mp4\", destination: \"6-${asset.stem}.mp4\" }",
            "lost: { asset: a.mp4, destination: a.mp4/7.mp4 }",
            "remote: { asset: { url: \"https://example.com/a.mp4\" }, destination: 8.mp4 }")
        let memory = memory("current")
        var lookup = UpToDateLookup(memory)
        var table = DestinationTable(on: Self.disk)
        let wanted = lookup.fetch([snippet.file], destinations: &table)
        #expect(wanted.map { "\($0.path) \($0.timing)" } == ["/jobs/a.mp4 fast", "/jobs/b.mp4 precise"])
        #expect(
            texts(memory.queries).sorted() == [
                "current /jobs/a.mp4 -=/jobs/1.mp4", "old /jobs/a.mp4 -=/jobs/2.mp4",
                "slow /jobs/b.mp4 -=/jobs/3.mp4",
            ])
        #expect(lookup.identities == ["/out/current.mp4".exact: FileIdentity(device: 1, inode: 2)])
        // Fetched results aren't requested again, and are known only for their own file.
        let jobs = try ["current", "old"].map(snippet.job)
        let results = jobs.map {
            lookup.result(of: $0, in: snippet.file, at: 0, after: PlannedJobs(), &table)?.outputs.map(
                \.destination)
        }
        #expect(results == [["/out/current.mp4"], nil] && memory.queries.count == 3)
        let other = lookup.result(of: jobs[0], in: snippet.file, at: 1, after: PlannedJobs(), &table)
        #expect(other?.file == "/jobs/jobs.yaml" && memory.queries.count == 4)
    }

    /// Lookups run in parallel in parts of 64. Results belong to their jobs nevertheless.
    @Test(arguments: [0, 1, 64, 65, 200])
    func fetch_ofManyJobs_keepsTheirOrder(_ count: Int) throws {
        let yaml =
            "version: 1\ndefaults: { tracks: [ { video: first, copy: true } ] }\njobs:\n"
            + (0..<max(1, count)).map { "  j\($0): { asset: \($0).mp4, destination: o/\($0).mp4 }\n" }
            .joined()
        var file = try #require(decode(yaml, directory: "/jobs").file)
        if count == 0 { file.jobs = [] }
        let memory = PlannerMemory(upToDate: { query in
            let name = query.job.id.value
            return name.hasSuffix("7") ? UpToDateOutputs(outputs: [.init(id: name, destination: name)]) : nil
        })
        var lookup = UpToDateLookup(memory)
        var table = DestinationTable(on: FakeDisk(folders: ["/jobs"]))
        let wanted = lookup.fetch([file], destinations: &table)
        let numbers = (0..<count).filter { $0 % 10 != 7 }
        #expect(wanted.map(\.path) == numbers.map { "/jobs/\($0).mp4" })
        for (index, job) in file.jobs.enumerated() {
            let found = lookup.result(of: job, in: file, at: 0, after: PlannedJobs(), &table)
            #expect(found?.outputs.map(\.id) == (index % 10 == 7 ? ["j\(index)"] : nil))
        }
        #expect(memory.queries.count == count)
    }

    /// A job that reads the output of another job can only be up to date if that job is.
    @Test func reader_ofAnotherJob_dependsOnIt() throws {
        let snippet = try JobFileSnippet(
            "first: { asset: a.mp4, outputs: { hd: { destination: 1.mp4 }, sd: { destination: 2.mp4 } } }",
            "reader: { asset: { job: first, output: sd }, destination: 3.mp4 }")
        let memory = memory("reader")
        let lookup = UpToDateLookup(memory)
        var table = DestinationTable(on: Self.disk)
        let reader = try snippet.job("reader")
        let early = lookup.result(of: reader, in: snippet.file, at: 0, after: PlannedJobs(), &table)
        #expect(early == nil && memory.queries.isEmpty)
        var planned = PlannedJobs()
        let outputs = [
            BatchPlan.Output(id: "hd", destination: "/jobs/1.mp4"),
            BatchPlan.Output(id: "sd", destination: "/jobs/2.mp4"),
        ]
        planned.add(
            upToDate: BatchPlan.UpToDateJob(
                id: "first", base: "first", file: snippet.file.path, outputs: outputs),
            at: JobOrder.Entry(file: 0, job: 0))
        let late = lookup.result(of: reader, in: snippet.file, at: 0, after: planned, &table)
        #expect(late?.id == "reader" && texts(memory.queries) == ["reader /jobs/2.mp4 -=/jobs/3.mp4"])
        // Jobs of another file don't count.
        #expect(lookup.result(of: reader, in: snippet.file, at: 1, after: planned, &table) == nil)
    }

    /// The identities of images, compositions and remote files are known only after they are resolved.
    @Test(arguments: [
        ("asset: { pattern: smpte, duration: 1s }", "one - -=/jobs/1.mkv"),
        ("asset: { images: \"x-%d.png\", frame_rate: 25 }", nil),
        ("asset: { image: x.png, duration: 1s }", nil), ("composition: [ a.mp4, b.mp4 ]", nil),
        ("asset: { url: \"https://example.com/a.mp4\" }", nil),
    ])
    func asset_withoutIdentity_isPlanned(_ asset: String, _ query: String?) throws {
        let snippet = try JobFileSnippet(
            "one: { \(asset), tracks: [ { video: first, encode: { codec: h264 } } ], destination: 1.mkv }")
        let memory = memory("one")
        var table = DestinationTable(on: Self.disk)
        let lookup = UpToDateLookup(memory)
        let job = snippet.file.jobs[0]
        let found = lookup.result(of: job, in: snippet.file, at: 0, after: PlannedJobs(), &table)
        #expect((found != nil) == (query != nil))
        #expect(texts(memory.queries) == (query.map { [$0] } ?? []))
    }

    /// Queries name covers, each output, and whether the source determines the files of an output.
    @Test func query_describesAllOutputs() throws {
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, outputs: { a: { metadata: { cover: c.png }, destination: new/1.mp4 }, b: { images: { every: 1s }, destination: \"s-${image.number}.png\" }, c: { images: { every: 1s, sheet: { columns: 2, index: vtt } }, destination: s.png }, d: { images: { at: 1s }, destination: d.png } } }",
            "checked: { asset: a.mp4, check: true }")
        let memory = memory()
        var lookup = UpToDateLookup(memory)
        var table = DestinationTable(on: Self.disk)
        _ = lookup.fetch([snippet.file], destinations: &table)
        #expect(
            texts(memory.queries) == [
                "one /jobs/a.mp4 /jobs/c.png a=/jobs/new/1.mp4 b=/jobs/s-${image.number}.png several c=/jobs/s.png several d=/jobs/d.png",
                "checked /jobs/a.mp4 -=-",
            ])
    }
}
