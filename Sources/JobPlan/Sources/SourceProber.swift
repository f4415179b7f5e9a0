package import LibAV
package import Media

/// The planner's access to sources, in this process or in a sandboxed one. Sources are untrusted, and probing runs
/// parsers on them.
package protocol SourceProber: Sendable {
    /// Access to sources, and the root beneath which all files must be.
    var environment: SourceEnvironment { get }
    /// Cached results of dry opens, because many jobs use the same settings.
    var trials: SettingsValidationCache { get }
    /// Performs a request, and returns the corresponding response. Blocks; called concurrently from several threads.
    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse
}

package struct ProbeRequest: Codable, Hashable, Sendable {
    /// The requested information.
    package enum Subject: Codable, Hashable, Sendable {
        /// Description of the source's contents.
        case description(AssetTiming)
        /// Description of an image sequence; the first image is probed.
        case images(ImageSequence)
        /// Whether the packets of a track have presentation times.
        case presentationTimes(track: Int)
        /// Whether the order of a track's timestamps allows its packets to be copied. All of them are read.
        case order(track: Int)
        /// Possibilities of copying a range of a video track.
        case cut(track: Int, range: TimeRange, damagePolicy: DamagePolicy, edges: CutEdges)
        /// Possibilities of copying several ranges of a video track, one after the other. `encoder` re-encodes the
        /// edges; nil for the closest match to the source.
        case joinedCut(track: Int, ranges: [TimeRange], encoder: EncoderConfiguration?)
        /// Possibilities of copying ranges in a cut of several sources, whose timestamps are in the common unit `tick`.
        case clipCut(track: Int, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?)
        /// Properties of a track's audio packets, which must match to join the packets of several sources.
        case audioFormat(track: Int)
        /// Presentation times of a track's keyframes, at most `limit`. All its packets are read.
        case keyFrames(track: Int, limit: Int)
        /// Start times of a track's scenes, at most `limit`: a scene starts at a frame that differs from the one
        /// before by more than `difference` thousandths. All frames are decoded.
        case scenes(track: Int, difference: Int, limit: Int)
        /// Positions of a video track's frames by number, in some ranges joined end to end; in the whole track if
        /// `ranges` is empty. Packets are read up to the last of these frames.
        case frames(track: Int, ranges: [TimeRange], numbers: [Int64])
        /// Whether a subtitle track has an event in some ranges; in the whole track if `ranges` is empty.
        case subtitleEvents(track: Int, ranges: [TimeRange])
        /// Frame rate at which every frame of a range of a video track is shown. All packets of the range are read.
        case cadence(track: Int, range: TimeRange)
        /// Size of a track's packets. All of them are read.
        case byteCount(track: Int)
        /// The active area of a track within its black borders, over frames that are distributed over it.
        case activeArea(track: Int)
        /// Loudness of a track's audio, or of a mix of tracks. All of it is decoded.
        case loudness(LoudnessQuery)
        /// Format, size and digest of an image file that becomes a cover. All of it is read and decoded.
        case cover
        /// Size and digest of a file of at most `limit` bytes. All of it is read.
        case fileContents(limit: Int64)
        /// Whether filters or an encoder accept some settings, determined by a dry open. No source is probed.
        case trial(SettingsValidation)
    }

    /// The audio whose loudness is requested.
    package struct LoudnessQuery: Codable, Hashable, Sendable {
        package var track: Int
        /// Mix of several tracks in place of the track; nil for none.
        package var mix: AudioMix?
        /// Ranges of the source, one after the other; the whole track if empty.
        package var ranges: [TimeRange]
        /// Whether the last range continues to the source's end.
        package var isOpen: Bool
        package var damagePolicy: DamagePolicy
        /// Filters before the measurement.
        package var filters: FilterChain?

        /// Creates a query for a track, or for a mix of tracks of which it is the first.
        package init(
            track: Int, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
            filters: [FilterStep] = []
        ) {
            (self.track, self.mix) = (track, mix)
            (ranges, isOpen, damagePolicy) = (extent.ranges, extent.isOpen, extent.damagePolicy)
            self.filters = filters.isEmpty ? nil : FilterChain(filters)
        }
    }

    /// The handling of a cut's edges.
    package enum CutEdges: Codable, Hashable, Sendable {
        /// The edges are not re-encoded: packets are copied, or the cut isn't possible.
        case none
        /// The edges are re-encoded with this configuration; nil for the closest match to the source.
        case encoded(EncoderConfiguration?)
    }

    /// Absolute path or URL; nil for a dry open, which requires no source.
    package var path: String?
    package var subject: Subject
    /// The package whose manifest is at the path; nil for other sources.
    package var package: SegmentedPackage?

    /// Whether headers suffice for the response.
    package var isBrief: Bool {
        // All packets of segments are read for their times.
        if package != nil { return false }
        switch subject {
        case .description(.fast), .images, .cover, .fileContents: return true
        default: return false
        }
    }

    package init(path: String?, subject: Subject) {
        self.path = path
        self.subject = subject
    }
}

package enum ProbeResponse: Codable, Sendable {
    /// Description of the source's contents.
    case description(SourceDescription)
    /// Whether the packets have presentation times.
    case presentationTimes(Bool)
    /// Reason why the packets can't be copied in their order; nil if they can.
    case order(OrderProblem?)
    /// Possibilities of copying; nil if the track no longer exists.
    case cut(CutPossibilities?)
    /// Properties of the audio packets; nil if the track no longer exists.
    case audioFormat(AudioPacketFormat?)
    /// Presentation times of keyframes, or of the first frames of scenes, in order.
    case keyFrames([MediaTime])
    /// Positions of the frames requested by number.
    case frames(FramePositions)
    /// Whether a subtitle event exists in the ranges.
    case presence(Bool)
    /// Frame rate at which every frame is shown; nil if the track no longer exists.
    case cadence(FrameCadence?)
    /// Size of packets in bytes.
    case byteCount(Int64)
    /// Rectangle of the coded frame; nil if the track no longer exists, or if all examined frames are black.
    case activeArea(PixelRectangle?)
    /// Loudness of audio; nil if the track no longer exists.
    case loudness(LoudnessBlocks?)
    case cover(CoverImage)
    case fileContents(FileContents)
    /// Result of a dry open.
    case verdict(SettingsValidation.Outcome)
}

/// The possibilities of copying a range of a video track.
package struct CutPossibilities: Codable, Sendable {
    /// Reason why the range can't be copied unchanged; nil if it can.
    package var problem: CutScan.Problem?
    /// Reason why it can't be copied without the leading frames of its first keyframe; nil if it can.
    package var problemWithoutLeading: CutScan.Problem?
    /// Last keyframe at or before the range's start; nil if there is none.
    package var outwardStart: MediaTime?
    /// First clean end at or after the range's end; nil for the track's end.
    package var outwardEnd: MediaTime?
    /// The smart cut, exact to the frame, if requested and possible.
    package var smart: SmartCut?
    /// Reason why a smart cut isn't possible.
    package var obstacle: SmartCut.Obstacle?
    /// Properties of the packets, which must match to join the packets of several sources; nil for a cut of a single
    /// source.
    package var packetFormat: VideoPacketFormat?
}

/// The reason why a source can't be probed.
package struct SourceProblem: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// The reason in one line.
    package var description: String
    /// Whether no file is at the path.
    package var isMissing = false
    package init(_ description: String, isMissing: Bool = false) {
        (self.description, self.isMissing) = (description, isMissing)
    }
}

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

extension SourceProber {
    package func description(of path: String, _ timing: AssetTiming = .fast) throws(SourceProblem)
        -> SourceDescription
    {
        let reply = try respond(to: ProbeRequest(path: path, subject: .description(timing)))
        guard case .description(let description) = reply else { throw .unexpectedReply }
        return description
    }

    func hasPresentationTimes(_ track: Int, of path: String) throws(SourceProblem) -> Bool {
        let reply = try respond(to: ProbeRequest(path: path, subject: .presentationTimes(track: track)))
        guard case .presentationTimes(let hasTimes) = reply else { throw .unexpectedReply }
        return hasTimes
    }

    /// Returns the reason why a track's packets can't be copied in their order; nil if they can.
    func orderProblem(_ track: Int, of path: String) throws(SourceProblem) -> OrderProblem? {
        guard
            case .order(let problem) = try respond(
                to: ProbeRequest(path: path, subject: .order(track: track)))
        else { throw .unexpectedReply }
        return problem
    }

    /// Returns the possibilities of copying a range of a track; nil if the track no longer exists.
    func cut(
        _ track: Int, of path: String, range: TimeRange, damagePolicy: DamagePolicy,
        edges: ProbeRequest.CutEdges = .none
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path,
                subject: .cut(track: track, range: range, damagePolicy: damagePolicy, edges: edges)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
    }

    func description(of sequence: ImageSequence) throws(SourceProblem) -> SourceDescription {
        let reply = try respond(to: ProbeRequest(path: sequence.files[0], subject: .images(sequence)))
        guard case .description(let description) = reply, description.tracks.count == 1,
            description.duration == sequence.duration
        else { throw .unexpectedReply }
        return description
    }

    /// Returns the image of a file that becomes a cover.
    func cover(of path: String) throws(SourceProblem) -> CoverImage {
        guard case .cover(let image) = try respond(to: ProbeRequest(path: path, subject: .cover)),
            image.isValid
        else { throw .unexpectedReply }
        return image
    }

    /// Returns size and digest of a file of at most `limit` bytes.
    func fileContents(of path: String, limit: Int64) throws(SourceProblem) -> FileContents {
        let request = ProbeRequest(path: path, subject: .fileContents(limit: limit))
        guard case .fileContents(let contents) = try respond(to: request), contents.isValid(upTo: limit)
        else { throw .unexpectedReply }
        return contents
    }

    /// Returns the presentation times of a track's keyframes.
    func keyFrames(_ track: Int, of path: String, limit: Int) throws(SourceProblem) -> [MediaTime] {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .keyFrames(track: track, limit: limit)))
        guard case .keyFrames(let times) = reply, times.count <= limit else { throw .unexpectedReply }
        return times
    }

    /// Returns the start times of a track's scenes, without the first.
    func scenes(
        _ track: Int, of path: String, difference: Int, limit: Int
    ) throws(SourceProblem) -> [MediaTime] {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .scenes(track: track, difference: difference, limit: limit)))
        guard case .keyFrames(let times) = reply, times.count <= limit else { throw .unexpectedReply }
        return times
    }

    /// Returns the positions of a video track's frames by number.
    func frames(
        _ numbers: [Int64], of track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> FramePositions {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .frames(track: track, ranges: ranges, numbers: numbers)))
        guard case .frames(let found) = reply, found.positions.count == numbers.count else {
            throw .unexpectedReply
        }
        return found
    }

    /// Returns whether a subtitle track has an event in some ranges.
    func hasSubtitleEvents(
        _ track: Int, in ranges: [TimeRange], of path: String
    ) throws(SourceProblem) -> Bool {
        let reply = try respond(
            to: ProbeRequest(path: path, subject: .subtitleEvents(track: track, ranges: ranges)))
        guard case .presence(let isThere) = reply else { throw .unexpectedReply }
        return isThere
    }

    /// Returns the frame rate at which every frame of a range of a track is shown; nil if the track no longer exists.
    func cadence(_ track: Int, of path: String, in range: TimeRange) throws(SourceProblem) -> FrameCadence? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .cadence(track: track, range: range)))
        guard case .cadence(let cadence) = reply else { throw .unexpectedReply }
        return cadence
    }

    /// Returns the size of a track's packets in bytes.
    func byteCount(_ track: Int, of path: String) throws(SourceProblem) -> Int64 {
        let reply = try respond(to: ProbeRequest(path: path, subject: .byteCount(track: track)))
        guard case .byteCount(let count) = reply, count >= 0 else { throw .unexpectedReply }
        return count
    }

    /// Returns the rectangle of a track's coded frame within its black borders; nil if all examined frames are black.
    func activeArea(_ track: Int, of path: String) throws(SourceProblem) -> PixelRectangle? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .activeArea(track: track)))
        guard case .activeArea(let rectangle) = reply else { throw .unexpectedReply }
        return rectangle
    }

    /// Returns the loudness of audio; nil if the track no longer exists.
    func loudness(
        _ query: ProbeRequest.LoudnessQuery, of path: String
    ) throws(SourceProblem) -> LoudnessBlocks? {
        guard
            case .loudness(let blocks) = try respond(to: ProbeRequest(path: path, subject: .loudness(query)))
        else { throw .unexpectedReply }
        return blocks
    }

    /// Returns the possibilities of ranges of a track in a cut of several sources; nil if the track no longer exists.
    func clipCut(
        _ track: Int, of path: String, ranges: [TimeRange], tick: Rational, encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .clipCut(track: track, ranges: ranges, tick: tick, encoder: encoder)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
    }

    /// Returns the properties of a track's audio packets, which must match to join the packets of several sources; nil
    /// if the track no longer exists.
    func audioFormat(_ track: Int, of path: String) throws(SourceProblem) -> AudioPacketFormat? {
        let reply = try respond(to: ProbeRequest(path: path, subject: .audioFormat(track: track)))
        guard case .audioFormat(let format) = reply else { throw .unexpectedReply }
        return format
    }

    /// Returns the possibilities of copying several ranges of a track, one after the other; nil if the track no
    /// longer exists.
    func joinedCut(
        _ track: Int, of path: String, ranges: [TimeRange], encoder: EncoderConfiguration?
    ) throws(SourceProblem) -> CutPossibilities? {
        let reply = try respond(
            to: ProbeRequest(
                path: path, subject: .joinedCut(track: track, ranges: ranges, encoder: encoder)))
        guard case .cut(let possibilities) = reply else { throw .unexpectedReply }
        return possibilities
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

extension SourceProblem {
    /// The error for a response that doesn't match the request.
    fileprivate static var unexpectedReply: SourceProblem {
        SourceProblem("the reply belongs to another request")
    }
}
