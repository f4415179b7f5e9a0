internal import ExactStrings
package import JobSpec
package import Publishing

/// The kind of an output, with the part of its plan that depends on the kind.
///
/// Each kind has a folder beside this file, with its plan, which conforms to `KindPlan`, and its planner. Code outside
/// these folders asks `plan`, so that a new kind doesn't change it.
package enum OutputKind: Hashable, Sendable {
    /// Tracks in a container.
    case media(MediaPlan)
    /// Still images of the only track, as separate files, a sheet or an animation.
    case images(ImagesPlan)
    /// A waveform of the only track.
    case waveform(WaveformPlan)
    /// A check of the source, which writes nothing.
    case check(CheckPlan)
    /// A folder of renditions with manifests.
    case package(PackagePlan)
    /// Encoded chunks of the only track.
    case chunks(ChunksPlan)

    /// The part of the plan that depends on the kind.
    package var plan: any KindPlan {
        switch self {
        case .media(let plan): plan
        case .images(let plan): plan
        case .waveform(let plan): plan
        case .check(let plan): plan
        case .package(let plan): plan
        case .chunks(let plan): plan
        }
    }
}

extension OutputPlan {
    /// Keys of the encoded form. Each kind except `media` has a key of its own, at most one of which is present.
    enum CodingKeys: CodingKey {
        case id, location, input, container, destination, destinationLocation, ifExists, makesDirectories,
            tracks
        case expectations, ledger, expectedDuration, expectedSize, notes, warnings
        case images, waveform, check, package, chunks
        case optimizesForNetwork, fragmentInterval, segmentation, metadata, requestedTags, keepsFileTimes,
            chapters
        case covers, cover, attachments, sizeLimit, sizeLimitLocation
    }
}

extension OutputKind {
    /// Decodes the kind of an output; nil if none of the keys of kinds is present. Throws `DecodingError` if several are.
    init?(from values: KeyedDecodingContainer<OutputPlan.CodingKeys>) throws {
        let kinds: [OutputKind?] = [
            try values.decodeIfPresent(ImagesPlan.self, forKey: .images).map(OutputKind.images),
            try values.decodeIfPresent(WaveformPlan.self, forKey: .waveform).map(OutputKind.waveform),
            try values.decodeIfPresent(CheckPlan.self, forKey: .check).map(OutputKind.check),
            try values.decodeIfPresent(PackagePlan.self, forKey: .package).map(OutputKind.package),
            try values.decodeIfPresent(ChunksPlan.self, forKey: .chunks).map(OutputKind.chunks),
        ]
        let found = kinds.compactMap { $0 }
        guard found.count <= 1 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: values.codingPath, debugDescription: "an output has several kinds"))
        }
        guard let kind = found.first else { return nil }
        self = kind
    }

    /// Encodes the kind; `media` has no key.
    func encode(to values: inout KeyedEncodingContainer<OutputPlan.CodingKeys>) throws {
        switch self {
        case .media: break
        case .images(let plan): try values.encode(plan, forKey: .images)
        case .waveform(let plan): try values.encode(plan, forKey: .waveform)
        case .check(let plan): try values.encode(plan, forKey: .check)
        case .package(let plan): try values.encode(plan, forKey: .package)
        case .chunks(let plan): try values.encode(plan, forKey: .chunks)
        }
    }
}

/// The part of an output's plan that depends on the output's kind.
package protocol KindPlan: Hashable, Sendable {
    /// Whether the values are consistent with each other and with those of the output. Checked for plans from untrusted
    /// input.
    func isConsistent(with output: OutputPlan) -> Bool

    /// Type of the destination; nil if nothing is published.
    var destinationKind: DestinationPath.Kind? { get }
    /// Returns the absolute paths of all files; the first one is the destination.
    func files(at destination: String) -> [String]
    /// Whether the output may have several files, whose names depend on the source.
    var hasSeveralFiles: Bool { get }
    /// Whether outputs of the kind may have another number of files in the next run.
    var hasVariableFileCount: Bool { get }
    /// Whether the published files are copied from temporary ones, so that both need space at the same time.
    var isCopiedToPublish: Bool { get }
    /// Whether new expectations of an existing output can be evaluated without creating it again.
    var isReevaluable: Bool { get }
    /// Whether the contents depend on the name of the destination, as an index that refers to the file does.
    var containsOwnName: Bool { get }
    /// Returns whether the output is worth keeping in a cache. Copies of packets and smart cuts aren't: creating them is as
    /// fast as reading them from a cache, and the edges of a smart cut are verified while it is created.
    func isCacheable(_ output: OutputPlan) -> Bool
    /// Whether the output has a time line; still images have none.
    var hasTimeLine: Bool { get }
    /// Still images of the output, in order.
    var stills: [ImagesPlan.Still] { get }

    /// Whether the output is written by the session of its input, together with other outputs that read the same.
    /// Otherwise each output is a task of its own.
    var isWrittenBySession: Bool { get }
    /// Media that are written for the output, each to a file; nil if the output itself is written.
    var writtenOutputs: [OutputPlan]? { get }
    /// Returns the name and the extension under which `written`, which failed its expectations, is kept beside the output;
    /// `name` is that of the output.
    func failureName(of written: OutputPlan, beside name: String) -> (stem: String, ending: String?)
    /// Returns the resources that the output needs.
    func cost(of output: OutputPlan, in job: OutputCost.Job) -> OutputCost

    /// Texts that describe the main values, for messages about changes.
    var changeDescriptions: [PlanPart] { get }

    /// Title of the line of a text plan that describes the output, such as `container`.
    var title: String { get }
    /// Returns the description of the output.
    func summary(of output: OutputPlan) -> String
    /// Returns the lines before those of the tracks.
    func linesBeforeTracks(of output: OutputPlan) -> [String]
    /// Returns the lines after those of the tracks.
    func linesAfterTracks(of output: OutputPlan) -> [String]
    /// Returns the expected content of the output.
    func expectedText(of output: OutputPlan) -> String
}

/// Defaults, which apply to an output that is one file with one track.
extension KindPlan {
    package var destinationKind: DestinationPath.Kind? { .file }
    package func files(at destination: String) -> [String] { [destination] }
    package var hasSeveralFiles: Bool { false }
    package var hasVariableFileCount: Bool { false }
    package var isCopiedToPublish: Bool { false }
    package var isReevaluable: Bool { true }
    package var containsOwnName: Bool { false }
    package var hasTimeLine: Bool { true }
    package var stills: [ImagesPlan.Still] { [] }
    package var isWrittenBySession: Bool { false }
    package var writtenOutputs: [OutputPlan]? { nil }
    package func failureName(of written: OutputPlan, beside name: String) -> (stem: String, ending: String?) {
        name.nameParts
    }
    package var changeDescriptions: [PlanPart] { [] }
    package var title: String { "format" }
    package func linesBeforeTracks(of output: OutputPlan) -> [String] { [] }
    package func linesAfterTracks(of output: OutputPlan) -> [String] { [] }
}

extension OutputPlan {
    /// Whether the output consists of tracks in a container.
    package var isMedia: Bool { media != nil }

    /// Whether the output is published at a destination. The only evidence of other outputs is their record in the
    /// state.
    package var isPublished: Bool { kind.plan.destinationKind != nil }

    /// Whether the output is a check. A check is the only output of its job.
    package var isCheck: Bool { if case .check = kind { true } else { false } }

    /// Tracks in a container; nil for other kinds. Setting it changes the kind; nil has no effect.
    package var media: MediaPlan? {
        get { if case .media(let media) = kind { media } else { nil } }
        set { if let newValue { kind = .media(newValue) } }
    }

    /// Still images; nil for other kinds.
    package var images: ImagesPlan? { if case .images(let images) = kind { images } else { nil } }

    /// Package; nil for other kinds.
    package var package: PackagePlan? { if case .package(let package) = kind { package } else { nil } }

    /// Whether the values are consistent. Checked for plans from untrusted input.
    var isValid: Bool {
        (destination == nil) == (kind.plan.destinationKind == nil)
            && tracks.allSatisfy { if case .read = $0.action { isCheck } else { !isCheck } }
            && tracks.allSatisfy { $0.addedFiles.allSatisfy { $0.isValid && isMedia } }
            && tracks.compactMap(\.encoding?.burn).allSatisfy(\.isValid)
            && kind.plan.isConsistent(with: self)
    }

    /// Type of the destination; a file for a check, which has none.
    package var destinationKind: DestinationPath.Kind { kind.plan.destinationKind ?? .file }

    /// Absolute paths of all files; the first one is the destination. A check has none.
    package var files: [String] { destination.map(kind.plan.files) ?? [] }

    /// Whether the output may have several files, whose names depend on the source.
    package var hasSeveralFiles: Bool { kind.plan.hasSeveralFiles }

    /// Whether new expectations of an existing output can be evaluated without creating it again.
    package var isReevaluable: Bool { kind.plan.isReevaluable }

    /// The media that are written for the output, each to a file: the renditions of a package, otherwise the output itself.
    package var written: [OutputPlan] {
        guard let outputs = kind.plan.writtenOutputs else { return [self] }
        return outputs.map { output in
            var output = output
            output.input = input
            return output
        }
    }

    /// Changes what is written for the output: the renditions of a package, otherwise the output itself.
    mutating func changeWritten(_ change: (inout OutputPlan) -> Void) {
        guard case .package(var package) = kind else { return change(&self) }
        for index in package.renditions.indices { change(&package.renditions[index].output) }
        kind = .package(package)
    }

    /// Tracks of all that is written for the output.
    package var allTracks: [TrackPlan] { kind.plan.writtenOutputs?.flatMap(\.tracks) ?? tracks }

    /// Expectations of all that is written for the output.
    package var allExpectations: [Expectation] {
        kind.plan.writtenOutputs?.flatMap(\.expectations) ?? expectations
    }
}

extension JobPlan {
    /// The job with what is written in place of its outputs, as it is worked on.
    package var expanded: JobPlan {
        var plan = self
        plan.outputs = outputs.flatMap(\.written)
        return plan
    }
}

extension OutputTask {
    /// Tasks of what is written for the output: the renditions of a package, otherwise the task itself.
    package var written: [OutputTask] {
        output.written.map { output in
            var task = self
            task.output = output
            return task
        }
    }
}
