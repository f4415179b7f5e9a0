internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing
internal import Streaming

/// The planner of a package: plans each rendition as an output, and checks that their segments can begin at the same
/// times.
struct PackagePlanner {
    let job: JobSpec
    let output: OutputSpec
    let spec: PackageSpec
    let input: ResolvedInput
    let destination: DestinationPath
    let written: DestinationSpec
    let prober: any SourceProber
    let files: AddedFiles

    /// Maximum number of segments of a rendition.
    static let mostSegments = 50_000

    /// A planned rendition with its description in the job file.
    private struct Rendition {
        let spec: OutputSpec
        var plan: OutputPlan
        let input: InputPlan

        var track: TrackPlan? { plan.tracks.first }
        /// Type of the track; nil for thumbnails.
        var mediaType: MediaType? { plan.isMedia ? track?.source.mediaType : nil }
        /// Whether the rendition is audio or video, in segments.
        var hasSegments: Bool { mediaType == .video || mediaType == .audio }
        var location: SourceRange { spec.id?.range ?? plan.location }
        var name: String { plan.id ?? "" }
    }

    /// Returns the plan of the package and the input that all renditions read; nil after an error.
    func decide() -> Decision<(input: InputPlan, output: OutputPlan)> {
        var reasons = Reasons()
        var renditions = renditions(&reasons)
        checkInputs(renditions, &reasons)
        checkFrameRates(renditions, &reasons)
        checkCodecs(renditions, &reasons)
        checkKeyframeControl(renditions, &reasons)
        checkLength(renditions, &reasons)
        let boundaries = boundaries(renditions, &reasons)
        guard !reasons.hasErrors, let first = renditions.first else { return Decision(nil, reasons) }
        for index in renditions.indices where renditions[index].hasSegments {
            renditions[index].plan.media?.segmentation = SegmentationPlan(
                interval: spec.segment.value, boundaries: boundaries)
        }
        return Decision((first.input, assemble(renditions, reasons)), reasons)
    }

    // MARK: Renditions

    private func renditions(_ reasons: inout Reasons) -> [Rendition] {
        var renditions: [Rendition] = []
        for spec in spec.renditions {
            guard let container = spec.container, let id = spec.id,
                let product = OutputPlanner.Product(spec.kind)
            else { continue }
            var planner = OutputPlanner(
                job: job, output: spec.storedRendition, product: product, container: container, input: input,
                destination: destination.child(id.value), as: written, prober: prober,
                files: AddedFiles(subtitles: files.subtitles, fonts: files.fonts))
            planner.isRendition = true
            let decision = planner.decide()
            reasons.diagnostics.add(decision.reasons.diagnostics)
            guard let (input, plan) = decision.value else {
                // The package lacks a rendition whose optional rule selects no track.
                for note in decision.reasons.notes { reasons.note("\(id.value): \(note)") }
                continue
            }
            guard plan.tracks.count == 1 else {
                reasons.error(
                    .noSuchTrack,
                    "an output of a `package` has one track; the rule selects \(plan.tracks.count)",
                    at: spec.tracks.first?.selection.range ?? id.range,
                    help: "use `first`, or a selection such as `{ language: eng }`")
                continue
            }
            renditions.append(Rendition(spec: spec, plan: plan, input: input))
        }
        if !reasons.hasErrors, !renditions.contains(where: \.hasSegments) {
            reasons.error(
                .noSuchTrack, "the source has no track for the `package`", at: self.spec.range)
        }
        return renditions
    }

    // MARK: Checks

    private func checkInputs(_ renditions: [Rendition], _ reasons: inout Reasons) {
        guard let first = renditions.first else { return }
        for other in renditions.dropFirst() where other.input != first.input {
            reasons.error(
                .invalidRange,
                "`\(other.name)` and `\(first.name)` read different ranges, so their segments can't be aligned",
                at: other.location, notes: [Diagnostic.Note("`\(first.name)` is here", at: first.location)],
                help: "use `cut: exact`, or the same action for both")
        }
    }

    /// Reports encoded video renditions whose frames at the starts of segments have different times.
    private func checkFrameRates(_ renditions: [Rendition], _ reasons: inout Reasons) {
        let encoded = renditions.compactMap { rendition -> (rendition: Rendition, rate: Rational?)? in
            guard case .encode(let encoding) = rendition.track?.action, rendition.mediaType == .video else {
                return nil
            }
            return (rendition, encoding.encoder.frameRate)
        }
        guard let first = encoded.first else { return }
        for other in encoded.dropFirst() where other.rate != first.rate {
            // With whole numbers of frames in a segment, the first frame of each has the same time at both rates.
            let isAligned = [first.rate, other.rate].allSatisfy { rate in
                rate.map { isWhole(spec.segment.value, at: $0) } ?? false
            }
            if isAligned { continue }
            reasons.error(
                .invalidValue,
                "`\(other.rendition.name)` and `\(first.rendition.name)` have different frame rates (\(text(other.rate)), \(text(first.rate))), and segments of \(spec.segment.value) s don't have a whole number of frames at both",
                at: other.rendition.location,
                notes: [
                    Diagnostic.Note("`\(first.rendition.name)` is here", at: first.rendition.location),
                    Diagnostic.Note("the duration of segments is determined here", at: spec.segment.range),
                ])
        }
    }

    private func isWhole(_ time: MediaTime, at rate: Rational) -> Bool {
        let frames = Int128(time.value) * Int128(rate.num)
        return frames % (Int128(time.timescale) * Int128(max(1, rate.den))) == 0
    }

    private func text(_ rate: Rational?) -> String { rate.map { "\($0)" } ?? "variable" }

    /// Reports codecs that players don't support in the segments, or that manifests can't name, so that players couldn't choose
    /// the renditions.
    private func checkCodecs(_ renditions: [Rendition], _ reasons: inout Reasons) {
        for rendition in renditions where rendition.hasSegments {
            guard let track = rendition.track, let codec = Self.codec(of: track),
                !spec.container.value.supports(codec: codec)
            else { continue }
            switch spec.container.value {
            case .mp4:
                reasons.error(
                    .containerCodec, "\(codec) has no `CODECS` string (RFC 6381), which manifests require",
                    at: track.location,
                    help: "use h264, hevc, av1 or vp9 for video, and aac, ac3, eac3, opus or flac for audio")
            case .ts:
                reasons.error(
                    .containerCodec, "HLS doesn't support \(codec) in MPEG transport streams",
                    at: track.location,
                    notes: [Diagnostic.Note("the container is determined here", at: spec.container.range)],
                    help: "use h264 for video and aac, mp3, ac3 or eac3 for audio, or `container: mp4`")
            }
        }
    }

    /// Returns FFmpeg's name of the codec of a rendition's track; nil for subtitles.
    private static func codec(of track: TrackPlan) -> String? {
        switch track.action {
        case .copy, .smartCut: track.source.codec
        case .encode(let encoding): encoding.encoder.model?.codec
        case .subtitle, .read: nil
        }
    }

    /// Reports encoders that don't write a keyframe where one is requested.
    private func checkKeyframeControl(_ renditions: [Rendition], _ reasons: inout Reasons) {
        for rendition in renditions where rendition.mediaType == .video {
            guard case .encode(let encoding) = rendition.track?.action,
                encoding.encoder.model?.gop.honorsKeyframeRequests(encoding.encoder) == false
            else { continue }
            reasons.error(
                .codecSetting,
                "\(encoding.encoder.encoder) ignores requested keyframes with these settings, so segments can't begin at the same times",
                at: rendition.track?.location ?? rendition.location, help: "use `crf`")
        }
    }

    private func checkLength(_ renditions: [Rendition], _ reasons: inout Reasons) {
        let duration = renditions.map(\.plan.expectedDuration).max() ?? .zero
        let segments = duration.seconds / spec.segment.value.seconds
        guard segments > Double(Self.mostSegments) else { return }
        reasons.error(
            .invalidValue,
            "the package would have \(Int(segments)) segments per rendition; at most \(Self.mostSegments) are supported",
            at: spec.segment.range, help: "use longer segments")
    }

    /// Returns the start times of segments if video is copied; nil for the multiples of the segments' duration.
    private func boundaries(_ renditions: [Rendition], _ reasons: inout Reasons) -> [MediaTime]? {
        let copied = renditions.filter { rendition in
            guard rendition.mediaType == .video, case .copy? = rendition.track?.action else { return false }
            return true
        }
        var found: (rendition: Rendition, times: [MediaTime])?
        for rendition in copied {
            guard let times = keyframes(of: rendition, &reasons) else { return nil }
            guard let earlier = found else {
                found = (rendition, times)
                continue
            }
            guard let time = Set(times).symmetricDifference(earlier.times).min() else { continue }
            let (own, other) = (rendition.name, earlier.rendition.name)
            let (with, without) = times.contains(time) ? (own, other) : (other, own)
            reasons.error(
                .copyRange,
                "a segment of `\(with)` begins at \(time) s, at which `\(without)` has no keyframe",
                at: rendition.location,
                notes: [Diagnostic.Note("`\(other)` is here", at: earlier.rendition.location)],
                help: "use `encode` for one of them")
        }
        return found?.times
    }

    /// Returns the times of the keyframes at which segments of a copied track begin, on the output's time line: the first
    /// at or after each multiple of the segments' duration.
    private func keyframes(of rendition: Rendition, _ reasons: inout Reasons) -> [MediaTime]? {
        guard let track = rendition.track else { return nil }
        guard case .file(let path, _) = input.source, rendition.input.joinedRanges.isEmpty else {
            reasons.error(
                .copyRange,
                "video can be copied into a `package` only from a file, and without joined ranges",
                at: track.location, help: "use `encode`")
            return nil
        }
        let all: [MediaTime]
        do throws(SourceProblem) {
            all = try prober.keyFrames(track.source.index, of: path, limit: Self.mostKeyframes)
        } catch {
            reasons.error(.sourceUnreadable, "\(path): \(error)", at: job.asset.range)
            return nil
        }
        guard all.count < Self.mostKeyframes else {
            reasons.error(
                .copyRange, "the source has more than \(Self.mostKeyframes) keyframes", at: track.location,
                help: "use `encode`")
            return nil
        }
        let range = rendition.input.range
        let start = range?.start ?? .zero
        let inside = all.filter { $0 > start && range.map { $0.end } ?? .longest > $0 }.map { $0 - start }
        return Self.starts(inside, every: spec.segment.value)
    }

    private static let mostKeyframes = 100_000

    /// Returns the first of some ascending times at or after each multiple of an interval.
    static func starts(_ times: [MediaTime], every interval: MediaTime) -> [MediaTime] {
        var next = interval
        return times.filter { time in
            guard time >= next else { return false }
            next = time.nextMultiple(of: interval)
            return true
        }
    }

    // MARK: Plan

    private func assemble(_ renditions: [Rendition], _ reasons: Reasons) -> OutputPlan {
        let described = renditions.map { rendition in
            var plan = rendition.plan
            (plan.notes, plan.ledger) = ([], [])
            let rule = rendition.spec.tracks.first
            let source = rendition.track?.source
            return PackagePlan.Rendition(
                output: plan, language: rule?.language?.value ?? source?.language,
                title: rule?.title?.value ?? source?.title,
                disposition: rule?.disposition?.value ?? source?.disposition ?? [])
        }
        let plans = described.map(\.output)
        let package = PackagePlan(
            formats: spec.formats.map(\.value), files: spec.files, container: spec.container.value,
            segment: spec.segment.value,
            variants: variants(renditions), hasKeyframePlaylists: spec.keyframePlaylists != nil,
            renditions: described, thumbnailInterval: thumbnailInterval(renditions), location: spec.range)
        let sizes = plans.map(\.expectedSize)
        let size: Int64? =
            sizes.contains { $0 == nil } ? nil : sizes.reduce(Int64(0)) { $0.adding(upToLimit: $1 ?? 0) }
        var notes = reasons.notes
        for rendition in renditions { notes += rendition.plan.notes.map { "\(rendition.name): \($0)" } }
        return OutputPlan(
            id: output.id?.value, location: output.id?.range ?? job.id.range,
            container: spec.container.value.rawValue,
            kind: .package(package), destination: destination.path,
            destinationLocation: written.path.range, ifExists: written.ifExists,
            makesDirectories: written.makesDirectories, tracks: [], ledger: ledger(renditions),
            expectedDuration: plans.map(\.expectedDuration).max() ?? .zero, expectedSize: size,
            notes: notes)
    }

    /// Returns the time from one thumbnail to the next; nil without thumbnails.
    private func thumbnailInterval(_ renditions: [Rendition]) -> MediaTime? {
        for rendition in renditions {
            guard let images = rendition.plan.images else { continue }
            switch rendition.spec.images?.selection {
            case .every(let interval): return interval.value
            case .count(let count):
                return images.duration.multiplied(by: 1, dividedBy: Int64(count.value))
            case .at, .keyFrames, .scenes, nil: return nil
            }
        }
        return nil
    }

    /// Returns the entries of all renditions. An item is dropped only if no rendition keeps it.
    private func ledger(_ renditions: [Rendition]) -> [LedgerEntry] {
        LedgerCollector.ledger(renditions.flatMap(ledger), of: input.description).map { entry in
            guard entry.track == nil, entry.outcome == .dropped, case .tag = entry.item else { return entry }
            var entry = entry
            entry.reason = "segments have no tags"
            return entry
        }
    }

    /// Returns the entries of a rendition. The manifests contain the language and title that its container can't store.
    private func ledger(of rendition: Rendition) -> [LedgerEntry] {
        guard let source = rendition.track?.source, let rule = rendition.spec.tracks.first,
            rendition.mediaType == .audio || rendition.mediaType == .subtitle
        else { return rendition.plan.ledger }
        func isStated(_ key: String) -> Bool {
            switch key.lowercased() {
            case "language": rule.language == nil && source.language.flatMap { LanguageTag($0) } != nil
            case "title", "handler_name":
                rule.title == nil && source.title != nil
                    && source.tags.contains { $0.key == key && $0.value == source.title }
            default: false
            }
        }
        return rendition.plan.ledger.map { entry in
            guard entry.outcome == .dropped, entry.track == source.index,
                entry.file?.exact == rendition.track?.file?.path.exact, case .tag(let key) = entry.item,
                isStated(key)
            else { return entry }
            var entry = entry
            (entry.outcome, entry.reason) = (.copied, "in the manifests")
            return entry
        }
    }

    /// Returns the variants of the job file that have all their renditions; without any, every video with every audio.
    private func variants(_ renditions: [Rendition]) -> [StreamingVariant] {
        func ids(_ type: MediaType) -> [String] {
            renditions.filter { $0.mediaType == type }.map(\.name)
        }
        let (videos, audios) = (ids(.video), ids(.audio))
        guard spec.variants.isEmpty else {
            let known = Set((videos + audios).map(\.exact))
            var variants: [StreamingVariant] = []
            for written in spec.variants {
                // An optional rendition may be missing.
                let variant = StreamingVariant(
                    video: written.video.map(\.value).flatMap { known.contains($0.exact) ? $0 : nil },
                    audio: written.audio.map(\.value).flatMap { known.contains($0.exact) ? $0 : nil },
                    audioGroup: written.audioGroup)
                guard variant.video != nil || variant.audio != nil, !variants.contains(variant) else {
                    continue
                }
                variants.append(variant)
            }
            return variants
        }
        if !spec.audioGroups.isEmpty, !audios.isEmpty {
            return (videos.isEmpty ? [nil] : videos.map(Optional.some)).flatMap { video in
                spec.audioGroups.flatMap { group in
                    let members = Set(group.outputs.map(\.exact))
                    return audios.filter { members.contains($0.exact) }.map {
                        StreamingVariant(video: video, audio: $0, audioGroup: group.name.value)
                    }
                }
            }
        }
        if videos.isEmpty { return audios.map { StreamingVariant(video: nil, audio: $0) } }
        if audios.isEmpty { return videos.map { StreamingVariant(video: $0, audio: nil) } }
        return videos.flatMap { video in audios.map { StreamingVariant(video: video, audio: $0) } }
    }
}
