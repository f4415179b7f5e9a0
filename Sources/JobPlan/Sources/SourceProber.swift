public import LibAV
public import Media

/// Looks into sources for a planner: in this process, or in one whose end is not this one's. Whoever makes a source may
/// mean ill, and to open it is to run a parser over it.
public protocol SourceProber: Sendable {
    /// Through what sources are reached, and beneath what everything lies.
    var environment: SourceEnvironment { get }
    /// What was found of settings: a thousand jobs ask the same.
    var trials: TrialCache { get }
    /// Answers in the form that was asked for. Blocks; called from several threads at once.
    func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse
}

/// What a planner must know of a source.
public struct ProbeRequest: Codable, Hashable, Sendable {
    /// What it is about.
    public enum Matter: Codable, Hashable, Sendable {
        /// What there is in it.
        case description(AssetTiming)
        /// Whether the packets of a track say when they are shown.
        case presentationTimes(track: Int)
        /// Whether the order of a track's times lets its packets be copied. All of them are read.
        case order(track: Int)
        /// How a range of a track of frames can be taken as it is.
        case cut(track: Int, range: TimeRange, damagePolicy: DamagePolicy, edges: CutEdges)
        /// How several ranges of a track of frames can be taken as they are, one after the other. The encoder
        /// makes edges, where there are any; nil for the one that is nearest to the source.
        case joinedCut(track: Int, ranges: [TimeRange], encoder: EncoderConfiguration?)
        /// Whether filters or an encoder take some settings; no source is looked into.
        case trial(SettingsTrial)
    }

    /// Whether a cut's edges may be re-encoded.
    public enum CutEdges: Codable, Hashable, Sendable {
        /// No: packets are copied or not.
        case none
        /// Yes, by this encoder; nil for the one that is nearest to the source.
        case encoded(EncoderConfiguration?)
    }

    /// An absolute path, or a URL; nil where the question is about no source.
    public var path: String?
    /// What is asked.
    public var matter: Matter

    /// Headers alone tell the answer.
    public var isBrief: Bool { if case .description(.fast) = matter { true } else { false } }

    /// Asks.
    public init(path: String?, matter: Matter) {
        self.path = path
        self.matter = matter
    }
}

/// What a source has to say.
public enum ProbeResponse: Codable, Sendable {
    /// What there is in it.
    case description(SourceDescription)
    /// The packets say when they are shown.
    case presentationTimes(Bool)
    /// Why the packets can't be copied in their order; nil where they can.
    case order(OrderProblem?)
    /// How it can be cut; nil where the track is gone.
    case cut(CutPossibilities?)
    /// What came of a trial.
    case verdict(SettingsTrial.Verdict)
}

/// How a range of a track of frames can be taken as it is.
public struct CutPossibilities: Codable, Sendable {
    /// What stands against its packets as they are.
    public var problem: CutScan.Problem?
    /// The same where leading frames of its first key frame are left out.
    public var problemWithoutLeading: CutScan.Problem?
    /// The greatest key frame not after its start; nil where there is none.
    public var outwardStart: MediaTime?
    /// The first clean end not before its own; nil for the track's.
    public var outwardEnd: MediaTime?
    /// How it is cut to the frame, where that was asked for and can be.
    public var smart: SmartCut?
    /// Why it can't.
    public var obstacle: SmartCut.Obstacle?
}

/// Why a source can't be looked into, for people.
public struct SourceProblem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    public var description: String
    /// Makes one.
    public init(_ description: String) { self.description = description }
}

/// Looks in this process.
public struct LocalProber: SourceProber {
    private let media: MediaEnvironment
    /// What was found of settings.
    public let trials = TrialCache()
    /// Through what sources are reached.
    public var environment: SourceEnvironment { media.sources }

    /// Makes one.
    public init(_ environment: MediaEnvironment = MediaEnvironment()) { media = environment }

    /// Opens the source.
    public func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        do {
            if case .trial(let trial) = question.matter { return .verdict(trial.carryOut()) }
            guard let path = question.path else { throw SourceProblem("a question about no source") }
            switch question.matter {
            case .description(let timing):
                return .description(
                    SourceDescription(
                        try Asset(.file(path), timing: timing, environment: media).loadSynchronously()))
            case .presentationTimes(let track):
                let found = try contents(path).tracks.first { $0.index == track }
                return .presentationTimes(
                    try found?.saysPresentationTimes(
                        path: path, environment: environment) ?? true)
            case .order(let track):
                let found = try contents(path).tracks.first { $0.index == track }
                return .order(try found?.orderProblem(path: path, environment: media))
            case .joinedCut(let track, let ranges, let encoder):
                return .cut(try joinedCut(path, track, ranges, encoder))
            case .cut(let track, let range, let damagePolicy, let edges):
                return .cut(try cut(path, track, range, damagePolicy, edges))
            case .trial(let trial): return .verdict(trial.carryOut())
            }
        } catch {
            throw (error as? SourceProblem)
                ?? SourceProblem((error as? InputError)?.explanation ?? "\(error)")
        }
    }

    private func contents(_ path: String) throws -> AssetContents {
        try Asset(.file(path), timing: .fast, environment: media).loadSynchronously()
    }

    private func cut(
        _ path: String, _ track: Int, _ range: TimeRange, _ damagePolicy: DamagePolicy,
        _ edges: ProbeRequest.CutEdges
    ) throws -> CutPossibilities? {
        let contents = try contents(path)
        guard let found = contents.tracks.first(where: { $0.index == track }) else { return nil }
        let scan = try CutScan.read(
            path: path, track: found, timeZero: contents.timeZero, range: range, damagePolicy: damagePolicy,
            environment: environment)
        let outward = scan.outward
        var answer = CutPossibilities(
            problem: scan.problem(), problemWithoutLeading: scan.problem(allowsLeading: true),
            outwardStart: outward.start.map { MediaTime(ticks: $0, timeBase: scan.tick) },
            outwardEnd: outward.end.map { MediaTime(ticks: $0, timeBase: scan.tick) })
        guard answer.problem != nil, case .encoded(let encoder) = edges else { return answer }
        answer.add([scan], track: found, encoder: encoder)
        return answer
    }

    private func joinedCut(
        _ path: String, _ track: Int, _ ranges: [TimeRange], _ encoder: EncoderConfiguration?
    ) throws -> CutPossibilities? {
        let contents = try contents(path)
        guard let found = contents.tracks.first(where: { $0.index == track }) else { return nil }
        let tick = AssetReader.videoTick(
            timeBase: found.timeBase, timeZero: contents.timeZero, ranges: ranges)
        let scans = try ranges.map {
            try CutScan.read(
                path: path, track: found, timeZero: contents.timeZero, range: $0, tick: tick,
                environment: environment)
        }
        var answer = CutPossibilities()
        answer.add(scans, track: found, encoder: encoder)
        return answer
    }
}

extension CutPossibilities {
    fileprivate mutating func add(_ scans: [CutScan], track: AssetTrack, encoder: EncoderConfiguration?) {
        do throws(SmartCut.Obstacle) {
            let cut = try SmartCut.plan(scans, track: track, encoder: encoder)
            // Opened here and not by who asked: what an encoder is told comes from the source.
            if cut.hasEdges, let problem = EncoderTrial.problem(cut.encoder) { throw .edges(problem) }
            smart = cut
        } catch {
            obstacle = error
        }
    }
}

extension SourceProber {
    /// What there is in a source.
    public func description(of path: String, _ timing: AssetTiming = .fast) throws(SourceProblem)
        -> SourceDescription
    {
        let answer = try answer(ProbeRequest(path: path, matter: .description(timing)))
        guard case .description(let description) = answer else { throw .notAnswered }
        return description
    }

    /// Whether a track's packets say when they are shown.
    func saysPresentationTimes(_ track: Int, of path: String) throws(SourceProblem) -> Bool {
        let answer = try answer(ProbeRequest(path: path, matter: .presentationTimes(track: track)))
        guard case .presentationTimes(let saysThem) = answer else { throw .notAnswered }
        return saysThem
    }

    /// Why a track's packets can't be copied in their order; nil where they can.
    func orderProblem(_ track: Int, of path: String) throws(SourceProblem) -> OrderProblem? {
        guard case .order(let problem) = try answer(ProbeRequest(path: path, matter: .order(track: track)))
        else { throw .notAnswered }
        return problem
    }

    /// How a range of a track can be taken as it is; nil where the track is gone.
    func cut(
        _ track: Int, of path: String, range: TimeRange, damagePolicy: DamagePolicy,
        edges: ProbeRequest.CutEdges = .none
    ) throws(SourceProblem) -> CutPossibilities? {
        let answer = try answer(
            ProbeRequest(
                path: path,
                matter: .cut(track: track, range: range, damagePolicy: damagePolicy, edges: edges)))
        guard case .cut(let possibilities) = answer else { throw .notAnswered }
        return possibilities
    }

    /// How several ranges of a track can be taken as they are, one after the other; nil where the track is gone.
    func joinedCut(
        _ track: Int, of path: String, ranges: [TimeRange], encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let answer = try answer(
            ProbeRequest(
                path: path, matter: .joinedCut(track: track, ranges: ranges, encoder: encoder)))
        guard case .cut(let possibilities) = answer else { throw .notAnswered }
        return possibilities
    }
}

extension SourceProblem {
    /// A prober that answers something else.
    fileprivate static var notAnswered: SourceProblem { SourceProblem("the answer is to another question") }
}
