package import Diagnostics
internal import ExactStrings
package import JobSpec
internal import LibAV
public import Media

/// Everything that will happen to one job: a value. Printing it is `tandem plan`; a run carries it out and
/// decides nothing anew.
public struct JobPlan: Codable, Hashable, Sendable {
    /// The job's id.
    public var id: String
    /// The job's id as the file has it, without what tells this run from its others.
    package var base: String
    /// Jobs that must have succeeded first, by the ids that the file has.
    package var needs: [String]
    /// The job file as the user named it.
    public var file: String
    /// The job's place in the file.
    package var location: SourceRange
    /// What is read: outputs that read the same of it share one.
    package var inputs: [InputPlan]
    /// What is made, in the file's order.
    public var outputs: [OutputPlan]
    /// How a run treats it.
    package var scheduling: JobScheduling
}

extension JobPlan {
    /// Each output with what it is made of.
    package var tasks: [OutputTask] {
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
    package var isSound: Bool {
        !inputs.isEmpty && !outputs.isEmpty && outputs.allSatisfy { inputs.indices.contains($0.input) }
            && Set(outputs.map(\.id)).count == outputs.count && outputs.allSatisfy(\.isSound)
            && imageSequences.allSatisfy(\.sequence.isSound)
            && compositions.allSatisfy {
                $0.isSound && $0.sources.count == $1.count && $0.fontFiles.allSatisfy(FontFinder.holds)
            }
    }

    /// The same job with some of its outputs alone, and what they are made of.
    package func only(_ isWanted: (OutputPlan) -> Bool) -> JobPlan {
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
    package var readJobs: Set<String> {
        Set(inputs.flatMap(\.jobOutputs).map(\.job))
    }

    /// Paths and URLs of the files that it reads, each once.
    package var sourcePaths: [String] {
        var paths: [String] = []
        for input in inputs {
            guard case .file(let path, _) = input.source, !paths.contains(where: { $0.exact == path.exact })
            else { continue }
            paths.append(path)
        }
        return paths
    }

    /// Compositions that it reads, and what tells a change of their sources.
    package var compositions: [(composition: Composition, identities: [String])] {
        inputs.compactMap {
            if case .composition(let composition, let identities) = $0.source {
                (composition, identities)
            } else {
                nil
            }
        }
    }

    /// Files of which a worker asks for those that it needs next: there may be more than a process may have open.
    package var requestedFiles: [RequestedFiles] {
        imageSequences.map { .images($0.sequence.files) }
            + compositions.flatMap { composition, _ in
                var listed: [String] = []
                var found: [RequestedFiles] = []
                for source in composition.sources {
                    switch source {
                    case .file(let path) where !SourceLocation.isRemote(path): listed.append(path)
                    case .images(let sequence): found.append(.images(sequence.files))
                    case .file, .pattern: break
                    }
                }
                return listed.isEmpty ? found : found + [.listed(listed)]
            }
    }

    /// It reads something from a server.
    package var readsRemote: Bool {
        sourcePaths.contains(where: SourceLocation.isRemote)
            || compositions.contains { composition, _ in
                composition.sources.contains {
                    if case .file(let path) = $0 { SourceLocation.isRemote(path) } else { false }
                }
            }
    }

    /// Images that it reads one after the other, and what tells a change of their files.
    package var imageSequences: [(sequence: ImageSequence, identity: String)] {
        inputs.compactMap {
            if case .images(let sequence, let identity) = $0.source { (sequence, identity) } else { nil }
        }
    }

    /// Those of them that lie on this machine.
    package var localSources: [String] { sourcePaths.filter { !SourceLocation.isRemote($0) } }

    /// What is read, for people.
    package var sourceName: String {
        var names: [String] = []
        for input in inputs where !names.contains(input.sourceName) { names.append(input.sourceName) }
        return names.joined(separator: ", ")
    }

    /// The same work without what is there for people: a short message to whoever does it.
    package var bare: JobPlan {
        var plan = self
        plan.inputs = inputs.map(\.bare)
        plan.outputs = outputs.map(\.bare)
        return plan
    }

    /// How long its longest output will be.
    public var expectedDuration: MediaTime { outputs.map(\.expectedDuration).max() ?? .zero }

    /// Bytes that encoders note between two passes, at most; they lie beside the state, not at the destination.
    package var expectedNotes: Int64 { SizeEstimate.notes(of: outputs.flatMap(\.tracks)) }

    /// One of its tracks is looked at once before it is encoded.
    package var hasTwoPasses: Bool { outputs.contains(where: \.hasTwoPasses) }
}
