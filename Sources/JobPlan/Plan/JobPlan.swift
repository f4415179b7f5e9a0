public import Diagnostics
internal import ExactStrings
public import JobSpec
internal import LibAV
public import Media
public import FileSystem

/// Everything that will happen to one job: a value. Printing it is `tandem plan`; a run carries it out and
/// decides nothing anew.
public struct JobPlan: Codable, Hashable, Sendable {
    /// The job's id.
    public var id: String
    /// The job's id as the file has it, without what tells this run from its others.
    public var base: String
    /// Jobs that must have succeeded first, by the ids that the file has.
    public var needs: [String]
    /// The job file as the user named it.
    public var file: String
    /// The job's place in the file.
    public var location: SourceRange
    /// What is read: outputs that read the same of it share one.
    public var inputs: [InputPlan]
    /// What is made, in the file's order.
    public var outputs: [OutputPlan]
    /// How a run treats it.
    public var scheduling: JobScheduling
}

extension JobPlan {
    /// Each output with what it is made of.
    public var tasks: [OutputTask] {
        outputs.map { OutputTask(job: id, file: file, input: inputs[$0.input], output: $0) }
    }

    /// Adds an output. Outputs that read the same have one input.
    mutating func add(_ output: OutputPlan, madeOf input: InputPlan) {
        var output = output
        if let known = inputs.firstIndex(of: input) {
            output.input = known
        } else {
            output.input = inputs.count
            inputs.append(input)
        }
        outputs.append(output)
    }

    /// All its inputs and outputs refer to each other as they should: asked of a plan that comes from outside.
    public var isSound: Bool {
        !inputs.isEmpty && !outputs.isEmpty && outputs.allSatisfy { inputs.indices.contains($0.input) }
            && Set(outputs.map(\.id)).count == outputs.count
    }

    /// The same job with some of its outputs alone, and what they are made of.
    public func only(_ isWanted: (OutputPlan) -> Bool) -> JobPlan {
        var plan = self
        plan.outputs = outputs.filter(isWanted)
        let used = inputs.indices.filter { index in plan.outputs.contains { $0.input == index } }
        plan.inputs = used.map { inputs[$0] }
        for index in plan.outputs.indices {
            plan.outputs[index].input = used.firstIndex(of: plan.outputs[index].input) ?? 0
        }
        return plan
    }

    /// Ids of jobs whose outputs it reads.
    public var readJobs: Set<String> {
        Set(inputs.compactMap { if case .job(let id, _) = $0.source { id } else { nil } })
    }

    /// Paths and URLs of the files that it reads, each once.
    public var sourcePaths: [String] {
        var paths: [String] = []
        for input in inputs {
            guard case .file(let path, _) = input.source, !paths.contains(where: { $0.exact == path.exact })
            else { continue }
            paths.append(path)
        }
        return paths
    }

    /// Those of them that lie on this machine.
    public var localSources: [String] { sourcePaths.filter { !SourceLocation.isRemote($0) } }

    /// Local files that it reads, as they were.
    public var sourceFiles: [FileIdentity] {
        inputs.compactMap { if case .file(_, let identity) = $0.source { identity } else { nil } }
    }

    /// What is read, for people.
    public var sourceName: String {
        var names: [String] = []
        for input in inputs where !names.contains(input.sourceName) { names.append(input.sourceName) }
        return names.joined(separator: ", ")
    }

    /// The same work without what is there for people: a short message to whoever does it.
    public var bare: JobPlan {
        var plan = self
        plan.inputs = inputs.map(\.bare)
        plan.outputs = outputs.map(\.bare)
        return plan
    }

    /// How long its longest output will be.
    public var expectedDuration: MediaTime { outputs.map(\.expectedDuration).max() ?? .zero }

    /// Bytes that encoders note between two passes, at most; they lie beside the state, not at the destination.
    public var expectedNotes: Int64 { SizeEstimate.notes(of: outputs.flatMap(\.tracks)) }

    /// One of its tracks is looked at once before it is encoded.
    public var hasTwoPasses: Bool { outputs.contains(where: \.hasTwoPasses) }
}
