import Diagnostics
import FileSystem
import JobSpec
import LibAV
import Locking
import TestSupport
import Testing
import YAMLDocument

@testable import JobPlan
@testable import Media

/// A prober that returns given responses and records the requests. A request without a response throws and fails the
/// test, because a planner probes only what its decision requires.
final class FakeProber: SourceProber {
    let environment = SourceEnvironment()
    let trials = SettingsValidationCache()
    private let reply: @Sendable (ProbeRequest) -> Result<ProbeResponse, SourceProblem>?
    private let recorded = Guarded<[ProbeRequest]>([])

    /// All requests, in the order of the calls.
    var requests: [ProbeRequest] { recorded.withLock { $0 } }

    /// Creates a prober. `reply` returns nil for a request that the test doesn't expect.
    init(_ reply: @escaping @Sendable (ProbeRequest) -> Result<ProbeResponse, SourceProblem>? = { _ in nil })
    {
        self.reply = reply
    }

    /// Creates a prober that returns the same response to each request, and accepts all settings.
    convenience init(_ response: ProbeResponse) {
        self.init { if case .trial = $0.subject { .success(.verdict(.valid)) } else { .success(response) } }
    }

    /// Creates a prober that returns the same verdict for each validation of settings, and expects no other request.
    convenience init(trials verdict: SettingsValidation.Outcome) {
        self.init { if case .trial = $0.subject { .success(.verdict(verdict)) } else { nil } }
    }

    /// Returns a prober for which every source is unreadable.
    static func failing(_ problem: String = "no such file") -> FakeProber {
        FakeProber { _ in .failure(SourceProblem(problem)) }
    }

    /// Creates a prober of sources and subtitle files, by the names of their paths. It accepts all settings. `contents`: state
    /// of a subtitle file; a failure if it is nil.
    static func subtitles(
        description: @escaping @Sendable (_ name: String) -> SourceDescription,
        contents: @escaping @Sendable (_ name: String) -> Result<FileContents, SourceProblem>,
        hasEvents: @escaping @Sendable (_ name: String, _ track: Int) -> Bool
    ) -> FakeProber {
        FakeProber { request in
            let name = request.path?.split(separator: "/").last.map(String.init) ?? ""
            switch request.subject {
            case .description: return .success(.description(description(name)))
            case .fileContents(let limit):
                #expect(limit == 64_000_000)
                return contents(name).map { .fileContents($0) }
            case .subtitleEvents(let track, _): return .success(.presence(hasEvents(name, track)))
            case .trial: return .success(.verdict(.valid))
            case .cut: return .success(.cut(CutPossibilities()))
            default: return nil
            }
        }
    }

    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        recorded.withLock { $0.append(request) }
        guard let result = reply(request) else {
            Issue.record("unexpected probe request: \(request)")
            throw SourceProblem("unexpected probe request")
        }
        return try result.get()
    }
}

/// A job that is decoded from a few lines of YAML, with the text to which its locations refer.
struct JobSnippet {
    let yaml: String
    let job: JobSpec

    /// Decodes a job with a rule and the lines `keys`. The asset is a file unless `asset` is empty.
    init(
        rule: String? = nil, _ keys: String..., asset: String = "./a.mp4", to destination: String? = "o.mp4"
    ) throws {
        var lines = ["version: 1", "jobs:", "  one:"]
        if !asset.isEmpty { lines.append("    asset: \(asset)") }
        if let rule { lines.append("    tracks: [ \(rule) ]") }
        lines += keys.filter { !$0.isEmpty }.map { "    " + $0 }
        if let destination { lines.append("    destination: \(destination)") }
        yaml = lines.joined(separator: "\n") + "\n"
        let (file, sink) = decode(yaml, directory: "/jobs")
        guard let job = file?.jobs.first, !sink.hasErrors else {
            throw ProgramError(message: rendered(sink, yaml))
        }
        self.job = job
    }

    var output: OutputSpec { job.outputs[0] }
    var rule: TrackRule { output.tracks[0] }
    var container: Located<ContainerType> { get throws { try #require(output.container) } }

    /// The video encoding of the first rule.
    var video: VideoEncodeSpec {
        get throws {
            guard case .encodeVideo(let spec) = rule.action else {
                throw ProgramError(message: "no encoding")
            }
            return spec
        }
    }

    func findings(_ reasons: Reasons) -> [String] { findings(reasons.diagnostics) }
}

extension JobSnippet: LocatedText {}

/// The jobs of `/jobs/jobs.yaml`, with the text to which their locations refer.
struct JobFileSnippet: LocatedText {
    let yaml: String
    let file: JobFile

    /// Decodes jobs, one a line, which copy the video of their source unless they state `tracks`.
    init(_ jobs: String..., head: String = "", file name: String = "/jobs/jobs.yaml") throws {
        let lines = ["version: 1", head, "defaults: { tracks: [ { video: first, copy: true } ] }", "jobs:"]
        yaml = (lines.filter { !$0.isEmpty } + jobs.map { "  " + $0 }).joined(separator: "\n") + "\n"
        var sink = DiagnosticSink()
        let root = YAMLParser.parse(Array(yaml.utf8), file: name, into: &sink)
        var options = SpecOptions()
        options.allowsNetwork = true
        let result = JobFileDecoder.decode(
            root, path: name, directory: "/jobs", options: options, after: sink)
        guard let file = result.file, !result.sink.hasErrors else {
            throw ProgramError(message: rendered(result.sink, yaml, file: name))
        }
        self.file = file
    }

    func job(_ id: String) throws -> JobSpec { try #require(file.jobs.first { $0.id.value == id }) }
}

/// The text of a job file to which locations refer.
protocol LocatedText {
    var yaml: String { get }
}

extension LocatedText {
    /// Returns the text at a location; only the first line if it spans several.
    func text(at range: SourceRange) -> String {
        let lines = yaml.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(range.line - 1) else { return "" }
        let line = lines[range.line - 1]
        let end = range.endLine == range.line ? range.endColumn - 1 : line.count
        return String(line.prefix(end).dropFirst(range.column - 1))
    }

    /// Returns each diagnostic as its rule and the text at its location, such as `codec-setting at 101x101`; warnings
    /// start with `warning`.
    func findings(_ sink: DiagnosticSink) -> [String] {
        sink.diagnostics.map {
            ($0.severity == .error ? "" : "\($0.severity) ") + "\($0.rule.rawValue) at \(text(at: $0.range))"
        }
    }

    /// Returns each diagnostic as in `findings`, followed by its message.
    func messages(_ sink: DiagnosticSink) -> [String] {
        zip(findings(sink), sink.diagnostics).map { "\($0): \($1.message)" }
    }
}

extension Reasons {
    /// Messages of the diagnostics.
    var messages: [String] { diagnostics.diagnostics.map(\.message) }

    /// The ledger as lines, such as `tag title copied: kept`.
    var lines: [String] { ledger.map { "\($0.item.text) \($0.outcome.rawValue): \($0.reason)" } }
}

/// Returns a time in seconds, exact to the millisecond.
func s(_ seconds: Double) -> MediaTime {
    MediaTime(value: Int64((seconds * 1000).rounded()), timescale: 1000)
}

/// Returns a range in seconds.
func span(_ start: Double, _ end: Double) -> TimeRange { TimeRange(start: s(start), end: s(end)) }

extension TrackDescription {
    private static func track(_ index: Int, _ type: MediaType, _ codec: String, _ range: TimeRange)
        -> TrackDescription
    {
        TrackDescription(
            index: index, id: index + 1, mediaType: type, isAttachedPicture: false, codec: codec,
            isDecodable: true, isLossless: false, timeRange: range, isExact: true, hasOwnDuration: true,
            timeBase: Rational(1, 12_800), width: 0, height: 0, pixelFormat: .none,
            color: ColorDescription(), isInterlaced: false, hasConstantFrameRate: false, sampleRate: 0,
            sampleFormat: .none, tags: [], isTimecode: false, disposition: [], sideData: [], bitRate: 0)
    }

    /// Returns a video track: by default, 10 s of H.264 in 1280x720 at 25 frames/s.
    static func video(
        _ width: Int = 1280, _ height: Int = 720, index: Int = 0, codec: String = "h264",
        format: String = "yuv420p", rate: Rational? = Rational(25, 1), over range: TimeRange = span(0, 10),
        _ change: (inout TrackDescription) -> Void = { _ in }
    ) -> TrackDescription {
        var track = track(index, .video, codec, range)
        (track.width, track.height, track.frameRate) = (width, height, rate)
        track.pixelFormat = PixelFormat(named: format) ?? .none
        track.hasConstantFrameRate = rate != nil
        change(&track)
        return track
    }

    /// Returns an audio track: by default, 10 s of AAC in stereo at 48 kHz.
    static func audio(
        _ index: Int = 1, codec: String = "aac", rate: Int32 = 48_000, layout: String = "stereo",
        format: String = "fltp", over range: TimeRange = span(0, 10),
        _ change: (inout TrackDescription) -> Void = { _ in }
    ) -> TrackDescription {
        var track = track(index, .audio, codec, range)
        (track.sampleRate, track.timeBase) = (rate, Rational(1, max(1, rate)))
        track.sampleFormat = SampleFormat(named: format) ?? .none
        track.channelLayout = ChannelLayout(named: layout)
        change(&track)
        return track
    }

    /// Returns a track of another type: a subtitle track by default.
    static func other(
        _ index: Int = 2, _ type: MediaType = .subtitle, codec: String = "subrip",
        over range: TimeRange = span(0, 10), _ change: (inout TrackDescription) -> Void = { _ in }
    ) -> TrackDescription {
        var track = track(index, type, codec, range)
        track.timeBase = Rational(1, 1000)
        change(&track)
        return track
    }

    /// Returns a track with a cover image.
    static func cover(_ index: Int = 3, codec: String = "mjpeg") -> TrackDescription {
        video(600, 600, index: index, codec: codec, rate: nil, over: span(0, 0)) {
            $0.isAttachedPicture = true
        }
    }
}

extension SourceDescription {
    /// libavformat's name of the mp4 and mov demuxer.
    static let movie = "mov,mp4,m4a,3gp,3g2,mj2"
    static let matroska = "matroska,webm"

    /// Returns the description of a file with the given tracks. It lasts as long as the longest track.
    static func file(
        _ tracks: TrackDescription..., container: String = movie,
        with change: (inout SourceDescription) -> Void = { _ in }
    ) -> SourceDescription {
        var description = SourceDescription(
            AssetContents(
                container: container, fileSize: 1_000_000, missingBytes: 0, tracks: [],
                duration: tracks.map(\.timeRange.end).max() ?? .zero, isDurationExact: true,
                timeZero: .zero, metadata: [], chapters: []))
        description.tracks = tracks
        change(&description)
        return description
    }
}

extension InputPlan.Source {
    /// A file that tests don't open.
    static let file = InputPlan.Source.file(path: "/a.mp4", identity: FileIdentity(remoteSize: 1))
}

extension DisplayTransform {
    /// Transform of frames that are displayed rotated clockwise by 90°.
    static let quarter = DisplayTransform(matrix: [0, 65_536, 0, -65_536, 0, 0, 0, 0, 1 << 30])
    /// Transform of frames that are displayed rotated clockwise by 45°.
    static let eighth = DisplayTransform(matrix: [46_341, 46_341, 0, -46_341, 46_341, 0, 0, 0, 1 << 30])
}

extension ColorDescription {
    /// PQ in BT.2020 with limited range.
    static var hdr: ColorDescription {
        var color = ColorDescription()
        (color.primaries, color.transfer, color.matrix) = ("bt2020", "smpte2084", "bt2020nc")
        color.range = .limited
        return color
    }
}

extension ContainerType {
    /// Returns a container by name.
    static func required(_ name: String) throws -> ContainerType { try #require(named(name)) }
}

extension TrackPlan {
    /// Returns the plan of a track with the time range of its source.
    static func planned(_ source: TrackDescription, _ action: Action = .copy) -> TrackPlan {
        TrackPlan(
            source: source, mix: nil, action: action,
            expected: ExpectationPlanner(track: source, action: action, container: nil).expectation(of: []),
            transform: nil, location: .startOfFile("jobs.yaml"), metadata: [], disposition: [], sideData: [])
    }
}

extension OutputPlan {
    /// Returns an mp4 output of 10 s with the given tracks, and with the expectations of a job.
    static func media(_ tracks: [TrackPlan], of snippet: JobSnippet) -> OutputPlan {
        let place = snippet.job.id.range
        return OutputPlan(
            location: place, container: "mp4", kind: .media(MediaPlan()), destination: "/o.mp4",
            destinationLocation: place, tracks: tracks, expectations: snippet.output.expectations,
            expectedDuration: s(10))
    }
}

extension TrackPlan.Action {
    /// Returns the encoding of a track by an encoder, with the track's format.
    static func encoded(
        _ track: TrackDescription, as codec: String, by encoder: String,
        _ change: (inout TrackPlan.Encoding) -> Void = { _ in }
    ) -> TrackPlan.Action {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: track.mediaType, timeBase: track.timeBase)
        (configuration.width, configuration.height) = (track.width, track.height)
        (configuration.pixelFormat, configuration.frameRate) = (track.pixelFormat, track.frameRate)
        (configuration.sampleRate, configuration.sampleFormat) = (track.sampleRate, track.sampleFormat)
        configuration.channelLayout = track.channelLayout
        let isVideo = track.mediaType == .video
        var encoding = TrackPlan.Encoding(
            codec: codec, encoder: configuration, video: isVideo ? VideoOutputSettings() : nil,
            audio: isVideo
                ? nil
                : AudioOutputSettings(
                    sampleFormat: track.sampleFormat, sampleRate: track.sampleRate,
                    layout: track.channelLayout ?? .stereo),
            loudness: nil, hasTwoPasses: false, settings: [])
        change(&encoding)
        return .encode(encoding)
    }
}

extension SmartCut {
    /// Returns a cut of one range with the given numbers of re-encoded and copied frames; times are in milliseconds.
    static func cut(head: Int = 0, copied: Int = 100, tail: Int = 0) -> SmartCut {
        SmartCut(
            tick: Rational(1, 1000),
            parts: [
                Part(
                    start: 0, end: 4000, copyStart: 0, copyEnd: 4000, lastCopied: 3960,
                    reachesTrackEnd: false,
                    opensGroup: false, headFrames: head, copiedFrames: copied, tailFrames: tail,
                    copiedGroups: 1)
            ], reorderDelay: 0,
            encoder: EncoderConfiguration(
                encoder: "libx264", mediaType: .video, timeBase: Rational(1, 1000)))
    }
}
