internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of one job instance whose asset is known, including substitution.
struct JobDecoder {
    let reader: NodeReader
    let definition: BatchDefinition
    let scope: Scope
    let asset: AssetSpec
    let assetID: Located<String>?
    let id: Located<String>
    let base: String
    let isTemplate: Bool
    /// Whether the node is a part of a job, such as `defaults`, in which no key is required.
    var isPartial = false
    /// The instance that is decoded; nil if its result is used for diagnostics only.
    var instance: JobInstance?
    /// The tracks of the source; nil while they are unknown.
    var tracks: Tracks?

    /// Returns the job; nil after an error is reported, or if a value is not known yet.
    func job(_ written: YAMLNode) -> JobSpec? {
        let parts = OutputNodes(written)
        var scope = scope
        scope.makesImages = OutputKindKey.namesImages(parts.job)
        DestinationCheck(scope: scope, reader: reader).check(parts.job, as: Language.job)
        checkPackageDestination(parts, scope)
        let location = Self.divisionLocation(in: parts.job)
        // Jobs may add what a part, such as `defaults`, lacks.
        if location != nil || isPartial { scope.track = .unknown }
        let node = substituted(parts.job, scope)
        let type = isPartial ? Language.job.partial() : Language.job
        guard let fields = reader.fields(parts.complete(of: node), as: type) else { return nil }
        let ranges = fields["range"].map { RangeDecoder(reader: reader).ranges($0.value) } ?? []
        let damage = reader.choice("on_damage", of: fields, as: DamagePolicy.self)
        let cut = reader.choice("cut", of: fields, as: CutMode.self)
        let needs = fields["needs"].map { entry in
            reader.list(entry.value).compactMap { reader.text($0, "a job that is needed") }.filter {
                definition.hasJob($0, reader: reader)
            }
        }
        let scheduling = scheduling(fields)
        let when = fields["when"].flatMap { ConditionDecoder(reader: reader).source($0.value) }
        let decoded = outputs(fields, parts, scope, dividedAt: location)
        let (outputs, omissions) = withoutOmitted(decoded.specs)
        let job = JobSpec(
            id: id, base: base, asset: asset, assetID: assetID, ranges: ranges,
            cut: cut,
            onDamage: damage,
            needs: needs ?? [], scheduling: scheduling, outputs: outputs, isTemplate: isTemplate,
            when: when,
            publishIf: publishCondition(fields, isDivided: outputs.contains { $0.division != nil }),
            group: group(fields), omissions: omissions,
            dividedOutputs: Self.dividedNames(decoded.specs),
            undivided: outputs.contains(where: \.isUndivided) ? instance : nil)
        checkDivision(job)
        checkCut(job)
        checkSharedGain(job)
        checkConditions(job)
        if !fields.has("composition") { checkChapters(job) }
        for written in job.renditions {
            let output = written.destination == nil ? written.storedRendition : written
            ContainerCheck.check(output, into: &reader.sink)
            EncodingTargetCheck(
                output: output, package: written.destination == nil ? fields["package"]?.keyRange : nil,
                composition: fields["composition"]?.keyRange
            ).check(into: &reader.sink)
            ImagesCheck.check(output, into: &reader.sink)
            if let size = output.media?.sizeLimit, decoded.isComplete {
                SizeLimitCheck(job: job, output: output).check(at: size.range, into: &reader.sink)
            }
        }
        if let damage = job.onDamage, damage.value == .skip { checkSkipping(job, damage.range) }
        return decoded.isComplete ? job : nil
    }

    /// Decodes the entries of `outputs`, or the single output of a job without that key. `isComplete` is false if an
    /// output has errors or values that are not known yet.
    private func outputs(
        _ fields: Fields, _ parts: OutputNodes, _ scope: Scope, dividedAt location: SourceRange?
    ) -> (specs: [OutputSpec], isComplete: Bool) {
        guard let entry = parts.outputs else {
            let hasPackage = fields["package"].map { refusePackage($0) } ?? false
            guard let output = decoder(nil, scope).output(fields) else { return ([], false) }
            let (outputs, isComplete) = divided(output, at: location, in: scope) { scope, id in
                let node = parts.complete(of: substituted(parts.job, scope))
                return reader.fields(node, as: isPartial ? Language.job.partial() : Language.job).flatMap {
                    decoder(id, scope).output($0)
                }
            }
            return (outputs, isComplete && !hasPackage)
        }
        let named = reader.named(entry, "an output")
        if case .mapping(let entries) = entry.value.content, entries.isEmpty {
            reader.sink.error(
                .invalidValue, "`outputs` is empty; a job requires at least one output", at: entry.value.range
            )
        }
        if named.count > JobSpec.mostOutputs {
            reader.sink.error(
                .fanOut,
                "a job can have at most \(JobSpec.mostOutputs) outputs, and this one has \(named.count)",
                at: entry.keyRange)
            return ([], false)
        }
        let package = fields["package"]
        let results = named.compactMap { output($0, parts, package) }
        guard case .mapping(let entries) = entry.value.content, !results.isEmpty else { return ([], false) }
        let isComplete = results.count == entries.count && results.allSatisfy(\.isComplete)
        let specs = results.flatMap(\.outputs)
        // The planner reports it, unless a condition of the job doesn't hold.
        if specs.count > JobSpec.mostOutputs, tracks != nil {
            return withoutTracks.outputs(fields, parts, scope, dividedAt: location)
        }
        let renditions = specs.filter { $0.destination == nil }
        // A package of `defaults` applies to jobs with outputs that have no destination.
        guard let package, !package.keyRange.isDefault || !renditions.isEmpty else {
            return (specs, isComplete)
        }
        guard let folder = self.package(package, of: named, renditions) else { return (specs, false) }
        return (specs.filter { $0.destination != nil } + [folder], isComplete)
    }

    /// Decodes an entry of `outputs`; a rendition of the job's package has no destination. Returns nil after an error is
    /// reported, or if a value is not known yet.
    private func output(
        _ entry: YAMLNode.Entry, _ parts: OutputNodes, _ package: YAMLNode.Entry?
    ) -> (outputs: [OutputSpec], isComplete: Bool)? {
        var scope = scope
        scope.output = entry.key
        let written = parts.output(entry.value)
        scope.makesImages = OutputKindKey.namesImages(written)
        let id = Located(entry.key, at: entry.keyRange)
        if let package, written[key: "destination"] == nil {
            var decoder = decoder(id, scope)
            decoder.ownRange = entry.value.range
            let node = Substitution(scope: scope, reader: reader).apply(to: entry.value)
            return decoder.rendition(node, of: package).map { ([$0.spec], $0.isComplete) }
        }
        DestinationCheck(scope: scope, reader: reader).check(written, as: Language.output)
        func decode(_ scope: Scope, _ id: Located<String>) -> OutputDecoder.Result? {
            var decoder = decoder(id, scope)
            decoder.ownRange = entry.value.range
            return reader.fields(substituted(written, scope), as: Language.output).flatMap {
                decoder.output($0)
            }
        }
        let location = Self.divisionLocation(in: written)
        if location != nil || isPartial { scope.track = .unknown }
        return decode(scope, id).map { divided($0, at: location, in: scope, decode: decode) }
    }

    func decoder(_ id: Located<String>?, _ scope: Scope) -> OutputDecoder {
        var ofSettings = scope
        ofSettings.track = nil
        return OutputDecoder(
            reader: reader,
            settings: SettingsResolver(reader: reader, definition: definition, scope: ofSettings),
            id: id, isTemplate: isTemplate || scope.track?.isUnknown == true, asset: asset)
    }

    /// Decodes `group`, a name that isn't empty.
    private func group(_ fields: Fields) -> Located<String>? {
        guard let name = fields["group"].flatMap({ reader.text($0.value, "`group`") }) else { return nil }
        guard !name.value.isEmpty else {
            reader.sink.error(.invalidValue, "`group` must not be empty", at: name.range)
            return nil
        }
        return name
    }

    /// Reports a gain that is shared with sources that can't be measured when the job is planned, and a `group` without a
    /// shared gain. A `group` from `defaults` is ignored in such a job.
    private func checkSharedGain(_ job: JobSpec) {
        guard let normalize = job.sharedNormalization else {
            if let group = job.group, !group.range.isDefault {
                reader.sink.error(
                    .conflictingKeys,
                    "`group` has no effect: no audio of the job has `normalize: { group: job }`",
                    at: group.range, help: "add it to a rule's `encode`, or remove `group`")
            }
            return
        }
        for rule in job.renditions.flatMap(\.tracks) {
            guard case .copy(_, let otherwise) = rule.action, let spec = otherwise?.audio?.normalize,
                spec.value.sharesGain
            else { continue }
            reader.sink.error(
                .conflictingKeys,
                "`copy` can't be combined with `group: job`: a copied track wouldn't get the gain of the others",
                at: rule.action.range,
                notes: [Diagnostic.Note("`group` is here", at: spec.value.group?.range ?? spec.range)],
                help: "remove `copy`, or normalize each file with `group: file`")
        }
        let noun: String
        switch job.asset.source {
        case .file, .glob: return
        case .url: noun = "a URL"
        case .playlist: noun = "a package"
        case .job: noun = "the output of another job"
        case .pattern, .images, .image, .composition, .composed: noun = job.asset.generatedNoun ?? "generated"
        }
        reader.sink.error(
            .conflictingKeys,
            "`group: job` requires media files, which are measured when the job is planned; the source is \(noun)",
            at: normalize.value.group?.range ?? normalize.range,
            notes: [Diagnostic.Note("the source is here", at: job.asset.range)],
            help: "normalize each file with `group: file`")
    }

    /// Reports a `cut` other than `exact` in a job that copies no video. A `cut` from `defaults` is ignored in such a
    /// job.
    private func checkCut(_ job: JobSpec) {
        guard let cut = job.cut, cut.value != .exact, !cut.range.isDefault else {
            return
        }
        let all = job.renditions.flatMap(\.tracks)
        let rules = all.filter { $0.mediaType == .video }
        guard let first = rules.first, !rules.contains(where: \.action.isCopy) else { return }
        // Smart cuts also apply to copied audio, which is cut at packet boundaries.
        let cutsAudio = all.contains { $0.mediaType == .audio && $0.action.isCopy }
        guard cut.value == .keyframe || !cutsAudio else { return }
        reader.sink.error(
            .conflictingKeys,
            "`cut: \(cut.value.rawValue)` requires a video rule with `copy: true`",
            at: cut.range,
            notes: [Diagnostic.Note("frames are re-encoded here", at: first.action.range)],
            help: first.action.video?.burn == nil
                ? "add `copy: true` to the rule; `encode` of the same rule then applies to the edges"
                : "remove `cut`; frames with burned subtitles are all encoded, and ranges are exact")
    }

    /// Reports `chapters: clips` without a composition. With `clips` from `defaults`, a job without a composition keeps
    /// its source's chapters.
    private func checkChapters(_ job: JobSpec) {
        if case .composition = job.asset.source { return }
        for case let chapters? in job.outputs.map(\.media?.chapters) {
            guard case .clips = chapters.value, !chapters.range.isDefault else {
                continue
            }
            reader.sink.error(
                .conflictingKeys, "`chapters: clips` requires a `composition`",
                at: chapters.range, help: "`keep` copies the source's chapters")
        }
    }

    /// Reports settings that can't be combined with `on_damage: skip`, because they require frames or packets to match
    /// the source one to one.
    private func checkSkipping(_ job: JobSpec, _ location: SourceRange) {
        if let cut = job.cut, cut.value == .smart || cut.value == .smartOrExact {
            reader.sink.error(
                .conflictingKeys,
                "`on_damage: skip` can't be combined with a smart cut, which requires undamaged packets",
                at: location, notes: [Diagnostic.Note("`cut` is here", at: cut.range)])
        }
        for expectation in job.renditions.flatMap(\.expectations) {
            guard case .similarity = expectation.check else { continue }
            reader.sink.error(
                .conflictingKeys,
                "`on_damage: skip` can't be combined with `similarity`, which compares every frame with the source",
                at: location,
                notes: [Diagnostic.Note("`similarity` is here", at: expectation.location)])
            break
        }
    }

    /// Decodes `publish_if`. One from `defaults` is ignored in jobs that can't have it.
    private func publishCondition(_ fields: Fields, isDivided: Bool) -> PublishCondition? {
        guard let entry = fields["publish_if"],
            let inner = reader.fields(entry.value, as: Language.publishIf),
            let saving = reader.value("smaller_by", of: inner, as: PublishCondition.Saving.self)
        else { return nil }
        let condition = PublishCondition(smallerBy: saving.value, range: entry.value.range)
        let other = (["outputs"] + OutputKindKey.names { !$0.isMedia }).lazy.compactMap { fields[$0] }.first
        if let other {
            if !entry.keyRange.isDefault {
                reader.sink.error(
                    .conflictingKeys, "`publish_if` can't be combined with `\(other.key)`",
                    at: entry.keyRange,
                    notes: [Diagnostic.Note("`\(other.key)` is here", at: other.keyRange)],
                    help: "it applies to the single output of a job with `tracks` or `export`")
            }
            return nil
        }
        // `checkDivision` reports a condition of the job itself.
        if isDivided, entry.keyRange.isDefault { return nil }
        guard let generated = asset.generatedNoun else { return condition }
        if !entry.keyRange.isDefault {
            reader.sink.error(
                .conflictingKeys, "`publish_if` requires a media file; the source is \(generated)",
                at: entry.keyRange, notes: [Diagnostic.Note("the source is here", at: asset.range)])
        }
        return nil
    }

    /// Reports conditions on properties that only files have, for any other source.
    private func checkConditions(_ job: JobSpec) {
        guard let generated = asset.generatedNoun else { return }
        let rules = job.renditions.flatMap(\.tracks)
        let found =
            ([job.when] + rules.map(\.when)).compactMap { $0 }.map { ($0.fileFacts, $0.range) }
            + rules.compactMap(\.copyCondition).map { ($0.fileFacts, $0.range) }
        for (facts, location) in found {
            guard let fact = facts.first else { continue }
            reader.sink.error(
                .conflictingKeys,
                "a condition on `\(fact)` requires a media file; the source is \(generated)",
                at: location, notes: [Diagnostic.Note("the source is here", at: asset.range)])
        }
    }

    private func scheduling(_ fields: Fields) -> JobScheduling {
        var scheduling = JobScheduling()
        scheduling.timeout =
            reader.length("timeout", of: fields)?.value
        scheduling.retries = reader.valueOrDefault("retries", of: fields)
        scheduling.priority = reader.valueOrDefault("priority", of: fields)
        scheduling.threads = reader.integer("threads", of: fields)?.value
        return scheduling
    }
}
