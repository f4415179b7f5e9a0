package import LibAV
package import Media

/// A prober that works in this process.
package struct LocalProber: SourceProber {
    private var media: MediaEnvironment
    package let trials = SettingsValidationCache()
    package var environment: SourceEnvironment { media.sources }

    package init(_ environment: MediaEnvironment = MediaEnvironment()) { media = environment }

    /// Opens the source and performs a request.
    package func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        if case .trial(let trial) = request.subject { return .verdict(trial.run()) }
        guard let path = request.path else { throw SourceProblem("the probe request has no source") }
        guard let package = request.package else { return try respond(to: request.subject, of: path) }
        guard package.isValid else { throw SourceProblem("the package is invalid") }
        var prober = self
        prober.media.sources.packages.add(package, at: path)
        return try prober.respond(to: request.subject, of: path)
    }

    /// Performs a request about the source at a path.
    private func respond(
        to subject: ProbeRequest.Subject, of path: String
    ) throws(SourceProblem) -> ProbeResponse {
        do {
            return try response(to: subject, of: path)
        } catch {
            throw (error as? SourceProblem)
                ?? SourceProblem(
                    (error as? InputError)?.explanation ?? "\(error)",
                    isMissing: (error as? FileProblem)?.isMissing == true)
        }
    }

    private func response(to subject: ProbeRequest.Subject, of path: String) throws -> ProbeResponse {
        switch subject {
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
                try found?.hasPresentationTimes(
                    path: path, environment: environment) ?? true)
        case .order(let track):
            let found = try contents(path).tracks.first { $0.index == track }
            return .order(try found?.orderProblem(path: path, environment: media))
        case .audioFormat(let track):
            return .audioFormat(
                try contents(path).tracks.first { $0.index == track }.flatMap { AudioPacketFormat($0) })
        case .keyFrames(let track, let limit):
            let contents = try contents(path)
            guard let found = contents.tracks.first(where: { $0.index == track }) else {
                return .keyFrames([])
            }
            return .keyFrames(
                try contents.keyFrameTimes(of: found, path: path, environment: environment, limit: limit))
        case .scenes(let track, let difference, let limit):
            return .keyFrames(
                try scan(track, of: path) { asset, track in
                    try SceneDetector(asset: asset, track: track).times(
                        difference: Double(difference) / 1000, limit: limit)
                } ?? [])
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
        case .byteCount(let track):
            let contents = try contents(path)
            return .byteCount(
                try contents.tracks.first { $0.index == track }.map {
                    try contents.byteCount(of: $0, path: path, environment: environment)
                } ?? 0)
        case .activeArea(let track):
            return .activeArea(
                try scan(track, of: path) { try ActiveAreaScan(asset: $0, track: $1).area() } ?? nil)
        case .loudness(let query): return .loudness(try scan(query.track, of: path, query.measure))
        case .cover: return .cover(try CoverImage.probe(path: path, environment: environment))
        case .fileContents(let limit):
            return .fileContents(try FileContents(of: path, limit: limit, environment: environment))
        case .joinedCut(let track, let ranges, let encoder):
            return .cut(try joinedCut(path, track, ranges, tick: nil, encoder))
        case .clipCut(let track, let ranges, let tick, let encoder):
            return .cut(try joinedCut(path, track, ranges, tick: tick, encoder))
        case .cut(let track, let range, let damagePolicy, let edges):
            return .cut(try cut(path, track, range, damagePolicy, edges))
        case .trial(let trial): return .verdict(trial.run())
        }
    }

    /// Calls `body` with the file at a path and one of its tracks; returns nil if the track no longer exists.
    private func scan<Result>(
        _ track: Int, of path: String, _ body: (Asset, AssetTrack) throws -> Result
    ) throws -> Result? {
        try contents(path).tracks.first { $0.index == track }.map {
            try body(Asset(.file(path), environment: media), $0)
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
        var possibilities = CutPossibilities(
            problem: scan.problem(), problemWithoutLeading: scan.problem(allowsLeading: true),
            outwardStart: outward.start.map { MediaTime(ticks: $0, timeBase: scan.tick) },
            outwardEnd: outward.end.map { MediaTime(ticks: $0, timeBase: scan.tick) })
        guard possibilities.problem != nil, case .encoded(let encoder) = edges else { return possibilities }
        possibilities.add([scan], track: found, encoder: encoder)
        return possibilities
    }

    /// Returns the possibilities of a joined cut. `tick` is the time unit of a cut of several sources, whose
    /// clips are the ranges; nil for a single source.
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
        var possibilities = CutPossibilities()
        possibilities.add(scans, track: found, encoder: encoder, clipTick: clip)
        return possibilities
    }
}

extension CutPossibilities {
    fileprivate mutating func add(
        _ scans: [CutScan], track: AssetTrack, encoder: EncoderConfiguration?, clipTick: Rational? = nil
    ) {
        do throws(SmartCut.Obstacle) {
            let cut = try SmartCut.plan(scans, track: track, encoder: encoder, clipTick: clipTick)
            if clipTick != nil { packetFormat = VideoPacketFormat(track) }
            // The dry open runs in this process, not in the requesting one, because the encoder's settings depend on
            // the untrusted source.
            if cut.hasEdges, let problem = EncoderValidation.problem(cut.encoder) { throw .edges(problem) }
            smart = cut
        } catch {
            obstacle = error
        }
    }
}

extension ProbeRequest.LoudnessQuery {
    /// Measures the audio of a track of a file.
    fileprivate func measure(_ asset: Asset, _ track: AssetTrack) throws -> LoudnessBlocks {
        var extent = ReadingExtent(ranges: ranges, damagePolicy: damagePolicy)
        extent.isOpen = isOpen
        return try LoudnessMeter(asset: asset, track: track, mix: mix, extent: extent, filters: filters)
            .measureBlocks()
    }
}
