internal import Diagnostics
internal import Dispatch
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Locking
internal import Media
internal import Publishing

/// The gains that instances of a job share through `normalize: { group: job }`. The audio of all instances is measured
/// together when the first of them is planned.
///
/// The measured audio is that of one rule of one output, in all instances. Its gain reaches the target loudness, or less
/// where the peak of an instance would exceed the target's.
final class LoudnessGroups {
    /// The instances of a job with the same `group`.
    private struct Group: Hashable {
        let file: Int
        let job: ExactString
        let name: ExactString?

        init(_ job: JobSpec, inFile file: Int) {
            (self.file, self.job, self.name) = (file, job.base.exact, job.group?.value.exact)
        }
    }

    /// The tracks that share a gain in the instances of a group: those of one rule of one output.
    private struct Rule: Hashable {
        let outputs: [String?]
        let location: SourceRange
    }

    /// The audio of one track of a group.
    private struct Audio: Hashable {
        let path: ExactString
        let query: ProbeRequest.LoudnessQuery
    }

    /// The tracks of a rule in all instances of a group.
    private struct Tracks {
        let target: LoudnessTarget
        /// Ids of the instances that have a track, with repetitions if one has several.
        var instances: [String] = []
        var audio: [Audio] = []
    }

    /// The reason why a group can't be measured.
    private struct Problem: Error {
        /// Id of the instance that can't be measured.
        let instance: String
        let reason: String
    }

    private let files: [JobFile]
    private let catalog: SourceCatalog
    /// The plan that is planned again, whose gains are kept; nil for a new plan.
    private let earlier: BatchPlan?
    private lazy var members = Dictionary(
        grouping: files.enumerated().flatMap { index, file in
            file.jobs.filter { !$0.isTemplate && !$0.sharedNormalizations.isEmpty }.map {
                (file: index, job: $0)
            }
        }, by: { Group($0.job, inFile: $0.file) })
    private var known: [Group: Result<[Rule: SharedGain], Problem>] = [:]

    /// Creates the groups of the jobs of some files. `files` contains all instances, also those that aren't planned. The
    /// gains of `earlier` are kept, because it may be a part of a plan.
    init(_ files: [JobFile], catalog: SourceCatalog, as earlier: BatchPlan?) {
        (self.files, self.catalog, self.earlier) = (files, catalog, earlier)
    }

    /// Returns a job's plan with the shared gains of its tracks; nil after an error.
    func completed(
        _ plan: JobPlan, of job: JobSpec, inFile file: Int, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink
    ) -> JobPlan? {
        guard let normalize = job.sharedNormalizations.first else { return plan }
        let group = Group(job, inFile: file)
        let gains = gains(in: earlier, of: plan) ?? known[group] ?? measured(group, &destinations)
        if earlier == nil { known[group] = gains }
        switch gains {
        case .success(let gains): return Self.completed(plan, gains)
        case .failure(let problem):
            let name = problem.instance.exact == job.id.value.exact ? "this job" : "`\(problem.instance)`"
            sink.error(
                .sourceUnreadable, "the loudness of the group can't be measured: \(name) \(problem.reason)",
                at: normalize.value.group?.range ?? normalize.range,
                help: "one gain for all files depends on each of them; `except` omits a file")
            return nil
        }
    }

    private static func completed(_ plan: JobPlan, _ gains: [Rule: SharedGain]) -> JobPlan {
        var plan = plan
        for index in plan.outputs.indices {
            plan.outputs[index].changeWritten { output, ids in
                for track in output.tracks.indices {
                    guard let encoding = output.tracks[track].encoding, encoding.sharedGain != nil,
                        let gain = gains[Rule(outputs: ids, location: output.tracks[track].location)]
                    else { continue }
                    output.tracks[track].take(gain)
                    if let note = gain.shortfall { output.notes.append(note) }
                }
            }
        }
        return plan
    }

    /// Returns the gains of a job in an earlier plan; nil if it has none.
    private func gains(in earlier: BatchPlan?, of plan: JobPlan) -> Result<[Rule: SharedGain], Problem>? {
        guard
            let job = earlier?.jobs.first(where: {
                $0.file.exact == plan.file.exact && $0.id.exact == plan.id.exact
            })
        else { return nil }
        var gains: [Rule: SharedGain] = [:]
        for (ids, output) in job.writtenOutputs {
            for track in output.tracks {
                guard let gain = track.encoding?.sharedGain, gain.isValid else { continue }
                gains[Rule(outputs: ids, location: track.location)] = gain
            }
        }
        return gains.isEmpty ? nil : .success(gains)
    }

    // MARK: Measuring

    /// Measures the audio of all instances of a group.
    private func measured(
        _ group: Group, _ destinations: inout DestinationTable
    ) -> Result<[Rule: SharedGain], Problem> {
        do throws(Problem) {
            var gains: [Rule: SharedGain] = [:]
            for (rule, tracks) in try tracks(of: group, &destinations) { gains[rule] = try measure(tracks) }
            return .success(gains)
        } catch {
            return .failure(error)
        }
    }

    /// Plans all instances of a group, and returns their tracks by rule.
    private func tracks(
        of group: Group, _ destinations: inout DestinationTable
    ) throws(Problem) -> [Rule: Tracks] {
        var rules: [Rule: Tracks] = [:]
        for (file, job) in members[group] ?? [] {
            let decision = JobPlanner(
                job: job, file: files[file], catalog: catalog, outputs: ReadOutputs(), destinationCheck: nil
            ).decide(&destinations)
            if case .skip = decision.value { continue }
            guard let plan = decision.value?.plan else {
                throw Problem(instance: job.id.value, reason: "can't be planned")
            }
            for (ids, output) in plan.writtenOutputs {
                for track in output.tracks {
                    guard let encoding = track.encoding, let gain = encoding.sharedGain,
                        case .file(let path, _) = plan.inputs[output.input].source
                    else { continue }
                    let rule = Rule(outputs: ids, location: track.location)
                    rules[rule, default: Tracks(target: gain.target)].instances.append(job.id.value)
                    rules[rule]?.audio.append(
                        Audio(
                            path: path.exact,
                            query: ProbeRequest.LoudnessQuery(
                                track: track.source.index, mix: track.mix,
                                extent: plan.inputs[output.input].extent,
                                filters: encoding.stepsBeforeGain(from: track.channelLayout))))
                }
            }
        }
        return rules
    }

    /// Measures tracks in parallel, equal ones once.
    private func measure(_ tracks: Tracks) throws(Problem) -> SharedGain {
        let prober = catalog.prober
        let audio = Array(Set(tracks.audio))
        let results = Guarded([Result<LoudnessBlocks?, SourceProblem>?](repeating: nil, count: audio.count))
        DispatchQueue.concurrentPerform(iterations: audio.count) { index in
            let result = Result { () throws(SourceProblem) in
                try prober.loudness(audio[index].query, of: audio[index].path.text)
            }
            results.withLock { $0[index] = result }
        }
        let measured = Dictionary(uniqueKeysWithValues: zip(audio, results.withLock { $0 }))
        var blocks: [LoudnessBlocks] = []
        for (instance, audio) in zip(tracks.instances, tracks.audio) {
            switch measured[audio] ?? nil {
            case .success(let found?): blocks.append(found)
            case .failure(let error): throw Problem(instance: instance, reason: "can't be read: \(error)")
            case .success(nil), nil: throw Problem(instance: instance, reason: "can't be read")
            }
        }
        let all = LoudnessBlocks(joining: blocks)
        var gain = SharedGain(tracks.target)
        gain.measured = SharedGain.Measured(
            files: Set(tracks.instances.map(\.exact)).count, integrated: all.integrated,
            truePeak: all.truePeak)
        return gain
    }
}

extension TrackPlan {
    /// Channel layout of the source, or of a mix.
    fileprivate var channelLayout: ChannelLayout? { mix?.layout ?? source.channelLayout }

    /// Applies a gain that is shared with other files.
    fileprivate mutating func take(_ gain: SharedGain) {
        guard case .encode(var encoding) = action else { return }
        encoding.take(gain, from: channelLayout)
        action = .encode(encoding)
    }
}

extension JobPlan {
    /// The media that are written for the outputs, with the ids of the output and of a package's rendition.
    fileprivate var writtenOutputs: [(ids: [String?], output: OutputPlan)] {
        outputs.flatMap { output -> [(ids: [String?], output: OutputPlan)] in
            guard let package = output.package else { return [([output.id], output)] }
            return package.renditions.map {
                var rendition = $0.output
                rendition.input = output.input
                return ([output.id, rendition.id], rendition)
            }
        }
    }
}

extension OutputPlan {
    /// Changes what is written for the output: the renditions of a package, otherwise the output itself. `change` gets the
    /// ids of both.
    fileprivate mutating func changeWritten(_ change: (inout OutputPlan, _ ids: [String?]) -> Void) {
        guard case .package(var package) = kind else { return change(&self, [id]) }
        for index in package.renditions.indices {
            change(&package.renditions[index].output, [id, package.renditions[index].output.id])
        }
        kind = .package(package)
    }
}
