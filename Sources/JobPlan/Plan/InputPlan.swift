package import Diagnostics
internal import ExactStrings
package import JobSpec
package import Media
package import FileSystem

/// One read of a source: what every output that is made of it has in common.
package struct InputPlan: Codable, Hashable, Sendable {
    /// Where media come from.
    package enum Source: Codable, Hashable, Sendable {
        /// A file by its absolute path or its URL, as it was when the plan was made.
        case file(path: String, identity: FileIdentity)
        /// A test signal.
        case pattern(TestPattern)
        /// Images one after the other; what tells a change of any of their files.
        case images(ImageSequence, identity: String)
        /// Several sources on one time line; what tells a change of each of them, in their order.
        case composition(Composition, identities: [String])
        /// What another job of the batch publishes, at an absolute path.
        case job(id: String, path: String)
    }

    /// Where media come from.
    package var source: Source
    /// What other jobs of the batch publish and the composition is made of: there is nothing yet at these paths, or something else.
    package var awaited: [JobOutput] = []
    /// How times are found out.
    package var timing: AssetTiming
    /// What the source is; foretold where another job makes it.
    package var sourceDescription: SourceDescription
    /// The range that is read; nil for all.
    package var range: TimeRange?
    /// Several ranges that are read instead, joined end to end in this order.
    package var joinedRanges: [TimeRange]
    /// The range that was asked for, where another is read.
    package var requestedRange: TimeRange?
    /// What becomes of damaged data.
    package var damagePolicy: DamagePolicy
    /// Where the range was written.
    package var rangeLocation: SourceRange?
    /// How it is cut, where the job says.
    package var cut: CutMode?
}

/// What a job of the batch publishes.
package struct JobOutput: Codable, Hashable, Sendable {
    /// The id of the job's run.
    package var job: String
    /// Which of its outputs; nil for the only one.
    package var output: String?
    /// Where it goes, as an absolute path.
    package var path: String
}

extension InputPlan.Source {
    /// The same source, seen from this machine: on a shared file system each has its own number of the device.
    func isUnchanged(since before: InputPlan.Source) -> Bool {
        guard case .file(let path, var now) = self, case .file(let oldPath, let then) = before else {
            return self == before
        }
        now.device = then.device
        return path.exact == oldPath.exact && now == then
    }
}

extension InputPlan {
    /// What other jobs publish, and where: it can be read once they have.
    package var jobOutputs: [(job: String, path: String)] {
        let own = awaited.map { ($0.job, $0.path) }
        if case .job(let id, let path) = source { return own + [(id, path)] }
        return own
    }

    /// What is read.
    package var assetSource: Asset.Source {
        switch source {
        case .file(let path, _), .job(_, let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        case .images(let sequence, _): .images(sequence)
        case .composition(let composition, _): .composition(composition)
        }
    }

    /// Several assets on one time line.
    package var isComposition: Bool { if case .composition = source { true } else { false } }

    /// What is read, for people: a path, a URL or the name of a test signal.
    package var sourceName: String {
        switch source {
        case .file(let path, _), .job(_, let path): path
        case .pattern(let pattern): "test signal \(pattern.name)"
        case .images(let sequence, _): sequence.path
        case .composition(let composition, _):
            "a composition of \(composition.sources.count) source\(composition.sources.count == 1 ? "" : "s")"
        }
    }

    /// What of it is read, and how damage is treated.
    package var extent: ReadingExtent {
        var extent = ReadingExtent(
            ranges: joinedRanges.isEmpty ? range.map { [$0] } ?? [] : joinedRanges, damagePolicy: damagePolicy
        )
        // What a header only guesses is no end to cut at.
        extent.isOpen =
            !sourceDescription.isDurationExact && [nil, .exact].contains(cut)
            && extent.ranges.last?.end == sourceDescription.duration
        return extent
    }

    /// The same without what is there for people.
    var bare: InputPlan {
        var input = self
        (input.sourceDescription.tracks, input.sourceDescription.metadata) = ([], [])
        input.sourceDescription.chapters = []
        return input
    }
}
