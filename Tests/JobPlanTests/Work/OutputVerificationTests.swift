import FileSystem
import JobSpec
import LibAV
import Publishing
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// The reasons for which a finished file is rejected, with the output's id if the job has several.
@Suite struct OutputVerificationTests {
    private func verification(
        of file: TemporaryFile, _ track: TrackPlan, id: String? = nil
    ) throws -> OutputVerification {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }")
        var output = OutputPlan.planned(track)
        output.id = id
        let input = InputPlan(job: snippet.job, ResolvedInput(.file, .file(.video())), PlannedExtent())
        return OutputVerification(
            task: OutputTask(job: "one", file: "jobs.yaml", input: input, output: output), file: file,
            environment: MediaEnvironment(), isCancelled: { false })
    }

    private func report(packets: Int) -> TrackReport {
        var report = TrackReport(samples: packets, end: .zero, damage: DamageTally.Count())
        report.writtenPackets = packets
        return report
    }

    private func reason(_ verification: OutputVerification, _ reports: [TrackReport]) -> String? {
        let failure = #expect(throws: JobFailure.self) {
            _ = try verification.verified(OutputVerification.Written(reports: reports))
        }
        return failure?.message
    }

    @Test(arguments: [(nil, ""), ("hd", "output hd: ")] as [(String?, String)])
    func fileThatIsNoMedia_cantBeReadBack(_ id: String?, _ prefix: String) throws {
        let scratch = try Scratch()
        let file = try TemporaryFile(destination: scratch.file("o.mp4"), in: .anywhere)
        try Array("no media".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        let reason = try #require(
            reason(try verification(of: file, .planned(.video()), id: id), [report(packets: 1)]))
        #expect(reason.hasPrefix(prefix + "the finished output can't be read back: "), "\(reason)")
    }

    /// Some muxers write a file without any packet, which other programs can't open.
    @Test func subtitlesWithoutEvents_areRejected() throws {
        let scratch = try Scratch()
        let file = try TemporaryFile(destination: scratch.file("o.srt"), in: .anywhere)
        let verification = try verification(of: file, .planned(.other(0, .subtitle)))
        #expect(reason(verification, [report(packets: 0)]) == "the output has no subtitle event")
    }
}
