import FileSystem
import Foundation
import JobPlan
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Orders to workers, without a worker: messages, attached descriptors and the assignments that they begin.
@Suite struct OrderEncodingTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns the contents of the files that descriptors refer to.
    private func contents(_ descriptors: [Int32]) -> [String] {
        descriptors.map { descriptor in
            String(
                decoding: FileManager.default.contents(atPath: "/proc/self/fd/\(descriptor)") ?? Data(),
                as: UTF8.self)
        }
    }

    // MARK: Probes

    @Test func probe_attachesALocalSource() throws {
        let path = try scratch.write("one", to: "a.mp4")
        var encoding = OrderEncoding(root: .anywhere)
        defer { encoding.closeFiles() }
        guard case .probe(let probe) = try encoding.probe(ProbeRequest(path: path, subject: .cover)) else {
            throw ProgramError(message: "no probe")
        }
        #expect(probe.hasDescriptor && contents(encoding.descriptors) == ["one"])
    }

    @Test func probe_ofARemoteSource_attachesNoFile() throws {
        var encoding = OrderEncoding(root: .anywhere)
        let request = ProbeRequest(path: "https://example.com/a.mp4", subject: .cover)
        guard case .probe(let probe) = try encoding.probe(request) else {
            throw ProgramError(message: "no probe")
        }
        #expect(!probe.hasDescriptor && encoding.descriptors == [])
    }

    @Test func probe_ofAMissingFile_throws() throws {
        var encoding = OrderEncoding(root: .anywhere)
        let problem = #expect(throws: SourceProblem.self) {
            try encoding.probe(ProbeRequest(path: scratch.file("none.mp4"), subject: .cover))
        }
        #expect(problem?.isMissing == true && encoding.descriptors == [])
    }

    // MARK: Requested files

    @Test func images_startAtTheRequestedFile() throws {
        let paths = try (0..<20).map { try scratch.write("\($0)", to: "\($0).png") }
        var encoding = OrderEncoding(root: .anywhere)
        defer { encoding.closeFiles() }
        let position = WorkerMessage.ImageIndex(sequence: 0, index: 2)
        guard case .images(position, count: 16)? = encoding.images(from: position, of: [.listed(paths)])
        else {
            throw ProgramError(message: "no images")
        }
        #expect(contents(encoding.descriptors) == (2..<18).map { "\($0)" })
    }

    @Test func images_stopAtAMissingFile() throws {
        let paths = [try scratch.write("0", to: "0.png"), scratch.file("none.png")]
        var encoding = OrderEncoding(root: .anywhere)
        defer { encoding.closeFiles() }
        let first = WorkerMessage.ImageIndex(sequence: 0, index: 0)
        guard case .images(first, count: 1)? = encoding.images(from: first, of: [.listed(paths)]) else {
            throw ProgramError(message: "no images")
        }
    }

    @Test(arguments: [(1, 0), (-1, 0), (0, 1), (0, -1), (0, 1 << 40)])
    func images_outsideOfTheTask_areRejected(_ sequence: Int, _ index: Int) throws {
        let path = try scratch.write("0", to: "0.png")
        var encoding = OrderEncoding(root: .anywhere)
        let position = WorkerMessage.ImageIndex(sequence: sequence, index: index)
        #expect(encoding.images(from: position, of: [.listed([path])]) == nil)
        #expect(encoding.descriptors == [])
    }

    // MARK: Assignments

    private func text(_ ending: WorkerAssignment.Ending) -> String {
        switch ending {
        case .cancelled: "cancelled"
        case .died(let why, let byItself): "died: \(why), \(byItself)"
        case .done(.finished(let findings)):
            "done: \(findings.outputs.flatMap { $0.preview?.problems ?? [] })"
        default: "other"
        }
    }

    @Test func deathOfAWorker_endsItsTask() {
        var assignment = WorkerAssignment(sandboxTest: { _ in })
        #expect(text(assignment.endingAfterDeath("signal 6", byItself: true)) == "died: signal 6, true")
        // Only the preview is missing.
        assignment.findings = WorkFindings(outputs: [OutputFindings()])
        #expect(
            text(assignment.endingAfterDeath("signal 6", byItself: true))
                == #"done: ["the worker died while it inspected the output: signal 6"]"#)
        assignment.isCancelled = true
        #expect(text(assignment.endingAfterDeath("signal 6", byItself: false)) == "cancelled")
    }

    @Test func limits_dependOnTheTask() {
        var limits = WorkerLimits()
        let probe = WorkerAssignment(
            ProbeRequest(path: "a.mp4", subject: .description(.precise)), limits: limits, completion: { _ in }
        )
        #expect(probe.exceededLimit(of: limits) == nil)
        limits.trialTimeout = -1
        #expect(probe.exceededLimit(of: limits) == nil)
        limits.probeStallTimeout = -1
        #expect(probe.exceededLimit(of: limits) == "it made no progress for 0 s")
        #expect(
            WorkerAssignment(sandboxTest: { _ in }).exceededLimit(of: limits) == "it made no progress for 0 s"
        )
    }
}
