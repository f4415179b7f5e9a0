package import Diagnostics
internal import ExactStrings
package import JobSpec
package import LibAV
package import Media
package import FileSystem

/// One read of a source, which outputs with the same range and settings share.
package struct InputPlan: Codable, Hashable, Sendable {
    /// The origin of media.
    package enum Source: Codable, Hashable, Sendable {
        /// A file by its absolute path or its URL, with its identity at planning.
        case file(path: String, identity: FileIdentity)
        /// A test signal.
        case pattern(TestPattern)
        /// An image sequence, with an identity that changes with any of its files.
        case images(ImageSequence, identity: String)
        /// A composition, with the identities of its sources in their order.
        case composition(Composition, identities: [String])
        /// The output of another job of the batch, by its absolute path.
        case job(id: String, path: String)

        /// Returns whether the sources are the same. Paths, and ids that may contain paths, are compared by their bytes.
        package static func == (one: Source, other: Source) -> Bool {
            switch (one, other) {
            case (.file(let one, let first), .file(let other, let second)):
                one.exact == other.exact && first == second
            case (.pattern(let one), .pattern(let other)): one == other
            case (.images(let one, let first), .images(let other, let second)):
                one == other && first.exact == second.exact
            case (.composition(let one, let first), .composition(let other, let second)):
                one == other && first.map(\.exact) == second.map(\.exact)
            case (.job(let one, let first), .job(let other, let second)):
                one.exact == other.exact && first.exact == second.exact
            case (.file, _), (.pattern, _), (.images, _), (.composition, _), (.job, _): false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .file(let path, let identity):
                hasher.combine(path.exact)
                hasher.combine(identity)
            case .pattern(let pattern): hasher.combine(pattern)
            case .images(let sequence, _): hasher.combine(sequence)
            case .composition(let composition, _): hasher.combine(composition)
            case .job(let id, let path):
                hasher.combine(id.exact)
                hasher.combine(path.exact)
            }
        }
    }

    package var source: Source
    /// The package whose manifest is the source; nil for other sources.
    package var package: SegmentedPackage?
    /// Outputs of other jobs of the batch that the composition reads. Their files don't exist yet, or were
    /// created by earlier runs.
    package var awaited: [JobOutput] = []
    /// Precision with which times are determined.
    package var timing: AssetTiming
    /// Description of the source; predicted if another job creates it.
    package var sourceDescription: SourceDescription
    /// Range that is read; nil for the whole source.
    package var range: TimeRange?
    /// Ranges that are read instead of `range`, joined in this order; empty if there is at most one.
    package var joinedRanges: [TimeRange]
    /// Requested range, if it differs from the one that is read.
    @Annotation package var requestedRange: TimeRange?
    /// Handling of damaged data.
    @Annotation package var damagePolicy: DamagePolicy
    /// Location of the range in the job file.
    package var rangeLocation: SourceRange?
    /// Cut mode; nil if the job doesn't set one.
    package var cut: CutMode?
}

extension InputPlan {
    /// Returns what the value at a path in the encoded form belongs to.
    static func subject(of path: ArraySlice<String>) -> RecipeName.Subject {
        switch path.first.flatMap(CodingKeys.init(stringValue:)) {
        case .source, .package, .sourceDescription: .source
        case .range, .joinedRanges: .range
        case .awaited, .timing, .requestedRange, .damagePolicy, .rangeLocation, .cut, nil: .other
        }
    }

    /// Creates the input of a job whose extent is planned.
    init(job: JobSpec, _ input: ResolvedInput, _ extent: PlannedExtent) {
        self.init(
            source: input.source, package: input.package, awaited: input.composed?.awaited ?? [],
            timing: job.asset.timing,
            sourceDescription: input.description, range: extent.range,
            joinedRanges: extent.joined, requestedRange: extent.requested,
            damagePolicy: job.onDamage?.value ?? .fail, rangeLocation: job.rangeLocation,
            cut: extent.ranges.isEmpty ? nil : job.cut?.value)
    }
}

/// The output of a job of the batch.
package struct JobOutput: Codable, Hashable, Sendable {
    /// Id of the job instance.
    package var job: String
    /// Id of the output; nil for the only output of a job.
    package var output: String?
    /// Absolute path of the output.
    package var path: String
}

extension InputPlan.Source {
    /// Returns whether the source is the same. The device number is ignored, because on a shared file system it differs
    /// between machines.
    func isUnchanged(since before: InputPlan.Source) -> Bool {
        guard case .file(let path, var now) = self, case .file(let oldPath, let then) = before else {
            return self == before
        }
        now.device = then.device
        return path.exact == oldPath.exact && now == then
    }
}

extension InputPlan {
    /// Outputs of other jobs that are read, with their absolute paths. The input can be read once they are published.
    package var jobOutputs: [(job: String, path: String)] {
        let own = awaited.map { ($0.job, $0.path) }
        if case .job(let id, let path) = source { return own + [(id, path)] }
        return own
    }

    /// Source of the asset that reads the input.
    package var assetSource: Asset.Source {
        switch source {
        case .file(let path, _), .job(_, let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        case .images(let sequence, _): .images(sequence)
        case .composition(let composition, _): .composition(composition)
        }
    }

    package var isComposition: Bool { if case .composition = source { true } else { false } }

    /// Name of the source, for the user: a path, a URL or the name of a test signal.
    package var sourceName: String {
        switch source {
        case .file(let path, _), .job(_, let path): path
        case .pattern(let pattern): "test signal \(pattern.name)"
        case .images(let sequence, _): sequence.path
        case .composition(let composition, _):
            "composition of \(composition.sources.count) source\(composition.sources.count == 1 ? "" : "s")"
        }
    }

    /// Ranges that are read, and the handling of damage.
    package var extent: ReadingExtent {
        var extent = ReadingExtent(
            ranges: joinedRanges.isEmpty ? range.map { [$0] } ?? [] : joinedRanges, damagePolicy: damagePolicy
        )
        // A duration that the header only estimates doesn't end the read.
        extent.isOpen =
            !sourceDescription.isDurationExact && [nil, .exact].contains(cut)
            && extent.ranges.last?.end == sourceDescription.duration
        return extent
    }

    /// The input without data that is only displayed to the user.
    var bare: InputPlan {
        var input = self
        (input.sourceDescription.tracks, input.sourceDescription.metadata) = ([], [])
        input.sourceDescription.chapters = []
        return input
    }
}
