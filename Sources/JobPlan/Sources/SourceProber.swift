package import LibAV
package import Media

/// Looks into sources for a planner: in this process, or in one whose end is not this one's. Whoever makes a source may
/// mean ill, and to open it is to run a parser over it.
package protocol SourceProber: Sendable {
    /// Through what sources are reached, and beneath what everything lies.
    var environment: SourceEnvironment { get }
    /// What was found of settings: a thousand jobs ask the same.
    var trials: TrialCache { get }
    /// Answers in the form that was asked for. Blocks; called from several threads at once.
    func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse
}

/// What a planner must know of a source.
package struct ProbeRequest: Codable, Hashable, Sendable {
    /// What it is about.
    package enum Matter: Codable, Hashable, Sendable {
        /// What there is in it.
        case description(AssetTiming)
        /// What there is in images that are shown one after the other; the first one is looked into.
        case images(ImageSequence)
        /// Whether the packets of a track say when they are shown.
        case presentationTimes(track: Int)
        /// Whether the order of a track's times lets its packets be copied. All of them are read.
        case order(track: Int)
        /// How a range of a track of frames can be taken as it is.
        case cut(track: Int, range: TimeRange, damagePolicy: DamagePolicy, edges: CutEdges)
        /// How several ranges of a track of frames can be taken as they are, one after the other. The encoder
        /// makes edges, where there are any; nil for the one that is nearest to the source.
        case joinedCut(track: Int, ranges: [TimeRange], encoder: EncoderConfiguration?)
        /// The same of stretches that go into a cut of several sources, whose times have one unit.
        case clipCut(track: Int, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?)
        /// What packets of a track of audio have in common with those that they can follow.
        case audioForm(track: Int)
        /// When a track's key frames are shown, at most so many. All its packets are read.
        case keyFrames(track: Int, limit: Int)
        /// When scenes of a track begin, at most so many: where a frame differs from the one before by more than `difference`
        /// thousandths. All its frames are decoded.
        case scenes(track: Int, difference: Int, limit: Int)
        /// Where frames of a track of video lie, by number, in some ranges joined end to end; in the whole track where `ranges` is empty.
        /// Packets are read as far as the last of them.
        case frames(track: Int, ranges: [TimeRange], numbers: [Int64])
        /// Whether a subtitle track has an event in some ranges; in the whole track where `ranges` is empty.
        case subtitleEvents(track: Int, ranges: [TimeRange])
        /// At which rate every frame of a part of a track of video is shown. All packets of that part are read.
        case cadence(track: Int, range: TimeRange)
        /// Whether filters or an encoder take some settings; no source is looked into.
        case trial(SettingsTrial)
    }

    /// Whether a cut's edges may be re-encoded.
    package enum CutEdges: Codable, Hashable, Sendable {
        /// No: packets are copied or not.
        case none
        /// Yes, by this encoder; nil for the one that is nearest to the source.
        case encoded(EncoderConfiguration?)
    }

    /// An absolute path, or a URL; nil where the question is about no source.
    package var path: String?
    /// What is asked.
    package var matter: Matter

    /// Headers alone tell the answer.
    package var isBrief: Bool {
        switch matter {
        case .description(.fast), .images: true
        default: false
        }
    }

    /// Asks.
    package init(path: String?, matter: Matter) {
        self.path = path
        self.matter = matter
    }
}

/// What a source has to say.
package enum ProbeResponse: Codable, Sendable {
    /// What there is in it.
    case description(SourceDescription)
    /// The packets say when they are shown.
    case presentationTimes(Bool)
    /// Why the packets can't be copied in their order; nil where they can.
    case order(OrderProblem?)
    /// How it can be cut; nil where the track is gone.
    case cut(CutPossibilities?)
    /// What packets of audio have in common; nil where the track is gone.
    case audioForm(AudioPacketForm?)
    /// When key frames or the first frames of scenes are shown, in order.
    case keyFrames([MediaTime])
    /// Where frames lie that were requested by number.
    case frames(FramePositions)
    /// Whether something is there.
    case presence(Bool)
    /// The rate at which every frame is shown; nil where the track is gone.
    case cadence(FrameCadence?)
    /// What came of a trial.
    case verdict(SettingsTrial.Verdict)
}

/// How a range of a track of frames can be taken as it is.
package struct CutPossibilities: Codable, Sendable {
    /// What stands against its packets as they are.
    package var problem: CutScan.Problem?
    /// The same where leading frames of its first key frame are left out.
    package var problemWithoutLeading: CutScan.Problem?
    /// The greatest key frame not after its start; nil where there is none.
    package var outwardStart: MediaTime?
    /// The first clean end not before its own; nil for the track's.
    package var outwardEnd: MediaTime?
    /// How it is cut to the frame, where that was asked for and can be.
    package var smart: SmartCut?
    /// Why it can't.
    package var obstacle: SmartCut.Obstacle?
    /// What its packets have in common with those of others that they can follow.
    package var form: CutForm?
}

/// Why a source can't be looked into, for people.
package struct SourceProblem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The reason.
    package var description: String
    /// Makes one.
    package init(_ description: String) { self.description = description }
}

/// Looks in this process.
package struct LocalProber: SourceProber {
    private let media: MediaEnvironment
    /// What was found of settings.
    package let trials = TrialCache()
    /// Through what sources are reached.
    package var environment: SourceEnvironment { media.sources }

    /// Makes one.
    package init(_ environment: MediaEnvironment = MediaEnvironment()) { media = environment }

    /// Opens the source.
    package func answer(_ question: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        do {
            if case .trial(let trial) = question.matter { return .verdict(trial.carryOut()) }
            guard let path = question.path else { throw SourceProblem("a question about no source") }
            switch question.matter {
            case .description(let timing):
                return .description(
                    SourceDescription(
                        try Asset(.file(path), timing: timing, environment: media).loadSynchronously()))
            case .images(let sequence):
                return .description(
                    SourceDescription(
                        try Asset(.images(sequence), environment: media).loadSynchronously()))
            case .presentationTimes(let track):
                let found = try contents(path).tracks.first { $0.index == track }
                return .presentationTimes(
                    try found?.saysPresentationTimes(
                        path: path, environment: environment) ?? true)
            case .order(let track):
                let found = try contents(path).tracks.first { $0.index == track }
                return .order(try found?.orderProblem(path: path, environment: media))
            case .audioForm(let track):
                return .audioForm(
                    try contents(path).tracks.first { $0.index == track }.flatMap { AudioPacketForm($0) })
            case .keyFrames(let track, let limit):
                let contents = try contents(path)
                guard let found = contents.tracks.first(where: { $0.index == track }) else {
                    return .keyFrames([])
                }
                return .keyFrames(
                    try contents.keyFrameTimes(of: found, path: path, environment: environment, limit: limit))
            case .scenes(let track, let difference, let limit):
                guard let found = try contents(path).tracks.first(where: { $0.index == track }) else {
                    return .keyFrames([])
                }
                return .keyFrames(
                    try SceneDetector(asset: Asset(.file(path), environment: media), track: found).times(
                        difference: Double(difference) / 1000, limit: limit))
            case .frames(let track, let ranges, let numbers):
                let contents = try contents(path)
                guard let found = contents.tracks.first(where: { $0.index == track }) else {
                    return .frames(FramePositions(positions: numbers.map { _ in nil }, count: 0))
                }
                return .frames(
                    try contents.positions(
                        of: numbers, in: ranges, of: found, path: path, environment: media))
            case .subtitleEvents(let track, let ranges):
                let contents = try contents(path)
                guard let found = contents.tracks.first(where: { $0.index == track }) else {
                    return .presence(false)
                }
                return .presence(
                    try contents.hasSubtitleEvents(found, in: ranges, path: path, environment: media))
            case .cadence(let track, let range):
                let contents = try contents(path)
                return .cadence(
                    try contents.tracks.first { $0.index == track }.map {
                        try contents.cadence(of: $0, in: range, path: path, environment: media)
                    })
            case .joinedCut(let track, let ranges, let encoder):
                return .cut(try joinedCut(path, track, ranges, tick: nil, encoder))
            case .clipCut(let track, let ranges, let tick, let encoder):
                return .cut(try joinedCut(path, track, ranges, tick: tick, encoder))
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

    /// `tick`: the ranges are clips of a cut of several sources, of which that is the unit.
    private func joinedCut(
        _ path: String, _ track: Int, _ ranges: [TimeRange], tick clip: Rational?,
        _ encoder: EncoderConfiguration?
    ) throws -> CutPossibilities? {
        let contents = try contents(path)
        guard let found = contents.tracks.first(where: { $0.index == track }) else { return nil }
        let tick =
            clip
            ?? AssetReader.videoTick(
                timeBase: found.timeBase, timeZero: contents.timeZero, ranges: ranges)
        let scans = try ranges.map { range in
            try CutScan.read(
                path: path, track: found, timeZero: contents.timeZero, range: range, tick: tick,
                environment: environment)
        }
        var answer = CutPossibilities()
        answer.add(scans, track: found, encoder: encoder, clipTick: clip)
        return answer
    }
}

extension CutPossibilities {
    fileprivate mutating func add(
        _ scans: [CutScan], track: AssetTrack, encoder: EncoderConfiguration?, clipTick: Rational? = nil
    ) {
        do throws(SmartCut.Obstacle) {
            let cut = try SmartCut.plan(scans, track: track, encoder: encoder, clipTick: clipTick)
            if clipTick != nil { form = CutForm(track) }
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
    package func description(of path: String, _ timing: AssetTiming = .fast) throws(SourceProblem)
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

    /// What there is in images that are shown one after the other.
    func description(of sequence: ImageSequence) throws(SourceProblem) -> SourceDescription {
        let answer = try answer(ProbeRequest(path: sequence.files[0], matter: .images(sequence)))
        guard case .description(let description) = answer, description.tracks.count == 1,
            description.duration == sequence.duration
        else { throw .notAnswered }
        return description
    }

    /// When a track's key frames are shown.
    func keyFrames(_ track: Int, of path: String, limit: Int) throws(SourceProblem) -> [MediaTime] {
        let answer = try answer(
            ProbeRequest(path: path, matter: .keyFrames(track: track, limit: limit)))
        guard case .keyFrames(let times) = answer, times.count <= limit else { throw .notAnswered }
        return times
    }

    /// When scenes of a track begin, without the first.
    func scenes(
        _ track: Int, of path: String, difference: Int, limit: Int
    ) throws(SourceProblem) -> [MediaTime] {
        let answer = try answer(
            ProbeRequest(
                path: path, matter: .scenes(track: track, difference: difference, limit: limit)))
        guard case .keyFrames(let times) = answer, times.count <= limit else { throw .notAnswered }
        return times
    }

    /// Where frames of a track of video lie, by number.
    func frames(
        _ numbers: [Int64], of track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> FramePositions {
        let answer = try answer(
            ProbeRequest(path: path, matter: .frames(track: track, ranges: ranges, numbers: numbers)))
        guard case .frames(let found) = answer, found.positions.count == numbers.count else {
            throw .notAnswered
        }
        return found
    }

    /// Whether a subtitle track has an event in some ranges.
    func hasSubtitleEvents(
        _ track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> Bool {
        let answer = try answer(
            ProbeRequest(path: path, matter: .subtitleEvents(track: track, ranges: ranges)))
        guard case .presence(let isThere) = answer else { throw .notAnswered }
        return isThere
    }

    /// At which rate every frame of a part of a track is shown; nil where the track is gone.
    func cadence(_ track: Int, of path: String, in range: TimeRange) throws(SourceProblem) -> FrameCadence? {
        let answer = try answer(ProbeRequest(path: path, matter: .cadence(track: track, range: range)))
        guard case .cadence(let cadence) = answer else { throw .notAnswered }
        return cadence
    }

    /// How stretches of a track go into a cut of several sources; nil where the track is gone.
    func clipCut(
        _ track: Int, of path: String, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let answer = try answer(
            ProbeRequest(
                path: path, matter: .clipCut(track: track, ranges: ranges, tick: tick, encoder: encoder)))
        guard case .cut(let possibilities) = answer else { throw .notAnswered }
        return possibilities
    }

    /// What packets of a track of audio have in common with those that they can follow; nil where it is gone.
    func audioForm(_ track: Int, of path: String) throws(SourceProblem) -> AudioPacketForm? {
        let answer = try answer(ProbeRequest(path: path, matter: .audioForm(track: track)))
        guard case .audioForm(let form) = answer else { throw .notAnswered }
        return form
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
