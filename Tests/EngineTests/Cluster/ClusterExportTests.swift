import FileSystem
import Foundation
import JobRun
import TestSupport
import Testing

@testable import Engine

/// Files for other programs that run the parts of a batch. `Tests/Cluster/check-exports` validates the expected files with the
/// schemas of these programs.
@Suite struct ClusterExportTests {
    /// Creates a submission in a folder, with a fixed name.
    private func submission(
        _ engine: ClusterEngineKind, _ parts: [Int], _ resources: ClusterResources, in batch: String,
        root: String? = "/data"
    ) throws -> (submission: Submission, folder: SubmissionFolder) {
        let command = try PartCommand(
            program: "/usr/bin/tandem", root: root, isUntrusted: false, allowsNetwork: true,
            workers: WorkerSettings(notify: { _ in }))
        var (submission, folder) = try SubmissionFolder.create(of: batch) {
            Submission(
                number: $0, engine: engine, parts: parts, resources: resources, command: command, host: "head"
            )
        }
        submission.name = "tandem-1x"
        return (submission, folder)
    }

    private func resources(claim: String? = nil) -> ClusterResources {
        var resources = ClusterResources()
        (resources.timeLimit, resources.processors, resources.memory) = ("4:00:00", 8, 4 << 30)
        if let claim {
            (resources.image, resources.concurrentParts) = ("registry.example/tandem:1.0", 50)
            resources.claims = [
                VolumeClaim(name: "media", path: claim), VolumeClaim(name: "in.put", path: "/in"),
            ].compactMap(\.self)
        }
        return resources
    }

    private func expectFile(_ text: String, _ name: String, in scratch: borrowing Scratch) throws {
        try expectGolden(
            text.replacing(scratch.path, with: "/shared"), TestPaths.repository + "/Tests/Cluster/\(name)")
    }

    /// Runs a script. Threads of Dispatch, which start the processes of tests, block signals, for which a shell waits.
    private func shell(_ arguments: [String]) throws -> ProgramResult {
        try program("timeout", ["60", "env", "--default-signal", "sh"] + arguments)
    }

    @Test func kubernetesJobIsWhole() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let (submission, folder) = try submission(
            .kubernetes, [0, 1, 5], resources(claim: scratch.path), in: scratch.path + "/a$b")
        let text = try KubernetesExport(user: 1000, group: 100).document(of: submission, in: folder)
        try expectFile(text, "kubernetes-job.json", in: scratch)
        #expect(folder.path.hasSuffix("/a$b/submissions/1"))
    }

    @Test func rootIsNotTheUserOfPods() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        var requested = resources(claim: scratch.path)
        (requested.processors, requested.memory, requested.timeLimit, requested.concurrentParts) = (
            nil, nil, nil, nil
        )
        let (submission, folder) = try submission(.kubernetes, [7], requested, in: scratch.path + "/b")
        let text = try KubernetesExport(user: 0, group: 0).document(of: submission, in: folder)
        try expectFile(text, "kubernetes-job-defaults.json", in: scratch)
    }

    @Test func foldersOutsideOfVolumesAreErrors() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let (submission, folder) = try submission(
            .kubernetes, [0], resources(claim: scratch.path + "/b"), in: scratch.path + "/batch")
        #expect(throws: EngineError.self) { try KubernetesExport().document(of: submission, in: folder) }
        #expect(VolumeClaim(name: "a", path: "/b/").map { $0.contains("/b/c") && $0.contains("/b") } == true)
        #expect(VolumeClaim(name: "a", path: "/b").map { $0.contains("/bc") || $0.contains("/") } == false)
    }

    @Test func jobTemplateIsWhole() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let (submission, folder) = try submission(.openjd, [0, 1, 5], resources(), in: scratch.path + "/b")
        let text = try OpenJobDescriptionExport().document(of: submission, in: folder)
        try expectFile(text, "openjd-template.json", in: scratch)
        for name in ["{{Job.Name}}", "a}}", "{{\u{301}"] {
            let (other, braces) = try self.submission(
                .openjd, [0], resources(), in: scratch.path + "/" + name)
            #expect(throws: EngineError.self) {
                try OpenJobDescriptionExport().document(of: other, in: braces)
            }
        }
    }

    /// Parts that read chunks are a step after that of the chunks. Tasks are positions in the list of parts.
    @Test func jobTemplateHasAStepForEachGroup() throws {
        let scratch = try Scratch()
        var (submission, folder) = try submission(
            .openjd, [1, 2, 3, 5, 7], resources(), in: scratch.path + "/b")
        submission.stages = PartStages(chunkParts: 3, joiningParts: 2)
        let text = try OpenJobDescriptionExport().document(of: submission, in: folder)
        let template = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let steps = try #require(template?["steps"] as? [[String: Any]])
        let ranges = steps.map { step in
            let space = step["parameterSpace"] as? [String: Any]
            return (space?["taskParameterDefinitions"] as? [[String: Any]])?.first?["range"] as? String
        }
        let dependencies = steps.map { step in
            (step["dependencies"] as? [[String: String]] ?? []).compactMap { $0["dependsOn"] }
        }
        #expect(steps.map { $0["name"] as? String } == ["Parts", "Parts2", "Parts3", "Collect"])
        #expect(ranges == ["0-1", "2-2", "3-4", nil])
        #expect(dependencies == [[], ["Parts"], [], ["Parts", "Parts2", "Parts3"]])
    }

    @Test func scriptsMapIndicesToParts() throws {
        let scratch = try Scratch()
        var (submission, folder) = try submission(
            .openjd, [2, 3, 17], resources(), in: scratch.path + "/a'b")
        submission.command.program = "/bin/echo"
        try PartScript.write(submission, in: folder, ignoresFailures: false)
        for (index, part) in [2, 3, 17].enumerated() {
            let run = try shell([folder.file(PartScript.name), "\(index)"])
            #expect(
                run.text
                    == "run --plan \(scratch.path)/a'b --quiet --root /data --allow-network --shard \(part)\n"
            )
        }
    }

    /// A part has ended if the same run would end in the same way; others are started again.
    @Test(arguments: [
        (0, 0, 0, true), (1, 1, 0, true), (3, 3, 3, true), (5, 5, 0, true), (4, 4, 4, false),
        (137, 137, 137, false),
    ])
    func endsOfPartsAreRecorded(_ status: Int, _ expected: Int, _ ignoring: Int, isEnd: Bool) throws {
        let scratch = try Scratch()
        try scratch.write("#!/bin/sh\nexit \(status)\n", to: "program")
        chmod(scratch.file("program"), 0o755)
        for ignoresFailures in [false, true] {
            var (submission, folder) = try submission(.openjd, [9], resources(), in: scratch.path + "/b")
            submission.command.program = scratch.file("program")
            try PartScript.write(submission, in: folder, ignoresFailures: ignoresFailures)
            let run = try shell([folder.file(PartScript.name), "0"])
            #expect(run.status == (ignoresFailures ? ignoring : expected))
            #expect(PartScript.endedParts(in: folder) == (isEnd ? [9] : []))
        }
    }

    /// SIGTERM, by which engines end a part, reaches the program; the part hasn't ended.
    @Test func signalsReachTheProgram() throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            #!/bin/sh
            trap 'exit 143' TERM
            echo > "$0.started"
            while :; do sleep 0.05; done
            """, to: "program")
        chmod(scratch.file("program"), 0o755)
        var (submission, folder) = try submission(
            .kubernetes, [4], resources(claim: scratch.path), in: scratch.path + "/b")
        submission.command.program = scratch.file("program")
        try PartScript.write(submission, in: folder, ignoresFailures: false)
        let script = """
            sh "$1" 0 & pid=$!
            until [ -e "$2.started" ]; do kill -0 $pid || exit 99; done
            kill -TERM $pid; wait $pid; echo $?
            """
        let run = try shell(["-c", script, "sh", folder.file(PartScript.name), scratch.file("program")])
        #expect(run.text == "143\n" && PartScript.endedParts(in: folder).isEmpty, "\(run.text) \(run.errors)")
    }

    @Test func timeLimitsAreReadAsInSlurm() {
        let values = [
            "90": 5400, "1:30": 90, "4:00:00": 14_400, "1-0": 86_400, "2-12:30": 217_800,
            "1-00:00:05": 86_405,
        ]
        for (text, seconds) in values {
            #expect(ClusterResources.seconds(ofTime: text) == seconds, "\(text)")
        }
        for text in [
            "", "0", "1:2:3:4", "-1", "1-", "1--2", "a", "1:", "1-2:3:4:5", "1234567", "1:1-2", "+1", "١",
            "999999-0",
        ] {
            #expect(ClusterResources.seconds(ofTime: text) == nil, "\(text)")
        }
    }

    @Test func claimsHaveANameAndAPath() {
        #expect(VolumeClaim("media-1.a:/srv/media")?.path == "/srv/media")
        for text in [
            "", "media", "media:", "media:x", ":/x", "-a:/x", "A:/x", "a:/", "a:/x/../y", "a:/x:y", "a b:/x",
            "a:/tmp", "a://tmp/", "a..b:/x", "a-.b:/x",
        ] {
            #expect(VolumeClaim(text) == nil, "\(text)")
        }
    }

    /// Options that an engine doesn't have, and those that it requires, are errors.
    @Test func resourcesSuitTheEngine() {
        var requested = ClusterResources()
        #expect(requested.problem(with: .kubernetes) == "--engine kubernetes requires --image")
        #expect(requested.problem(with: .openjd) == nil && requested.problem(with: .local) == nil)
        requested.image = "tandem"
        #expect(requested.problem(with: .kubernetes) == "--engine kubernetes requires --claim")
        requested.claims = ["a:/x", "b:/x/"].compactMap { VolumeClaim($0) }
        #expect(requested.problem(with: .kubernetes) == "--claim: two volumes have the same path")
        requested.claims = nil
        #expect(requested.problem(with: .slurm) == "--image can't be combined with --engine slurm")
        requested = ClusterResources()
        requested.concurrentParts = 2
        #expect(requested.problem(with: .openjd) == "--concurrent can't be combined with --engine openjd")
        requested.partition = "x"
        #expect(requested.problem(with: .local) == "--partition can't be combined with --engine local")
    }
}
