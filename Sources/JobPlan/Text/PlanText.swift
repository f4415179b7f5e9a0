internal import Diagnostics
internal import JobSpec
internal import LibAV
package import Media

/// The text form of a plan for the user.
package enum PlanText {
    /// Renders the whole plan with totals. `reasons` returns the reasons why an output would be created.
    package static func render(_ plan: BatchPlan, reasons: (OutputTask) -> RunReasons) -> String {
        var text = ""
        var (current, declined, skipped) = (0, 0, plan.skips.count)
        for job in plan.jobs {
            for task in job.tasks {
                let why = reasons(task)
                switch why.omission {
                case .declined?: declined += 1
                case .skipped?: skipped += 1
                case nil: if why.lines.isEmpty || why.onlyEvaluates { current += 1 }
                }
                text += render(task, of: job, why) + "\n"
            }
        }
        for skip in plan.skips {
            text += SafeText.line("\(skip.id)") + "\n" + SafeText.line("  skipped    \(skip.reason)") + "\n\n"
        }
        var total = MediaTime.zero
        for output in plan.jobs.flatMap(\.outputs) { total = total + output.expectedDuration }
        let all = plan.jobs.flatMap(\.outputs)
        let outputs = all.count(where: \.isPublished)
        text += "\(count(of: all)), \(time(total)) of media"
        let sizes = all.compactMap(\.expectedSize)
        if !sizes.isEmpty {
            text += ", about \(bytes(sizes.reduce(0) { $0.adding(upToLimit: $1) }))"
            if sizes.count < outputs { text += " and \(outputs - sizes.count) of unknown size" }
        }
        if current > 0 { text += "; \(current) up to date" }
        if declined > 0 { text += "; \(declined) declined" }
        if skipped > 0 { text += "; \(skipped) skipped" }
        if !plan.refusals.isEmpty { text += "; \(plan.refusals.count) rejected" }
        return text + "\n"
    }

    private static func render(_ task: OutputTask, of job: JobPlan, _ why: RunReasons) -> String {
        let (input, output) = (task.input, task.output)
        let reasons = why.lines
        var lines = ["\(task.name)" + (output.destination.map { "  →  \($0)" } ?? "")]
        for (index, reason) in reasons.prefix(4).enumerated() {
            lines.append(
                "  \(pad(index > 0 ? "" : why.onlyEvaluates ? "will check" : "will run", 10)) \(reason)")
        }
        if let omission = why.omission {
            lines.append("  \(pad(omission.word, 10)) \(omission.reason)")
        } else if reasons.isEmpty {
            lines.append("  up to date")
        }
        if reasons.count > 4 { lines.append("  \(pad("", 10)) and \(reasons.count - 4) more") }
        lines.append("  source     \(source(input))")
        if case .composition(let composition, _) = input.source {
            lines += TimelineText.lines(
                composition, cut: output.tracks.lazy.compactMap(\.cut).first,
                copiesAudio: output.tracks.contains { $0.source.mediaType == .audio && $0.action == .copy })
        }
        if let shared = sharing(output, in: job) { lines.append("  read       \(shared)") }
        if let range = input.range {
            lines.append("  range      \(range.start) s to \(range.end) s (\(range.duration) s)")
        }
        for (index, range) in input.joinedRanges.enumerated() {
            let name = index == 0 ? "joined" : "  then"
            lines.append("  \(pad(name, 10)) \(range.start) s to \(range.end) s (\(range.duration) s)")
        }
        if let requested = input.requestedRange {
            lines.append(
                "  requested  \(requested.start) s to \(requested.end) s; widened to keyframes"
            )
        }
        let kind = output.kind.plan
        var summary = kind.summary(of: output)
        if output.ifExists != .fail {
            summary += ", if the destination exists: \(output.ifExists.rawValue)"
        }
        lines.append("  \(pad(kind.title, 10)) \(summary)")
        lines += kind.linesBeforeTracks(of: output)
        for (index, track) in output.tracks.enumerated() { lines += render(track, index, of: output) }
        lines += kind.linesAfterTracks(of: output)
        if output.isPublished {
            lines.append("  ledger")
            lines += ledger(output.ledger)
        }
        if let condition = job.publishIf {
            lines.append("  publishes  if smaller than the source by \(condition.smallerBy.text)")
        }
        for expectation in output.allExpectations { lines.append("  expects    \(expectation.check.text)") }
        if input.damagePolicy == .skip {
            lines.append("  damage     damaged data is skipped and counted")
        }
        if output.media?.keepsFileTimes == true { lines.append("  file time  kept") }
        for note in output.notes { lines.append("  note       \(note)") }
        var expected = "  expected   \(kind.expectedText(of: output))"
        if let size = output.expectedSize { expected += ", about \(bytes(size))" }
        lines.append(expected)
        return lines.map { SafeText.line($0) + "\n" }.joined()
    }

    /// Returns the number of outputs and of checks, for the totals.
    private static func count(of outputs: [OutputPlan]) -> String {
        let checks = outputs.count { !$0.isPublished }
        let written = counted(outputs.count - checks, "output")
        if checks == 0 { return written }
        return (checks < outputs.count ? written + ", " : "") + counted(checks, "check")
    }

    /// Describes which other outputs share the read of an output; nil if it is the only output.
    private static func sharing(_ output: OutputPlan, in job: JobPlan) -> String? {
        guard job.outputs.count > 1 else { return nil }
        let others = job.outputs.filter { $0.input == output.input && $0.id != output.id }.compactMap(\.id)
        guard !others.isEmpty else {
            return "separate from the other outputs, because range or duration differ"
        }
        return "shared with \(others.joined(separator: ", "))"
    }

    /// Renders the ledger. Tags of the same track with equal outcomes are joined in one line.
    private static func ledger(_ entries: [LedgerEntry]) -> [String] {
        struct Group: Hashable {
            let file: String?
            let track: Int?
            let outcome: LedgerEntry.Outcome
            let reason: String
        }
        let names = FileNames(entries.compactMap(\.file))
        var groups: [Group: [String]] = [:]
        for entry in entries {
            guard case .tag(let key) = entry.item else { continue }
            groups[
                Group(file: entry.file, track: entry.track, outcome: entry.outcome, reason: entry.reason),
                default: []
            ]
            .append(key)
        }
        var seen: Set<Group> = []
        return entries.compactMap { entry in
            var item = entry.item.text
            if case .tag = entry.item {
                let group = Group(
                    file: entry.file, track: entry.track, outcome: entry.outcome, reason: entry.reason)
                guard seen.insert(group).inserted else { return nil }
                if let names = groups[group], names.count > 1 {
                    item = "tags " + names.joined(separator: ", ")
                }
            }
            let own = entry.track.map { "track \($0)" } ?? "file"
            let subject = entry.file.map { "\(own) of \(names[$0])" } ?? own
            return
                "    \(pad(subject, 9)) \(pad(entry.outcome.rawValue, 8)) \(item): \(entry.reason)"
        }
    }

    /// Returns a description of the re-encoded frames of a cut.
    private static func edges(of cut: SmartCut) -> String {
        if cut.isComposed {
            let clips = cut.parts.filter { $0.clip != nil }
            let edges = clips.reduce(0) { $0 + $1.headFrames + $1.tailFrames }
            return "\(edges) frames at the edges of \(clips.count) clips, \(cut.generatedFrames) between them"
        }
        let isJoined = cut.parts.count > 1
        return
            "\(cut.headFrames) frames at the \(isJoined ? "starts" : "start"), \(cut.tailFrames) at the \(isJoined ? "ends of \(cut.parts.count) ranges" : "end")"
    }

    static func render(_ track: TrackPlan, _ index: Int, of output: OutputPlan) -> [String] {
        let name = track.sourceText(output.fileNames)
        switch track.action {
        case .copy: return ["  track \(index)    \(name), copied; \(expectation(track.expected))"]
        case .subtitle(let codec): return ["  track \(index)    \(name) → \(codec.rawValue)"]
        case .read(let decodes):
            let how = decodes ? "decoded" : "packets read"
            return ["  track \(index)    \(name), \(how); \(expectation(track.expected))"]
        case .smartCut(let cut):
            return [
                "  track \(index)    \(name), \(cut.isComposed ? "clips copied" : "smart cut"); \(expectation(track.expected))",
                "    \(pad("copied", 18)) \(cut.copiedFrames) frames of \(counted(cut.copiedGroups, "GOP"))",
                "    \(pad("re-encoded", 18)) \(edges(of: cut))",
            ]
                + (cut.hasEdges
                    ? ["    \(pad("edges", 18)) \(cut.encoder.encoder) \(cut.encoder.optionsText)"] : [])
        case .encode(let encoding):
            let described =
                output.kind.plan.hasTimeLine
                ? expectation(track.expected) : counted(track.expected.frames ?? 0, "frame")
            var lines = ["  track \(index)    \(name) → \(encoding.codec); \(described)"]
            for input in track.mix?.inputs ?? [] {
                lines.append("    \(pad("mixed in", 18)) track \(input.track), \(volume(input.volume))")
            }
            for setting in encoding.settings {
                let origin = setting.origin == .job ? "" : "  (\(setting.origin.rawValue))"
                lines.append("    \(pad(setting.key, 18)) \(setting.value)\(origin)")
            }
            return lines
        }
    }

    private static func volume(_ envelope: VolumeEnvelope) -> String {
        if envelope.isFull { return "unchanged volume" }
        let points = envelope.points.map { "\(ThousandthsText.text($0.thousandths)) at \($0.time) s" }
        return envelope.points.count == 1
            ? "volume \(ThousandthsText.text(envelope.points[0].thousandths))"
            : "volume \(points.joined(separator: ", "))"
    }

    private static func expectation(_ expected: TrackPlan.Expectation) -> String {
        let about = expected.isExact ? "" : "about "
        var parts: [String] = []
        if let frames = expected.frames { parts.append(about + counted(frames, "frame")) }
        if let samples = expected.samples { parts.append(about + counted(samples, "sample")) }
        var span = "\(about)\(expected.timeRange.duration) s"
        if expected.timeRange.start > .zero { span += " from \(expected.timeRange.start) s" }
        return (parts + [span]).joined(separator: ", ")
    }

    private static func source(_ input: InputPlan) -> String {
        switch input.source {
        case .file(let path, _):
            let about = input.sourceDescription.isDurationExact ? "" : "about "
            return
                "\(path) (\(input.package.map { counted($0.parts.count, "rendition") + ", " } ?? "")\(input.sourceDescription.container), \(about)\(time(input.sourceDescription.duration)))"
        case .pattern(let pattern):
            let tone = pattern.toneFrequency.map { ", tone \($0) Hz" } ?? ", silent"
            return
                "test signal \(pattern.name) \(pattern.width)x\(pattern.height), \(pattern.frameRate) frames/s, \(pattern.duration) s\(tone)"
        case .images(let sequence, _):
            let what =
                sequence.numbers.map { "\(counted($0.count, "image")) from \($0.first)" } ?? "an image"
            return
                "\(sequence.path) (\(what), \(sequence.frameRate) frames/s, \(time(sequence.duration)))"
        case .composition(let composition, _):
            return "\(input.sourceName), \(time(composition.duration))"
        case .job(let id, let path):
            return "output of the job \(id): \(path) (predicted)"
        }
    }

    /// Returns a text followed by spaces up to a number of characters.
    package static func pad(_ text: String, _ width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }

    /// Returns a number of bytes as `57.5 kB`.
    package static func bytes(_ count: Int64) -> String {
        func one(_ value: Double) -> String {
            let tenths = Int((max(0, min(value, 1e12)) * 10).rounded())
            return "\(tenths / 10).\(tenths % 10)"
        }
        if count < 1000 { return "\(count) B" }
        if count < 1_000_000 { return "\(one(Double(count) / 1000)) kB" }
        if count < 1_000_000_000 { return "\(one(Double(count) / 1_000_000)) MB" }
        return "\(one(Double(count) / 1_000_000_000)) GB"
    }

    /// Returns a time as `1:30.5`.
    package static func time(_ time: MediaTime) -> String {
        let clock = ClockText(time)
        let fraction = clock.milliseconds == 0 ? "" : "." + ClockText.padded(clock.milliseconds, to: 3)
        let rest = ":\(ClockText.padded(clock.seconds, to: 2))\(fraction)"
        return clock.hours > 0
            ? "\(clock.hours):\(ClockText.padded(clock.minutes, to: 2))\(rest)" : "\(clock.minutes)\(rest)"
    }
}
