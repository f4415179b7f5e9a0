import Foundation
import TestSupport
import Testing

/// Batches in parts that processes on this machine run; `scripts/test-cluster` runs them on Slurm.
@Suite struct SubmitTests {
    private func tandem(_ arguments: [String], in scratch: borrowing Scratch) throws -> ProgramResult {
        try program(TestPaths.tandem, arguments, directory: scratch.path)
    }

    private func batch(seconds: Int = 1) throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            """
            version: 1
            assets: { tone: { pattern: black, size: 64x64, frame_rate: 25, duration: \(seconds)s } }
            jobs:
              one: { asset: tone, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: out/1.mkv }
              two: { asset: tone, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: out/2.mkv }
              three: { asset: tone, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: out/3.mkv }
            """, to: "jobs.yaml")
        return scratch
    }

    @Test func missingJobsAreSubmittedAgain() throws {
        let scratch = try batch()
        let submitted = try tandem(
            [
                "submit", "jobs.yaml", "--engine", "local", "--out", "batch", "--shards", "3", "--concurrent",
                "2",
            ],
            in: scratch)
        #expect(submitted.status == 0, "\(submitted.errors)")
        #expect(submitted.errors.hasPrefix("submission 1: 3 parts on this machine\n"), "\(submitted.errors)")
        #expect(submitted.errors.hasSuffix("3 parts: 3 ended, 0 running, 0 waiting\n3 of 3 jobs done\n"))
        #expect(FileManager.default.fileExists(atPath: scratch.file("batch/report.html")))
        let status = try tandem(["status", "batch"], in: scratch)
        #expect(status.text == "3 parts: 3 ended, 0 running, 0 waiting\n3 of 3 jobs done\n")
        let json = try tandem(["status", "batch", "--format", "json"], in: scratch)
        let report = try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [String: Any]
        let keys = ["parts", "ended", "running", "waiting", "unknown", "jobs", "done"]
        let counts = keys.map { report?[$0] as? Int }
        #expect(counts == [3, 3, 0, 0, 0, 3, 3] && report?["reasons"] as? [String] == [], "\(json.text)")
        #expect(try tandem(["resubmit", "batch"], in: scratch).errors.hasPrefix("nothing to submit: "))
        try FileManager.default.removeItem(atPath: scratch.file("out/2.mkv"))
        let again = try tandem(["resubmit", "batch"], in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.errors.hasPrefix("submission 2: 1 part on this machine\n"), "\(again.errors)")
        #expect(again.errors.hasSuffix("3 of 3 jobs done\n"), "\(again.errors)")
    }

    /// A cancelled batch publishes nothing more, and its processes end.
    @Test func cancelledPartsEnd() async throws {
        let scratch = try batch(seconds: 20_000)
        let submitted = try tandem(
            ["submit", "jobs.yaml", "--engine", "local", "--out", "batch", "--detach", "--shards", "3"],
            in: scratch)
        #expect(submitted.status == 0, "\(submitted.errors)")
        var status = ""
        repeat {
            status = try tandem(["status", "batch"], in: scratch).text
        } while !status.contains(" 1 running")
        #expect(status == "3 parts: 0 ended, 1 running, 2 waiting\n0 of 3 jobs done\n")
        #expect(
            try tandem(["resubmit", "batch", "--detach"], in: scratch).errors.hasPrefix("nothing to submit: ")
        )
        #expect(try tandem(["cancel", "batch"], in: scratch).status == 0)
        let followed = try tandem(["status", "--follow", "batch"], in: scratch)
        #expect(followed.status == 1 && followed.errors.hasSuffix("0 of 3 jobs done\n"), "\(followed.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out/1.mkv")))
    }

    @Test(arguments: [
        (["submit", "jobs.yaml", "--engine", "local", "--out", "s3://x/y"], "--out"),
        (
            ["submit", "jobs.yaml", "--engine", "local", "--out", "b", "--partition", "x"],
            "--partition can't be combined with --engine local"
        ),
        (
            ["submit", "jobs.yaml", "--engine", "kubernetes", "--out", "b", "--image", "tandem"],
            "--engine kubernetes requires --claim"
        ),
        (
            [
                "submit", "jobs.yaml", "--engine", "kubernetes", "--out", "b", "--image", "tandem", "--claim",
                "media",
            ], "--claim"
        ),
        (
            ["submit", "jobs.yaml", "--engine", "slurm", "--out", "b", "--time", "soon"],
            "--time must be a time limit"
        ),
        (["submit", "jobs.yaml", "--engine", "lsf", "--out", "b"], "lsf"),
        (["submit", "--engine", "local", "--out", "b"], "no job file given"),
        (
            ["submit", "jobs.yaml", "--engine", "local", "--out", ""],
            "--out must be the path of a new folder"
        ),
        (
            ["submit", "jobs.yaml", "--engine", "local", "--out", "b", "--program", "tandem"],
            "--program must be an absolute path"
        ),
    ])
    func wrongUsage(_ arguments: [String], _ message: String) throws {
        let scratch = try batch()
        let result = try tandem(arguments, in: scratch)
        #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("b")))
    }

    /// Parts that another program runs: the file that describes them is written, and the state is known by the results.
    @Test func exportedPartsHaveAnUnknownState() throws {
        let scratch = try batch()
        let engine = [
            "--engine", "kubernetes", "--image", "tandem:1", "--claim", "media:\(scratch.path)", "--program",
            TestPaths.tandem,
        ]
        let submitted = try tandem(
            ["submit", "jobs.yaml", "--out", "batch", "--shards", "3"] + engine, in: scratch)
        #expect(submitted.status == 0, "\(submitted.errors)")
        let file = "\(scratch.path)/batch/submissions/1/job.json"
        #expect(
            submitted.errors == """
                submission 1: 3 parts for Kubernetes; start them: kubectl create --filename \(file)
                print the state: tandem status batch

                """)
        let job =
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
        let spec = job?["spec"] as? [String: Any]
        #expect(spec?["completions"] as? Int == 3 && spec?["parallelism"] as? Int == 3)
        func runPart(_ index: Int, of submission: Int) throws {
            let script = "\(scratch.path)/batch/submissions/\(submission)/part.sh"
            // Threads of Dispatch block signals, for which a shell waits.
            let run = try program(
                "timeout", ["60", "env", "--default-signal", "sh", script, "\(index)"])
            #expect(run.status == 0)
        }
        try runPart(1, of: 1)
        let status = try tandem(["status", "batch"], in: scratch)
        #expect(
            status.text == "3 parts: 1 ended, 0 running, 0 waiting, 2 not ended\n1 of 3 jobs done\n")
        let cancelled = try tandem(["cancel", "batch"], in: scratch)
        #expect(cancelled.status == 4 && cancelled.errors.contains("kubectl delete --filename \(file)"))
        let again = try tandem(["resubmit", "batch"], in: scratch)
        #expect(
            again.status == 0 && again.errors.hasPrefix("submission 2: 2 parts for Kubernetes;"),
            "\(again.errors)")
        let other = try tandem(["cancel", "batch"], in: scratch)
        #expect(
            other.status == 4
                && other.errors.hasPrefix("error: submission 2 must be cancelled in Kubernetes: "),
            "\(other.errors)")
        try runPart(0, of: 2)
        try runPart(1, of: 2)
        #expect(try tandem(["cancel", "batch"], in: scratch).status == 0)
        let followed = try tandem(["status", "--follow", "batch"], in: scratch)
        #expect(followed.status == 0 && followed.errors.hasSuffix("3 of 3 jobs done\n"), "\(followed.errors)")
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == ["out/1.mkv", "out/2.mkv", "out/3.mkv"])

        let outside = try tandem(
            [
                "submit", "jobs.yaml", "--out", "other", "--engine", "kubernetes", "--image", "t", "--claim",
                "m:/media",
            ],
            in: scratch)
        #expect(
            outside.status == 64 && outside.errors.contains("no --claim has a path that contains the folder"))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("other")))
    }

    /// The parts use the cache of the submission, whose path is relative to its folder.
    @Test func partsUseTheCache() throws {
        let (scratch, other) = (try batch(), try batch())
        _ = try tandem(["run", "jobs.yaml", "--cache", "cache"], in: scratch)
        let stored = scratch.contents.filter { $0.hasPrefix("cache/v1/") }
        try FileManager.default.copyItem(atPath: scratch.file("cache"), toPath: other.file("cache"))
        let result = try tandem(
            ["submit", "jobs.yaml", "--cache", "cache", "--engine", "local", "--out", "batch"], in: other)
        #expect(result.status == 0, "\(result.errors)")
        #expect(!stored.isEmpty && other.contents.filter { $0.hasPrefix("cache/v1/") } == stored)
        let report = try String(contentsOfFile: other.file("batch/report.json"), encoding: .utf8)
        #expect(report.contains("\"cached\" : true"))
    }

    /// A batch of untrusted job files runs beneath the root that was in effect when it was planned.
    @Test func partsOfUntrustedFilesHaveARoot() throws {
        let scratch = try batch()
        let result = try tandem(
            ["submit", "jobs.yaml", "--untrusted", "--engine", "local", "--out", "batch"], in: scratch)
        #expect(result.status == 0 && result.errors.hasSuffix("3 of 3 jobs done\n"), "\(result.errors)")
    }

    /// A folder outside the root is refused before anything is written.
    @Test func foldersOutsideTheRootAreErrors() throws {
        let scratch = try batch()
        let result = try tandem(
            ["submit", "jobs.yaml", "--root", ".", "--engine", "local", "--out", "../outside"], in: scratch)
        #expect(
            result.status == 4 && result.errors.contains("is outside the root folder"), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("../outside")))
    }

    /// A job that can't be planned stays missing: `resubmit` fails although there is nothing to submit.
    @Test func jobsThatCannotBePlannedStayMissing() throws {
        let scratch = try batch()
        let text = try String(contentsOfFile: scratch.file("jobs.yaml"), encoding: .utf8)
        try scratch.write(
            text
                + "\n  four: { asset: ./none.wav, tracks: [ { audio: first, copy: true } ], destination: out/4.wav }\n",
            to: "jobs.yaml")
        let submitted = try tandem(
            ["submit", "jobs.yaml", "--engine", "local", "--out", "batch"], in: scratch)
        #expect(
            submitted.status == 1 && submitted.errors.hasSuffix("3 of 4 jobs done\n"), "\(submitted.errors)")
        let again = try tandem(["resubmit", "batch"], in: scratch)
        #expect(again.status == 1 && again.errors.hasPrefix("nothing to submit: "), "\(again.errors)")
    }

    @Test func foldersWithoutBatchAreErrors() throws {
        let scratch = try batch()
        for command in ["status", "cancel", "resubmit"] {
            let result = try tandem([command, "nothing"], in: scratch)
            #expect(
                result.status == 3 && result.errors.contains("is not a plan in parts"), "\(result.errors)")
        }
        #expect(
            try tandem(["plan", "--shards", "1", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        let result = try tandem(["status", "parts"], in: scratch)
        #expect(result.status == 3 && result.errors.contains("has no submission"), "\(result.errors)")
        // Job files with errors create no folder.
        try scratch.write("version: 1\njobs: { a: { asset: ./none.wav } }", to: "wrong.yaml")
        let wrong = try tandem(["submit", "wrong.yaml", "--engine", "local", "--out", "b"], in: scratch)
        #expect(wrong.status == 3 && !FileManager.default.fileExists(atPath: scratch.file("b")))
    }
}
