import Diagnostics
import ExactStrings
import FileSystem
import JobSpec
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// The check for destinations that are read, on a file system of values.
@Suite struct SourceOverwriteCheckTests {
    private static let disk = FakeDisk(
        "/jobs/a.mp4", "/jobs/o.mp4", "/jobs/in/b.mp4", "/jobs/jobs.yaml", "/jobs/more.yaml")

    private func check(
        _ snippet: JobFileSnippet, images: [String] = [], on disk: FakeDisk = disk,
        known: [ExactString: FileIdentity] = [:], with others: [JobFile] = []
    ) -> DiagnosticSink {
        let files = [snippet.file] + others
        var finder = SourceFinder()
        let check = SourceOverwriteCheck(
            files, sources: finder.files(of: files), known: known, on: disk)
        var table = DestinationTable(on: disk)
        let job = snippet.file.jobs[0]
        let written =
            images.isEmpty
            ? []
            : [
                ImageOutputFiles(
                    job: JobKey(file: snippet.file.path, id: job.id.value), name: job.id.value,
                    location: job.id.range, paths: images)
            ]
        return check.errors(files, images: written, &table).sink
    }

    @Test func destination_thatNoJobReads_isAccepted() throws {
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, destination: o.mp4 }", "two: { asset: in/b.mp4, destination: new/b.mp4 }")
        #expect(check(snippet).diagnostics.isEmpty)
    }

    /// The source of any job is protected, with a note about where it is read.
    @Test func destination_thatAnotherJobReads_isRefused() throws {
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, destination: o.mp4 }", "two: { asset: o.mp4, destination: a.mp4 }")
        let sink = check(snippet)
        #expect(
            snippet.messages(sink) == [
                "destination-is-source at o.mp4: the destination is also a source, which is never overwritten: /jobs/o.mp4",
                "destination-is-source at a.mp4: the destination is also a source, which is never overwritten: /jobs/a.mp4",
            ])
        let notes = sink.diagnostics.flatMap(\.notes)
        #expect(notes.map(\.message) == ["the source is here", "the source is here"])
        #expect(notes.compactMap(\.range).map(\.line) == [5, 4])
        #expect(sink.diagnostics.map(\.help) == [nil, nil])
    }

    /// Covers, and sources of compositions, are sources.
    @Test(arguments: [
        "one: { asset: a.mp4, metadata: { cover: o.mp4 }, destination: o.mp4 }",
        "one: { composition: [ a.mp4, o.mp4 ], tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mp4 }",
        "one: { asset: { image: o.mp4, duration: 1s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: o.mp4 }",
    ])
    func destination_thatIsPartOfASource_isRefused(_ job: String) throws {
        let snippet = try JobFileSnippet(job)
        #expect(snippet.findings(check(snippet)) == ["destination-is-source at o.mp4"])
    }

    /// Hard and symbolic links lead to the same device and inode; equal inodes of other devices don't.
    @Test func files_areComparedByIdentity() throws {
        let snippet = try JobFileSnippet("one: { asset: a.mp4, destination: o.mp4 }")
        func found(device: UInt64) -> [String] {
            snippet.findings(
                check(
                    snippet,
                    known: [
                        "/jobs/a.mp4".exact: FileIdentity(device: 1, inode: 7),
                        "/jobs/o.mp4".exact: FileIdentity(device: device, inode: 7, size: 9),
                    ]))
        }
        #expect(found(device: 1) == ["destination-is-source at o.mp4"])
        #expect(found(device: 2) == [])
        var disk = Self.disk
        disk.links = ["/jobs/link": "/jobs/in"]
        let linked = try JobFileSnippet("one: { asset: in/b.mp4, destination: link/b.mp4 }")
        #expect(linked.findings(check(linked, on: disk)) == ["destination-is-source at link/b.mp4"])
    }

    /// Job files of the whole call are protected. A job file that is also a source is reported as both.
    @Test func destination_thatIsAJobFile_isRefused() throws {
        let more = try JobFileSnippet(
            "two: { asset: a.mp4, destination: o.mp4 }", file: "/jobs/more.yaml"
        ).file
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, container: mp4, destination: more.yaml }",
            "own: { asset: jobs.yaml, container: mp4, destination: jobs.yaml }")
        #expect(
            snippet.messages(check(snippet, with: [more])) == [
                "destination-is-source at more.yaml: the destination is a job file: /jobs/more.yaml",
                "destination-is-source at jobs.yaml: the destination is a job file: /jobs/jobs.yaml",
                "destination-is-source at jobs.yaml: the destination is also a source, which is never overwritten: /jobs/jobs.yaml",
            ])
        #expect(
            snippet.findings(check(snippet)) == [
                "destination-is-source at jobs.yaml", "destination-is-source at jobs.yaml",
            ])
    }

    /// Files whose names depend on the source are reported at the output's destination.
    @Test func imageFiles_thatAreSources_areRefused() throws {
        let snippet = try JobFileSnippet("one: { asset: a.mp4, destination: new.mp4 }")
        #expect(check(snippet, images: ["/jobs/s-1.png"]).diagnostics.isEmpty)
        let sink = check(snippet, images: ["/jobs/s-1.png", "/jobs/a.mp4"])
        #expect(snippet.findings(sink) == ["destination-is-source at one"])
    }

    /// Publishing a package replaces its folder with everything in it.
    @Test func packageFolder_thatContainsASource_isRefused() throws {
        let keys = "outputs: { hd: { tracks: [ { video: first, encode: { codec: h264 } } ] } }"
        func found(_ asset: String, _ folder: String) throws -> [String] {
            let snippet = try JobFileSnippet(
                "one: { asset: \(asset), \(keys), package: { destination: \(folder) } }")
            var disk = Self.disk
            disk.add("/jobs/in/sub/c.mp4")
            disk.links = ["/jobs/link": "/jobs/in"]
            return snippet.messages(check(snippet, on: disk))
        }
        #expect(try found("in/b.mp4", "out") == [])
        // The name of a folder may be the start of another name.
        #expect(try found("in/b.mp4", "i") == [])
        #expect(
            try found("link/b.mp4", "in") == [
                "destination-is-source at in: the folder /jobs/in contains a source, and would be replaced: /jobs/in/b.mp4"
            ])
        #expect(
            try found("in/sub/c.mp4", "link/sub") == [
                "destination-is-source at link/sub: the folder /jobs/in/sub contains a source, and would be replaced: /jobs/in/sub/c.mp4"
            ])
        #expect(
            try found("/x.mp4", "/jobs") == [
                "destination-is-source at /jobs: the folder /jobs contains a job file, and would be replaced: /jobs/jobs.yaml"
            ])
    }

    /// The output of an earlier run that another job reads by its path has help, which depends on the number of files.
    @Test func output_thatAnotherJobReadsByItsPath_hasHelp() throws {
        var disk = Self.disk
        disk.marks = [
            "/jobs/o.mp4": DestinationPath.Mark(output: "1", digest: "2", owner: "me", job: "one")
        ]
        let snippet = try JobFileSnippet(
            "one: { asset: a.mp4, outputs: { hd: { destination: o.mp4 } } }",
            "two: { asset: o.mp4, destination: new.mp4 }")
        let more = try JobFileSnippet("x: { asset: a.mp4, destination: x.mp4 }", file: "/jobs/more.yaml").file
        #expect(
            check(snippet, on: disk).diagnostics.map(\.help) == [
                "the file is an output of an earlier run; read it by `asset: { job: one, output: hd }`, and exclude outputs from patterns"
            ])
        #expect(
            check(snippet, on: disk, with: [more]).diagnostics.map(\.help) == [
                "the file is an output of an earlier run; exclude outputs from patterns, and read the output of a job of the same file by `asset: { job: NAME }`"
            ])
        let own = try JobFileSnippet("one: { asset: o.mp4, destination: o.mp4 }")
        #expect(check(own, on: disk).diagnostics.map(\.help) == [nil])
    }

    @Test func reports_isTrueForSourcesAndJobFiles() throws {
        let snippet = try JobFileSnippet("one: { asset: a.mp4, destination: new.mp4 }")
        var finder = SourceFinder()
        let check = SourceOverwriteCheck(
            [snippet.file], sources: finder.files(of: [snippet.file]), on: Self.disk)
        #expect(check.reports("/jobs/a.mp4") && check.reports("/jobs/jobs.yaml"))
        #expect(!check.reports("/jobs/o.mp4") && !check.reports("/jobs/missing.mp4"))
    }
}
