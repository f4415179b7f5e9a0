internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The selection of the track rules whose conditions hold for a source.
struct RuleSelection {
    let rules: [TrackRule]
    let conditions: ConditionEvaluator
    /// Location of the source in the job file, for errors of reading it.
    let sourceLocation: SourceRange
    /// Whether it isn't an error that no rule applies.
    var mayBeEmpty = false

    /// Returns the rules that apply, without their conditions; nil after an error. A note states the facts that decide.
    func decide() -> Decision<[TrackRule]> {
        var reasons = Reasons()
        do throws(SourceProblem) {
            let applicable = try applicable(&reasons)
            return Decision(reasons.hasErrors ? nil : applicable, reasons)
        } catch {
            reasons.error(.sourceUnreadable, "the source can't be read: \(error)", at: sourceLocation)
            return Decision(nil, reasons)
        }
    }

    private func applicable(_ reasons: inout Reasons) throws(SourceProblem) -> [TrackRule] {
        var applicable: [TrackRule] = []
        var omitted: [String] = []
        var index = 0
        while index < rules.count {
            let count = rules[index].choice?.count ?? 1
            let entries = rules[index..<min(rules.count, index + count)]
            index += count
            let chosen =
                rules[entries.startIndex].choice == nil
                ? try rule(rules[entries.startIndex], &omitted, &reasons)
                : try choose(from: entries, &omitted, &reasons)
            guard var chosen else { continue }
            (chosen.when, chosen.choice) = (nil, nil)
            applicable.append(chosen)
        }
        if applicable.isEmpty, !mayBeEmpty, let first = rules.first, !reasons.hasErrors {
            reasons.error(
                .noSuchTrack, "no track rule applies: \(omitted.joined(separator: "; "))", at: first.range,
                help: "add a rule without `when`, or skip such sources by `when` of the job")
        }
        return applicable
    }

    /// Returns a rule if its condition holds.
    private func rule(
        _ rule: TrackRule, _ omitted: inout [String], _ reasons: inout Reasons
    ) throws(SourceProblem) -> TrackRule? {
        guard let when = rule.when else { return rule }
        let finding = try conditions.evaluate(when)
        let name = "the \(rule.mediaType.rawValue) rule in line \(rule.range.line)"
        switch finding.outcome {
        case .holds: reasons.note("\(name) applies: \(finding.text)")
        case .fails:
            reasons.note("\(name) doesn't apply: \(finding.text)")
            omitted.append("line \(rule.range.line): \(finding.text)")
            return nil
        case .unknown: reasons.note(Self.postponed("\(name) applies", finding))
        }
        return rule
    }

    /// Returns the first entry of a `choose` whose condition holds; nil if none does.
    private func choose(
        from entries: ArraySlice<TrackRule>, _ omitted: inout [String], _ reasons: inout Reasons
    ) throws(SourceProblem) -> TrackRule? {
        var failed: [String] = []
        for rule in entries {
            let name = "entry \((rule.choice?.index ?? 0) + 1)"
            let subject = "\(rule.mediaType.rawValue): \(name) of `choose` applies"
            guard let when = rule.when else {
                reasons.note(failed.isEmpty ? subject : "\(subject), not \(failed.joined(separator: "; "))")
                return rule
            }
            let finding = try conditions.evaluate(when)
            switch finding.outcome {
            case .holds: reasons.note("\(subject): \(finding.text)")
            case .unknown: reasons.note(Self.postponed(subject, finding))
            case .fails:
                failed.append("\(name): \(finding.text)")
                continue
            }
            return rule
        }
        guard let first = entries.first, let choice = first.choice else { return nil }
        if first.isOptional {
            omitted += failed
            reasons.note(
                "optional \(first.mediaType.rawValue) dropped: no entry of `choose` applies: \(failed.joined(separator: "; "))"
            )
        } else {
            reasons.error(
                .noSuchTrack, "no entry of `choose` applies: \(failed.joined(separator: "; "))",
                at: choice.range,
                help: "add an entry without `when` at the end, or `optional: true` to the rule")
        }
        return nil
    }

    /// Returns a note about a condition that can't be evaluated yet.
    static func postponed(_ subject: String, _ finding: ConditionFinding) -> String {
        "\(subject) if its condition holds once the source exists: \(finding.text)"
    }
}

extension TrackRule {
    /// Returns the rule for some of its tracks that all meet the condition for copying, or that all don't.
    func applied(isCopied: Bool) -> TrackRule? {
        var rule = self
        rule.copyCondition = nil
        guard !isCopied else { return rule }
        guard case .copy(_, let otherwise?) = action else { return nil }
        rule.action = otherwise
        return rule
    }
}
