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
/// The audio of one rule of one output, in all instances, is measured together. The gain of a track reaches its target
/// loudness, or less where the peak of an instance would exceed the target's.
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

    /// The key of the tracks that are measured together: those of one rule of one output.
    private struct TrackKey: Hashable {
        let output: String?
        /// Id of the rendition of a package; that of the output otherwise.
        let written: String?
        let rule: SourceRange

        init(_ track: TrackPlan, of written: OutputPlan, in output: String?) {
            (self.output, self.written, rule) = (output, written.id, track.location)
        }
    }

    /// The audio of one track of a group.
    private struct Audio: Hashable {
        let path: ExactString
        let query: ProbeRequest.LoudnessQuery
    }

    /// The audio of an instance.
    private struct Member {
        let instance: String
        let key: TrackKey
        let audio: Audio
    }

    /// The reason why a group can't be measured.
    private struct Problem: Error {
        /// Id of the instance that can't be measured.
        let instance: String
        let reason: String
    }

    private typealias Measurements = [TrackKey: SharedGain.Measured]

    private let files: [JobFile]
    private let catalog: SourceCatalog
    private lazy var members = Dictionary(
        grouping: files.enumerated().flatMap { index, file in
            file.jobs.filter { !$0.isTemplate && $0.sharedNormalization != nil }.map {
                (file: index, job: $0)
            }
        }, by: { Group($0.job, inFile: $0.file) })
    private var known: [Group: Result<Measurements, Problem>] = [:]
    /// Measurements in the plan that is planned again, by job.
    private let earlier: [JobKey: Measurements]

    /// Creates the groups of the jobs of some files. `files` contains all instances, also those that aren't planned. The
    /// measurements of `earlier` are kept, because it may be a part of a plan.
    init(_ files: [JobFile], catalog: SourceCatalog, as earlier: BatchPlan?) {
        (self.files, self.catalog) = (files, catalog)
        self.earlier = Dictionary(
            (earlier?.jobs ?? []).map { ($0.key, Self.measurements(in: $0)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns a job's plan with the shared gains of its tracks; nil after an error.
    func completed(
        _ plan: JobPlan, of job: JobSpec, inFile file: Int, _ destinations: inout DestinationTable,
        into sink: inout DiagnosticSink
    ) -> JobPlan? {
        guard let normalize = job.sharedNormalization else { return plan }
        if let earlier = earlier[plan.key],
            Self.sharedTracks(of: plan).allSatisfy({ earlier[$0.key] != nil })
        {
            return Self.completed(plan, earlier)
        }
        let group = Group(job, inFile: file)
        let result = known[group] ?? measured(group, &destinations)
        known[group] = result
        switch result {
        case .success(let measurements): return Self.completed(plan, measurements)
        case .failure(let problem):
            sink.error(
                .sourceUnreadable,
                "the loudness of the group can't be measured: `\(problem.instance)` \(problem.reason)",
                at: normalize.value.group?.range ?? normalize.range,
                help:
                    "the gain depends on all files of the group: repair the file, or leave it out of the job")
            return nil
        }
    }

    private static func completed(_ plan: JobPlan, _ measurements: Measurements) -> JobPlan {
        var plan = plan
        for index in plan.outputs.indices {
            var notes: [String] = []
            let (id, isPackage) = (
                plan.outputs[index].id, plan.outputs[index].kind.plan.writtenOutputs != nil
            )
            plan.outputs[index].changeWritten { written in
                for track in written.tracks.indices {
                    guard var gain = written.tracks[track].encoding?.sharedGain else { continue }
                    gain.measured = measurements[TrackKey(written.tracks[track], of: written, in: id)]
                    written.tracks[track].apply(gain)
                    guard let shortfall = gain.shortfall else { continue }
                    // The notes of a package are those of its renditions.
                    notes.append(isPackage ? "\(written.id ?? ""): \(shortfall)" : shortfall)
                }
            }
            plan.outputs[index].notes += notes
        }
        return plan
    }

    /// Returns the measurements in a plan.
    private static func measurements(in plan: JobPlan) -> Measurements {
        var found: Measurements = [:]
        for shared in sharedTracks(of: plan) {
            guard let measured = shared.gain.measured, measured.isValid else { continue }
            found[shared.key] = measured
        }
        return found
    }

    /// A track with a shared gain.
    private struct SharedTrack {
        let key: TrackKey
        let track: TrackPlan
        let encoding: TrackPlan.Encoding
        let gain: SharedGain
        let input: Int
    }

    /// Returns the tracks of a plan that have shared gains, also those of a package's renditions.
    private static func sharedTracks(of plan: JobPlan) -> [SharedTrack] {
        plan.outputs.flatMap { output in
            output.written.flatMap { written in
                written.tracks.compactMap { track in
                    guard let encoding = track.encoding, let gain = encoding.sharedGain else { return nil }
                    return SharedTrack(
                        key: TrackKey(track, of: written, in: output.id), track: track, encoding: encoding,
                        gain: gain, input: output.input)
                }
            }
        }
    }

    // MARK: Measuring

    /// Measures the audio of all instances of a group.
    private func measured(
        _ group: Group, _ destinations: inout DestinationTable
    ) -> Result<Measurements, Problem> {
        do throws(Problem) {
            return .success(try measure(try audio(of: group, &destinations)))
        } catch {
            return .failure(error)
        }
    }

    /// Plans all instances of a group, and returns their audio.
    private func audio(
        of group: Group, _ destinations: inout DestinationTable
    ) throws(Problem) -> [Member] {
        var found: [Member] = []
        for (file, job) in members[group] ?? [] {
            let decision = JobPlanner(
                job: job, file: files[file], catalog: catalog, outputs: ReadOutputs(), destinationCheck: nil
            ).decide(&destinations)
            if case .skip = decision.value { continue }
            guard let plan = decision.value?.plan else {
                throw Problem(instance: job.id.value, reason: "can't be planned")
            }
            for shared in Self.sharedTracks(of: plan) {
                let (input, track) = (plan.inputs[shared.input], shared.track)
                guard case .file(let path, _) = input.source else { continue }
                let query = ProbeRequest.LoudnessQuery(
                    track: track.source.index, mix: track.mix, extent: input.extent,
                    filters: shared.encoding.stepsBeforeGain(from: track.channelLayout))
                found.append(
                    Member(
                        instance: job.id.value, key: shared.key,
                        audio: Audio(path: path.exact, query: query)))
            }
        }
        return found
    }

    /// Measures audio in parallel, equal audio once.
    private func measure(_ members: [Member]) throws(Problem) -> Measurements {
        let prober = catalog.prober
        let audio = Array(Set(members.map(\.audio)))
        let results = DispatchQueue.concurrentMap(audio.count) { index in
            Result { () throws(SourceProblem) in
                try prober.loudness(audio[index].query, of: audio[index].path.text)
            }
        }
        let measured = Dictionary(uniqueKeysWithValues: zip(audio, results))
        var measurements: Measurements = [:]
        for (key, members) in Dictionary(grouping: members, by: \.key) {
            var blocks: [LoudnessBlocks] = []
            for member in members {
                switch measured[member.audio] {
                case .success(let found?): blocks.append(found)
                case .failure(let error):
                    throw Problem(instance: member.instance, reason: "can't be read: \(error)")
                case .success(nil), nil: throw Problem(instance: member.instance, reason: "can't be read")
                }
            }
            let all = LoudnessBlocks(joining: blocks)
            measurements[key] = SharedGain.Measured(
                files: Set(members.map(\.audio.path)).count, integrated: all.integrated,
                truePeak: all.truePeak)
        }
        return measurements
    }
}

extension TrackPlan {
    /// Channel layout of the source, or of a mix.
    fileprivate var channelLayout: ChannelLayout? { mix?.layout ?? source.channelLayout }

    /// Applies a gain that is shared with other files.
    fileprivate mutating func apply(_ gain: SharedGain) {
        guard case .encode(var encoding) = action else { return }
        encoding.apply(gain, from: channelLayout)
        action = .encode(encoding)
    }
}
