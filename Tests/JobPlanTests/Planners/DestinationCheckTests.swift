import Diagnostics
import FileSystem
import JobSpec
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// The check of one destination, on a file system of values.
@Suite struct DestinationCheckTests {
    /// Returns the errors of a destination of the job file, and those about its owner for an output that is planned.
    private func check(
        _ destination: String, kind: DestinationPath.Kind = .file, on disk: FakeDisk,
        memory: PlannerMemory = PlannerMemory(), root: PathRoot = .anywhere, sources: [String] = []
    ) throws -> (errors: [String], owner: [String], helps: [String?]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true }", "container: mp4", to: destination)
        let written = try #require(snippet.output.destination)
        let path = try #require(
            DestinationPath(
                written.path.value.hasPrefix("/") ? written.path.value : "/jobs/" + written.path.value,
                on: disk))
        let check = DestinationCheck(
            memory: memory, root: root, disk: disk,
            overwrites: SourceOverwriteCheck(
                [], sources: sources.map { ($0, snippet.job.id.range) }, on: disk))
        var (sink, owners) = (DiagnosticSink(), DiagnosticSink())
        check.check(path, as: written, of: "/jobs/jobs.yaml", kind: kind, into: &sink)
        let task = OutputTask(
            job: "one", file: "/jobs/jobs.yaml",
            input: InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent()),
            output: .media([], of: snippet))
        check.checkOwner(of: task, at: path, as: written, into: &owners)
        return (snippet.messages(sink), snippet.messages(owners), sink.diagnostics.map(\.help))
    }

    private static func mark(_ owner: String) -> DestinationPath.Mark {
        DestinationPath.Mark(output: "1", digest: "2", owner: owner, job: "one")
    }

    @Test(arguments: ["o.mp4", "new/folder/o.mp4", "/o.mp4", "../o.mp4", ".tandem", "x.tandem/o.mp4"])
    func destination_thatIsFree_isAccepted(_ destination: String) throws {
        let found = try check(destination, on: FakeDisk("/jobs/a.mp4"))
        #expect(found.errors == [] && found.owner == [])
    }

    /// A destination outside of the root isn't described further, although a file exists there.
    @Test(arguments: [
        ("/usr/o.mp4", true), ("/usr/new/o.mp4", true), ("/jobs/o.mp4", false), ("/usrx/o.mp4", false),
        ("/usr/../jobs/o.mp4", false),
    ])
    func destination_outsideOfTheRoot_isRefused(_ destination: String, _ isInside: Bool) throws {
        let root = try #require(PathRoot(folder: "/usr"))
        let disk = FakeDisk("/jobs/o.mp4", "/usrx/o.mp4", folders: ["/usr"])
        let path = try #require(DestinationPath(destination, on: disk)).path
        #expect(
            try check(destination, on: disk, root: root).errors
                == (isInside
                    ? []
                    : [
                        "destination-unwritable at \(destination): the destination \(path) is outside of the `--root` /usr"
                    ]))
    }

    @Test(arguments: [".tandem/o.mp4", "x/.tandem/y/o.mp4"])
    func destination_inStateFolder_isRefused(_ destination: String) throws {
        #expect(
            try check(destination, on: FakeDisk("/jobs/.tandem/o.mp4")).errors == [
                "destination-unwritable at \(destination): the destination /jobs/\(destination) is inside a `.tandem` folder, which is reserved for the state of job files"
            ])
    }

    /// Files and folders of another kind than the output are never replaced.
    @Test(arguments: ["fail", "replace", "skip"])
    func destination_ofAnotherKind_isRefused(_ ifExists: String) throws {
        let disk = FakeDisk("/jobs/f.mp4", folders: ["/jobs/d"])
        #expect(
            try check("{ path: d, if_exists: \(ifExists) }", on: disk).errors == [
                "destination-exists at d: the destination /jobs/d is not a regular file"
            ])
        #expect(
            try check("{ path: f.mp4, if_exists: \(ifExists) }", kind: .folder, on: disk).errors == [
                "destination-exists at f.mp4: the destination /jobs/f.mp4 is not a folder"
            ])
    }

    @Test func file_withoutMark_isKeptUnlessItMayBeReplaced() throws {
        var disk = FakeDisk("/jobs/o.mp4")
        let message =
            "destination-exists at o.mp4: the destination exists, and Tandem did not publish it: /jobs/o.mp4"
        let found = try check("o.mp4", on: disk)
        #expect(found.errors == [message] && found.owner == [])
        #expect(
            found.helps == [
                "`destination: { path: …, if_exists: replace }` replaces it, `skip` keeps it; `tandem accept` makes it the job's output"
            ])
        for ifExists in ["replace", "skip"] {
            #expect(try check("{ path: o.mp4, if_exists: \(ifExists) }", on: disk).errors == [])
        }
        // On file systems without marks, the state contains the published files.
        #expect(try check("o.mp4", on: disk, memory: PlannerMemory(owned: ["/jobs/o.mp4"])).errors == [])
        #expect(
            try check("o.mp4", on: disk, memory: PlannerMemory(owned: ["/jobs/other.mp4"])).errors == [
                message
            ])
        // `SourceOverwriteCheck` reports a source.
        #expect(try check("o.mp4", on: disk, sources: ["/jobs/o.mp4"]).errors == [])
        disk.changed = ["/jobs/o.mp4"]
        #expect(
            try check("o.mp4", on: disk).errors == [
                "destination-exists at o.mp4: the destination was changed since Tandem published it: /jobs/o.mp4"
            ])
    }

    /// The output of another job file is accepted until the plan is known, and then only if an equal plan created it.
    @Test func file_ofAnotherJobFile_isRefusedForAnotherPlan() throws {
        var disk = FakeDisk("/jobs/o.mp4")
        disk.marks = ["/jobs/o.mp4": Self.mark("they")]
        let found = try check("o.mp4", on: disk)
        #expect(found.errors == [])
        #expect(
            found.owner == [
                "destination-exists at o.mp4: the destination was published for another job file: /jobs/o.mp4"
            ])
        #expect(try check("o.mp4", on: disk, memory: PlannerMemory(created: ["one"])).owner == [])
        #expect(try check("o.mp4", on: disk, memory: PlannerMemory(comparesMarks: false)).owner == [])
        #expect(try check("{ path: o.mp4, if_exists: replace }", on: disk).owner == [])
        disk.marks = ["/jobs/o.mp4": Self.mark(PlannerMemory.owner)]
        let own = try check("o.mp4", on: disk)
        #expect(own.errors == [] && own.owner == [])
    }

    /// A folder that Tandem did not publish may contain anything, so that not even `replace` removes it.
    @Test func folder_withoutMark_isNeverReplaced() throws {
        let disk = FakeDisk("/jobs/p/x.txt", folders: ["/jobs/empty"])
        for ifExists in ["fail", "replace"] {
            #expect(
                try check("{ path: p, if_exists: \(ifExists) }", kind: .folder, on: disk).errors == [
                    "destination-exists at p: the folder /jobs/p exists, and Tandem did not publish it; a package needs a folder of its own"
                ])
        }
        #expect(try check("{ path: p, if_exists: skip }", kind: .folder, on: disk).errors == [])
        #expect(
            try check("p", kind: .folder, on: disk, memory: PlannerMemory(owned: ["/jobs/p"])).errors == [])
        #expect(try check("empty", kind: .folder, on: disk).errors == [])
    }

    /// A package that was changed after its publication is replaced only on request.
    @Test func folder_thatWasChanged_isReplacedOnRequest() throws {
        var disk = FakeDisk("/jobs/p/x.m4s")
        disk.changed = ["/jobs/p"]
        #expect(
            try check("p", kind: .folder, on: disk).errors == [
                "destination-exists at p: the destination was changed since Tandem published it: /jobs/p"
            ])
        #expect(try check("{ path: p, if_exists: replace }", kind: .folder, on: disk).errors == [])
    }

    @Test func folderOfDestination_mustExistOrBeCreated() throws {
        var disk = FakeDisk("/jobs/a.mp4", folders: ["/jobs/fixed"])
        disk.readOnly = ["/jobs/fixed"]
        let missing =
            "destination-unwritable at fixed/new/o.mp4: the folder /jobs/fixed/new doesn't exist, and `make_directories` is false"
        #expect(
            try check("{ path: fixed/new/o.mp4, make_directories: false }", on: disk).errors == [missing])
        #expect(try check("{ path: o.mp4, make_directories: false }", on: disk).errors == [])
        // The deepest existing folder is the one in which the others are created.
        for path in ["fixed/o.mp4", "fixed/new/er/o.mp4"] {
            #expect(
                try check(path, on: disk).errors == [
                    "destination-unwritable at \(path): the folder /jobs/fixed is not writable"
                ])
        }
    }
}
