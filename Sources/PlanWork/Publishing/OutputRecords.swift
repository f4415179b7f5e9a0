internal import JobSpec
package import JobPlan
internal import LibAV
package import Publishing
package import Streaming
internal import FileSystem
internal import ExactStrings

/// The records of published outputs, from which a job's executor determines what is up to date, and to which it adds its
/// own outputs.
package protocol OutputRecords: Sendable {
    /// Whether all outputs count as out of date.
    var isForced: Bool { get }
    /// Returns the digest of an output's plan, and how the existing files relate to it.
    func relation(of task: OutputTask) -> (digest: PlanDigest?, relation: PlanDigest.Relation)
    /// Returns the duration of an output's last success in seconds; nil if it was never created.
    func seconds(of task: OutputTask) -> Double?
    /// Returns whether a file without a mark was published for a job file.
    func owns(_ path: String, for file: String) -> Bool
    /// Returns the renditions of the package at the destination that the plan would create again, by id.
    func reusableRenditions(of task: OutputTask) -> [String: StreamingRendition]

    /// Transfers an output that the same plan created for another job to this job.
    func adopt(_ task: OutputTask)
    /// Records that an output is about to be published, on file systems without marks.
    func recordIntent(_ task: OutputTask, output: String, digest: PlanDigest?) throws
    /// Records that an output was published, or is up to date.
    func succeeded(_ task: OutputTask, digest: PlanDigest, seconds: Double)
    /// Records that all files of an output were published, or are up to date.
    func succeeded(whole task: OutputTask)
    /// Records the renditions of a published package.
    func published(_ renditions: [StreamingRendition], of task: OutputTask, output: String)
    /// Records that an existing output meets its current expectations.
    func expectationsMet(_ task: OutputTask, _ digest: PlanDigest)
    /// Returns the reason why an earlier run declined the output of a job, which therefore isn't created again; nil for any
    /// other job.
    func declinedOutput(of plan: JobPlan) -> String?
    /// Records that the output of a job was created with some size in bytes, and not published.
    func declined(_ task: OutputTask, digest: PlanDigest, size: Int64)
    /// Records that a source passed a check.
    func passed(_ task: OutputTask, digest: PlanDigest, seconds: Double)
    /// Records that a source failed a check.
    func failed(check task: OutputTask)
}

extension DestinationPath.Mark {
    /// Digest of the plan that created the output; nil for an output that failed its expectations.
    package var planDigest: DigestValue? { digest.map { DigestValue($0) } }

    /// Returns the mark of an output's file; nil if the mark belongs to another part, which was moved to this path.
    package static func of(_ task: OutputTask) -> DestinationPath.Mark? {
        task.output.destination.flatMap { DestinationPath.mark(at: $0) }.flatMap {
            OutputName($0.job).part == task.part ? $0 : nil
        }
    }

    /// Returns the owner that the mark of an output contains: a digest of the relative path from the output's folder to
    /// the job file. It stays valid if the whole tree is moved or copied.
    package static func owner(_ file: String, at destination: String) -> String {
        let own = RealPath.absolute(file: file).pathParts
        let folder = destination.pathParts.dropLast()
        let common = zip(own.dropLast(), folder).prefix { $0.utf8.elementsEqual($1.utf8) }.count
        let relativePath = [String](repeating: "..", count: folder.count - common) + own[common...]
        return ContentDigest.of(relativePath.joined(separator: "/").utf8)
    }
}
