import FileSystem
import Foundation
import JobRun
import TestSupport
import Testing

@testable import Engine

/// The texts that are passed to Slurm's commands and that they print. `scripts/test-cluster` runs a real cluster.
@Suite struct SlurmEngineTests {
    private func order(
        _ parts: [Int], _ resources: ClusterResources = ClusterResources()
    ) throws -> Submission {
        Submission(
            number: 1, engine: .slurm, parts: parts, resources: resources,
            command: try PartCommand(
                program: "/opt/it's/tandem", root: "/data", isUntrusted: false, allowsNetwork: true,
                workers: WorkerSettings(notify: { _ in })), host: "head")
    }

    @Test func arrayHasTheRequestedResources() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        var resources = ClusterResources()
        (resources.partition, resources.account, resources.timeLimit) = ("long", "media", "4:00:00")
        (resources.processors, resources.memory, resources.concurrentParts) = (8, 4 << 30, 50)
        let requested = try order([0, 1, 2, 7, 9, 10], resources)
        let (submission, folder) = try SubmissionFolder.create(of: scratch.path + "/50%\u{301}") { _ in
            requested
        }
        #expect(
            SlurmEngine.arrayOptions(submission, submission.parts, in: folder) == [
                "--parsable", "--job-name=\(submission.name)",
                "--output=\(scratch.path)/50%%\u{301}/submissions/1/logs/%a.txt", "--open-mode=append",
                "--partition=long",
                "--account=media", "--array=0-2,7,9-10%50", "--requeue", "--signal=B:TERM@60",
                "--time=4:00:00",
                "--cpus-per-task=8", "--mem=4194304K", "\(scratch.path)/50%\u{301}/submissions/1/part.sh",
            ])
    }

    /// Parts that read chunks begin after those that encode them; other parts wait for none.
    @Test func groupsOfPartsAreSeparateArrays() throws {
        let scratch = try Scratch()
        var submission = try order([1, 2, 3, 5, 7])
        #expect(submission.groups.map(\.parts) == [[1, 2, 3, 5, 7]] && !submission.groups[0].isDelayed)
        submission.stages = PartStages(chunkParts: 3, joiningParts: 2)
        #expect(submission.groups.map(\.parts) == [[1, 2], [3], [5, 7]])
        #expect(submission.groups.map(\.isDelayed) == [false, true, false])
        let (_, folder) = try SubmissionFolder.create(of: scratch.path) { [submission] _ in submission }
        let options = SlurmEngine.arrayOptions(submission, [3], after: 42, in: folder)
        #expect(options.contains("--array=3") && options.contains("--dependency=afterany:42"))
        // With a limit of parts at once, which applies to each array, two arrays don't run at the same time.
        var limited = submission
        limited.resources.concurrentParts = 5
        #expect(
            limited.groups.map(\.parts) == [[1, 2], [3, 5, 7]]
                && limited.groups.map(\.isDelayed) == [false, true])
        // Without parts that encode chunks, nothing is awaited.
        submission.parts = [4]
        #expect(submission.groups.map(\.parts) == [[4]] && !submission.groups[0].isDelayed)
        for (chunks, joining) in [(4, 5), (-1, 1), (3, 0), (0, 3), (9, 1)] {
            #expect(!PartStages(chunkParts: chunks, joiningParts: joining).isValid(partCount: 8))
        }
    }

    @Test func scriptsQuoteWords() throws {
        let script = SlurmEngine.partScript(try order([0]).command.run("/shared/a b"))
        #expect(
            script.contains(
                #"'/opt/it'\''s/tandem' 'run' '--plan' '/shared/a b' '--quiet' '--root' '/data' '--allow-network' --shard "$SLURM_ARRAY_TASK_ID" &"#
            ), "\(script)")
        let words = ["a'b", "'\u{301}$(x)", "'\u{fe0f}", "", "$(x)", "`y`", "\"", "\\", "*", "-n"]
        let printed = try program("sh", ["-c", "printf '%s|' " + ShellScript.line(words)])
        #expect(printed.text == words.map { $0 + "|" }.joined())
    }

    @Test func printedTextsAreRead() {
        #expect(SlurmEngine.id(in: "123\n") == 123 && SlurmEngine.id(in: "45;cluster\n") == 45)
        #expect(SlurmEngine.id(in: "") == nil && SlurmEngine.id(in: "error") == nil)
        #expect(SlurmEngine.maxArraySize(in: "A = 1\nMaxArraySize            = 10001\nB = 2\n") == 10_001)
        #expect(SlurmEngine.maxArraySize(in: "MaxArraySize = x\n") == 1001)
        let states = SlurmEngine.states(
            in: """
                3 PENDING Resources
                4 RUNNING None
                5 COMPLETING None
                6 REQUEUE_HOLD launch failed requeued held
                N/A PENDING Dependency
                7
                """)
        #expect(
            states == [
                3: .waiting(reason: "Resources"), 4: .running, 5: .running,
                6: .waiting(reason: "launch failed requeued held"),
            ])
    }

    /// Records in a shared folder aren't trusted: none can add an option to a command line.
    @Test func damagedRecordsAreErrors() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let written = try order([0, 2])
        let (_, folder) = try SubmissionFolder.create(of: scratch.path) { _ in written }
        #expect(try SubmissionFolder.all(of: scratch.path, beneath: .anywhere, partCount: 3).count == 1)
        #expect(throws: EngineError.self) {
            try SubmissionFolder.all(of: scratch.path, beneath: .anywhere, partCount: 2)
        }
        let record = try String(contentsOfFile: folder.file("submission.json"), encoding: .utf8)
        for (from, to) in [
            ("\"name\" : \"tandem-", "\"name\" : \"-"), ("\"parts\" : [\n    0", "\"parts\" : [\n    3"),
            ("\"resources\" : {", "\"resources\" : {\"partition\": \"-x\","),
            ("\"resources\" : {", "\"resources\" : {\"time_limit\": \"1 --wrap=x\","),
            ("\"program\" : \"/opt", "\"program\" : \"opt"), ("\"number\" : 1", "\"number\" : 2"),
            ("\"version\" : 1", "\"version\" : 2"), ("\"engine\" : \"slurm\"", "\"engine\" : \"lsf\""),
        ] {
            #expect(record.contains(from), "\(from): \(record)")
            try record.replacingOccurrences(of: from, with: to).write(
                toFile: folder.file("submission.json"), atomically: true, encoding: .utf8)
            #expect(throws: EngineError.self, "\(to)") {
                try SubmissionFolder.all(of: scratch.path, beneath: .anywhere, partCount: 3)
            }
        }
    }

    /// A record names the program that a resubmission starts, so that of another user is an error.
    @Test(.enabled(if: geteuid() == 0, "changing owners requires root")) func recordsOfOtherUsersAreErrors()
        throws
    {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let written = try order([0])
        let (_, folder) = try SubmissionFolder.create(of: scratch.path) { _ in written }
        #expect(chown(folder.file("submission.json"), 65534, 65534) == 0)
        #expect(throws: EngineError.self) {
            try SubmissionFolder.all(of: scratch.path, beneath: .anywhere, partCount: 1)
        }
    }

    @Test func invalidResourcesAreUsageErrors() {
        func problem(_ change: (inout ClusterResources) -> Void) -> String? {
            var resources = ClusterResources()
            change(&resources)
            return resources.problem
        }
        #expect(problem { _ in } == nil)
        #expect(problem { $0.partition = "a,b-c_1.x" } == nil)
        #expect(problem { $0.partition = "-x" } == "--partition must be the name of a partition")
        #expect(problem { $0.account = "a b" } == "--account must be the name of an account")
        #expect(
            problem { $0.timeLimit = "soon" }
                == "--time must be a time limit such as 90 (minutes), 4:00:00 or 2-12:00:00")
        #expect(problem { $0.processors = 0 } == "--cpus must be from 1 to 4096")
        #expect(problem { $0.memory = 1 } == "--memory must be a size such as 4GB, at least 16 MiB")
        #expect(problem { $0.concurrentParts = 0 } == "--concurrent must be from 1 to 100000")
    }

    @Test func statusNamesReasons() {
        var status = ClusterBatch.Status()
        (status.parts, status.running, status.waiting) = (9, 2, ["Resources": 3, "None": 1])
        #expect(status.line == "9 parts: 3 ended, 2 running, 4 waiting (Resources: 3)" && !status.isOver)
    }
}
