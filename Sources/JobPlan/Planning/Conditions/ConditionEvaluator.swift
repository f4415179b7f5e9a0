internal import JobSpec
internal import LibAV
internal import Media

/// The result of evaluating conditions.
struct ConditionFinding: Equatable {
    enum Outcome: Equatable {
        /// All conditions hold.
        case holds
        /// A condition doesn't hold.
        case fails
        /// The result depends on facts that are unknown until another job has created the source.
        case unknown
    }
    var outcome: Outcome
    /// The facts that decide, such as "`height` is 720".
    var facts: String
    /// The values that a condition accepts, if it doesn't hold, such as "at least 1080".
    var requirement: String?

    /// The deciding facts for messages, such as "`height` is 720 (required: at least 1080)".
    var text: String { facts + (requirement.map { " (required: \($0))" } ?? "") }
}

/// The evaluation of conditions on the source of a job.
struct ConditionEvaluator {
    private let source: InputPlan.Source
    private let description: SourceDescription
    private let prober: any SourceProber
    /// Whether other jobs have yet to create the source, or sources of a composition, so that only properties that their
    /// plans determine are known.
    private let isPredicted: Bool
    /// Whether the duration is exact, and so are those of the sources of a composition.
    private let hasExactDuration: Bool
    private let measured: MeasuredValues

    init(_ input: ResolvedInput, prober: any SourceProber) {
        (source, description, self.prober) = (input.source, input.description, prober)
        measured = input.bitRates
        hasExactDuration =
            input.description.isDurationExact
            && input.composed?.descriptions.values.allSatisfy(\.isDurationExact) != false
        isPredicted = if case .job = input.source { true } else { input.composed?.awaited.isEmpty == false }
    }

    // MARK: Conditions on the source

    /// - Throws: `SourceProblem` if a bit rate has to be measured and the source can't be read.
    func evaluate(_ condition: SourceCondition) throws(SourceProblem) -> ConditionFinding {
        var findings: [ConditionFinding] = []
        for test in condition.tests {
            let finding: ConditionFinding
            switch test {
            case .source(let test): finding = result(of: test.fact, test.requirement)
            case .tracks(let count): finding = try evaluate(count)
            case .not(let inner): finding = Self.negated(try evaluate(inner))
            }
            // Later conditions may require reading the whole source.
            if finding.outcome == .fails { return finding }
            findings.append(finding)
        }
        return Self.all(findings)
    }

    private func result(of fact: SourceFact, _ requirement: FactRequirement) -> ConditionFinding {
        let seconds = description.duration.seconds
        let value: (value: FactValue, text: String)?
        switch fact {
        case .duration:
            value =
                isPredicted && !hasExactDuration
                ? nil : (.time(description.duration), "\(description.duration) s")
        case .size: value = size.map { (.number($0), "\($0) bytes") }
        case .bitRate:
            value = size.flatMap { size in
                guard seconds > 0 else { return nil }
                let rate = Self.bitRate(of: size, over: seconds)
                return (.number(rate), Self.text(bitRate: rate))
            }
        case .container:
            let names = ContainerType.names(ofSourceIn: description.container)
            value = isPredicted ? nil : (.names(names), names.first ?? description.container)
        }
        return finding("`\(fact.rawValue)`", value, requirement)
    }

    /// Size of the source's file; nil for sources without one, and for files that don't exist yet.
    private var size: Int64? { description.fileSize > 0 ? description.fileSize : nil }

    private func evaluate(_ count: TrackCount) throws(SourceProblem) -> ConditionFinding {
        let type = count.mediaType
        let tracks = description.tracks(of: type)
        var findings: [(track: TrackDescription, finding: ConditionFinding)] = []
        for track in tracks {
            findings.append((track, try evaluate(count.condition, of: track)))
            // One track suffices; the others might have to be measured.
            if count.count == nil, findings.last?.finding.outcome == .holds { break }
        }
        let (least, most) = (
            findings.count { $0.finding.outcome == .holds },
            findings.count { $0.finding.outcome != .fails }
        )
        let isCounted = count.count != nil
        let requirement = count.count ?? .atLeastOne
        let possible = (least...most).map { requirement.accepts(.number(Int64($0))) }
        let outcome: ConditionFinding.Outcome =
            possible.allSatisfy(\.self) ? .holds : possible.contains(true) ? .unknown : .fails
        func line(_ entry: (track: TrackDescription, finding: ConditionFinding)) -> String {
            let facts = entry.finding.text
            return "\(type.rawValue) track \(entry.track.index)" + (facts.isEmpty ? "" : ": \(facts)")
        }
        if isCounted {
            let what =
                count.condition.tests.isEmpty
                ? "\(type.rawValue) tracks" : "\(type.rawValue) tracks that meet the conditions"
            return ConditionFinding(
                outcome: outcome, facts: "the number of \(what) is \(least)",
                requirement: outcome == .holds ? nil : requirement.text)
        }
        if tracks.isEmpty {
            return ConditionFinding(outcome: outcome, facts: "the source has no \(type.rawValue)")
        }
        let decisive = findings.filter { $0.finding.outcome == outcome }
        let listed = (outcome == .fails ? Array(decisive.prefix(3)) : Array(decisive.prefix(1))).map(line)
        let more = outcome == .fails && decisive.count > 3 ? ["…"] : []
        return ConditionFinding(outcome: outcome, facts: (listed + more).joined(separator: "; "))
    }

    // MARK: Conditions on a track

    /// - Throws: `SourceProblem` if the bit rate has to be measured and the source can't be read.
    func evaluate(
        _ condition: TrackCondition, of track: TrackDescription
    ) throws(SourceProblem) -> ConditionFinding {
        var findings: [ConditionFinding] = []
        for test in condition.tests {
            let finding: ConditionFinding
            switch test {
            case .fact(let test): finding = try result(of: test.fact, of: track, test.requirement)
            case .not(let inner): finding = Self.negated(try evaluate(inner, of: track))
            }
            if finding.outcome == .fails { return finding }
            findings.append(finding)
        }
        return Self.all(findings)
    }

    private func result(
        of fact: TrackFact, of track: TrackDescription, _ requirement: FactRequirement
    ) throws(SourceProblem) -> ConditionFinding {
        finding("`\(fact.rawValue)`", try value(of: fact, of: track), requirement)
    }

    /// Returns the value of a fact with its text; nil if it is unknown.
    private func value(
        of fact: TrackFact, of track: TrackDescription
    ) throws(SourceProblem) -> (value: FactValue, text: String)? {
        func name(_ text: String) -> (FactValue, String) { (.name(text), text) }
        func number(_ value: some BinaryInteger) -> (FactValue, String)? {
            value > 0 ? (.number(Int64(value)), "\(value)") : nil
        }
        func flag(_ value: Bool) -> (FactValue, String)? {
            isPredicted ? nil : (.flag(value), "\(value)")
        }
        switch fact {
        case .codec: return name(track.codec)
        case .profile: return track.profile.map { (.name($0.lowercased()), $0) }
        case .width: return number(track.width)
        case .height: return number(track.height)
        case .frameRate:
            // The average of a variable rate is only estimated.
            if isPredicted, !track.hasConstantFrameRate { return nil }
            return track.frameRate.map { (.rate($0), "\($0)") }
        case .bitRate: return try bitRate(of: track).map { (.number($0), Self.text(bitRate: $0)) }
        case .pixelFormat: return track.pixelFormat == .none ? nil : name(track.pixelFormat.description)
        case .hdr: return flag(track.color.isHighRange || track.dolbyVisionProfile != nil)
        case .interlaced: return flag(track.isInterlaced)
        case .rotation:
            let degrees = track.transform.map(\.clockwiseDegrees) ?? 0
            return degrees.map { (.number(Int64($0)), "\($0)") }
        case .channels: return number(track.channelLayout?.channels ?? 0)
        case .sampleRate: return number(track.sampleRate)
        case .language:
            let language = track.language ?? "und"
            return (.name(LanguageCode.canonical(language)), language)
        }
    }

    /// Returns the bit rate of a track that the container declares, or else the measured one; nil if it is unknown.
    private func bitRate(of track: TrackDescription) throws(SourceProblem) -> Int64? {
        if isPredicted { return nil }
        if track.bitRate > 0 { return track.bitRate }
        guard case .file(let path, _) = source, track.timeRange.duration > .zero else { return nil }
        if let known = measured[track.index] { return known }
        let bytes = try prober.byteCount(track.index, of: path)
        let rate = Self.bitRate(of: bytes, over: track.timeRange.duration.seconds)
        measured[track.index] = rate
        return rate
    }

    /// Returns the bits per second of a number of bytes; the greatest number if there are more.
    private static func bitRate(of bytes: Int64, over seconds: Double) -> Int64 {
        Int64(exactly: (Double(bytes) * 8 / seconds).rounded()) ?? .max
    }

    // MARK: Findings

    private func finding(
        _ name: String, _ value: (value: FactValue, text: String)?, _ requirement: FactRequirement
    ) -> ConditionFinding {
        guard let value else {
            return ConditionFinding(
                outcome: isPredicted ? .unknown : .fails, facts: "\(name) is unknown",
                requirement: requirement.text)
        }
        return requirement.accepts(value.value)
            ? ConditionFinding(outcome: .holds, facts: "\(name) is \(value.text)")
            : ConditionFinding(
                outcome: .fails, facts: "\(name) is \(value.text)", requirement: requirement.text)
    }

    /// Returns the finding of several conditions, none of which fails.
    private static func all(_ findings: [ConditionFinding]) -> ConditionFinding {
        if let unknown = findings.first(where: { $0.outcome == .unknown }) { return unknown }
        return ConditionFinding(
            outcome: .holds, facts: findings.map(\.facts).filter { !$0.isEmpty }.joined(separator: ", "))
    }

    private static func negated(_ finding: ConditionFinding) -> ConditionFinding {
        switch finding.outcome {
        case .holds: ConditionFinding(outcome: .fails, facts: "\(finding.facts), which `not` excludes")
        case .fails: ConditionFinding(outcome: .holds, facts: finding.facts)
        case .unknown: ConditionFinding(outcome: .unknown, facts: finding.facts)
        }
    }

    /// Returns a bit rate as `1500.25k`, without rounding.
    private static func text(bitRate: Int64) -> String { ThousandthsText.text(Int(bitRate)) + "k" }
}
