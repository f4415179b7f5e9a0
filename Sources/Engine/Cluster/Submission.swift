internal import FoundationEssentials
package import JobRun

/// A submission of some parts of a batch to an engine, as recorded in the batch's folder.
package struct Submission: Codable, Sendable {
    /// Type of the record; always `tandem-submission`.
    package var kind = Self.kind
    /// Version of the record's format.
    package var version = 1
    /// Index of the submission in its folder, from 1.
    package var number: Int
    package var engine: ClusterEngineKind
    /// Unique name, by which the engine knows the submission. It is recorded before the parts are submitted, so that each
    /// part that runs belongs to a recorded submission.
    package var name: String
    /// Name of the machine that submitted the parts.
    package var host: String
    /// Indices of the parts, in increasing order.
    package var parts: [Int]
    /// Parts that encode chunks, and those that begin after them; nil in a batch without them.
    package var stages: PartStages?
    package var resources: ClusterResources
    package var command: PartCommand
    /// Time of the submission, in seconds since 1970.
    package var begun: Double

    /// Maximum number of restarts of a part, so that a job that is longer than the time limit doesn't run forever.
    static let maxRestarts = 20

    private static let kind = "tandem-submission"

    /// Creates a submission with a unique name.
    init(
        number: Int, engine: ClusterEngineKind, parts: [Int], stages: PartStages = PartStages(),
        resources: ClusterResources, command: PartCommand, host: String
    ) {
        self.stages = stages == PartStages() ? nil : stages
        self.number = number
        self.engine = engine
        self.parts = parts
        self.resources = resources
        self.command = command
        self.host = host
        name = Self.prefix + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        begun = Date().timeIntervalSince1970
    }

    private static let prefix = "tandem-"
    /// Digits of the number after the prefix, whose radix is 36.
    private static let digits = Set("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

    /// Whether the record can be used. It comes from a folder that others may write to.
    func isValid(partCount: Int) -> Bool {
        let number = name.dropFirst(Self.prefix.count).utf8
        return kind == Self.kind && version == 1
            && (1...SubmissionFolder.maxSubmissions).contains(self.number)
            && name.hasPrefix(Self.prefix) && (1...20).contains(number.count)
            && number.allSatisfy { Self.digits.contains($0) }
            && !parts.isEmpty && parts.allSatisfy { (0..<partCount).contains($0) }
            && zip(parts, parts.dropFirst()).allSatisfy { $0 < $1 }
            && stages?.isValid(partCount: partCount) != false && host.utf8.count <= 255
            && (0...1e12).contains(begun) && resources.problem(with: engine) == nil && command.isValid
    }

    /// The parts in groups, each of which is not empty. A group begins after the first one if `isDelayed`.
    var groups: [(parts: [Int], isDelayed: Bool)] {
        let (chunks, joining, others) = (stages ?? PartStages()).divide(parts)
        // An engine limits the parts that run at once in each group.
        if resources.concurrentParts != nil, !chunks.isEmpty {
            return [(chunks, false), (joining + others, true)].filter { !$0.0.isEmpty }
        }
        return [(chunks, false), (joining, !chunks.isEmpty), (others, false)].filter { !$0.0.isEmpty }
    }

    /// Returns parts as ranges, such as `0-3,7`, in Slurm's notation.
    package static func ranges(of parts: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for part in parts {
            if let last = ranges.last, last.upperBound + 1 == part {
                ranges[ranges.count - 1] = last.lowerBound...part
            } else {
                ranges.append(part...part)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ",")
    }
}
