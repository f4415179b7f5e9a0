package import Diagnostics
internal import ExactStrings
package import JobSpec
internal import LibAV
public import Media

/// The plan of one job: a value that determines all work of a run. `tandem plan` prints it; a run executes it without
/// further decisions.
public struct JobPlan: Codable, Hashable, Sendable {
    /// Id of the job instance.
    public var id: String
    /// Id of the job in the job file, without the suffix of the instance.
    package var base: String
    /// Jobs that must succeed first, by their ids in the job file.
    package var needs: [String]
    /// Path of the job file, as given by the user.
    public var file: String
    /// Location of the job in the job file.
    package var location: SourceRange
    /// Inputs of the job. Outputs that read the same part of a source share an input.
    package var inputs: [InputPlan]
    /// Outputs of the job, in the file's order.
    public var outputs: [OutputPlan]
    /// Priority, timeout, retries and threads.
    package var scheduling: JobScheduling
    /// Condition without which the finished output isn't published; nil for none.
    package var publishIf: PublishCondition?
    /// Names of the outputs that are divided into one for each track, also of those without a track; nil for none.
    package var dividedOutputs: [String]?
}

extension JobPlan {
    package var tasks: [OutputTask] {
        outputs.map { OutputTask(job: id, file: file, input: inputs[$0.input], output: $0) }
    }

    /// Adds an output. Outputs with equal inputs share the input.
    mutating func add(_ output: OutputPlan, from input: InputPlan) {
        var output = output
        if let known = inputs.firstIndex(of: input) {
            output.input = known
        } else {
            output.input = inputs.count
            inputs.append(input)
        }
        outputs.append(output)
    }

    /// Whether inputs and outputs refer to each other correctly. Checked for plans from untrusted input.
    package var isValid: Bool {
        publishIf?.isValid != false && !inputs.isEmpty && !outputs.isEmpty
            && outputs.allSatisfy { inputs.indices.contains($0.input) }
            && Set(outputs.map(\.id)).count == outputs.count && outputs.allSatisfy(\.isValid)
            && (outputs.count == 1 || outputs.allSatisfy(\.isPublished))
            && imageSequences.allSatisfy(\.sequence.isValid)
            && inputs.allSatisfy { input in
                guard let package = input.package else { return true }
                return if case .file = input.source { package.isValid } else { false }
            }
            && compositions.allSatisfy {
                $0.isValid && $0.sources.count == $1.count && $0.fontFiles.allSatisfy(FontFinder.holds)
            }
    }

    /// Returns the job with only the outputs for which `isWanted` returns true, and their inputs.
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

    /// Ids of the jobs whose outputs the job reads.
    package var readJobs: [String] {
        Set(inputs.flatMap(\.jobOutputs).map(\.job.exact)).sorted().map(\.text)
    }

    /// Paths and URLs of the files that the job reads, without duplicates.
    package var sourcePaths: [String] {
        var paths: [String] = []
        for input in inputs {
            guard case .file(let path, _) = input.source, !paths.contains(where: { $0.exact == path.exact })
            else { continue }
            paths.append(path)
        }
        return paths
    }

    /// Compositions that the job reads, with the identities of their sources.
    package var compositions: [(composition: Composition, identities: [String])] {
        inputs.compactMap {
            if case .composition(let composition, let identities) = $0.source {
                (composition, identities)
            } else {
                nil
            }
        }
    }

    /// Files that a worker requests on demand, because their number may exceed the limit of open files.
    package var requestedFiles: [RequestedFiles] {
        imageSequences.map { .images($0.sequence.files) }
            + inputs.compactMap { $0.package.map { .package(PackageFileList($0)) } }
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
            + (chunkFiles.isEmpty ? [] : [.listed(chunkFiles)])
    }

    /// Whether the job reads a remote source.
    package var readsRemote: Bool {
        sourcePaths.contains(where: SourceLocation.isRemote)
            || compositions.contains { composition, _ in
                composition.sources.contains {
                    if case .file(let path) = $0 { SourceLocation.isRemote(path) } else { false }
                }
            }
    }

    /// Image sequences that the job reads, with the identities of their files.
    package var imageSequences: [(sequence: ImageSequence, identity: String)] {
        inputs.compactMap {
            if case .images(let sequence, let identity) = $0.source { (sequence, identity) } else { nil }
        }
    }

    /// Paths of the local sources, of the covers and of subtitle files, without duplicates.
    package var localFiles: [String] {
        var paths = sourcePaths.filter { !SourceLocation.isRemote($0) }
        var seen = Set(paths.map(\.exact))
        for file in outputs.flatMap(\.addedFiles) where seen.insert(file.path.exact).inserted {
            paths.append(file.path)
        }
        return paths
    }

    /// Returns the location in the job file of the cover or subtitle file at a path; nil if no output has it.
    package func location(ofAddedFile path: String) -> SourceRange? {
        outputs.lazy.flatMap(\.addedFiles).first { $0.path.exact == path.exact }?.location
    }

    /// Names of the sources, for the user.
    package var sourceName: String {
        var names: [String] = []
        for input in inputs where !names.contains(input.sourceName) { names.append(input.sourceName) }
        return names.joined(separator: ", ")
    }

    /// The job without data that is only displayed to the user, to keep the message to a worker short.
    package var bare: JobPlan {
        var plan = self
        plan.inputs = inputs.map(\.bare)
        plan.outputs = outputs.map(\.bare)
        return plan
    }

    /// Predicted duration of the longest output.
    public var expectedDuration: MediaTime { outputs.map(\.expectedDuration).max() ?? .zero }

    /// Maximum size of the encoders' two-pass statistics in bytes. They are written to the folder for pass statistics,
    /// not to the destination.
    package var passStatisticsSize: Int64 { SizeEstimate.passStatistics(of: outputs.flatMap(\.allTracks)) }

    /// Whether a track is encoded in chunks.
    package var hasChunks: Bool { outputs.contains(where: \.hasChunks) }
    package var hasTwoPasses: Bool { outputs.contains(where: \.hasTwoPasses) }
}
