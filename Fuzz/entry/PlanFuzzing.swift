internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import YAMLDocument

/// A file system without files, so that the fuzzed job file can't include others.
private struct NoFiles: SpecFiles {
    func read(_ path: String, limit: Int) throws(SpecFileError) -> [UInt8] {
        throw SpecFileError("no such file")
    }
}

/// A prober that returns the description of one test signal for every path.
private struct SignalProber: SourceProber {
    let environment = SourceEnvironment()
    let trials: SettingsValidationCache

    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        switch request.subject {
        case .description, .images:
            guard case .success(let description) = source else { throw SourceProblem("no test signal") }
            return .description(description)
        case .presentationTimes: return .presentationTimes(true)
        case .cut, .joinedCut, .clipCut: return .cut(nil)
        case .order: return .order(nil)
        case .audioFormat: return .audioFormat(nil)
        case .keyFrames, .scenes: return .keyFrames([])
        case .cadence: return .cadence(nil)
        case .byteCount: return .byteCount(1 << 20)
        case .activeArea: return .activeArea(PixelRectangle(x: 0, y: 2, width: 16, height: 8))
        case .loudness: return .loudness(LoudnessBlocks(joining: []))
        case .cover: throw SourceProblem("no image")
        case .fileContents:
            return .fileContents(FileContents(size: 100, digest: String(repeating: "0", count: 64)))
        case .frames(_, let ranges, let numbers):
            return .frames(
                FramePositions(of: numbers, in: ranges, count: 250, every: Rational(1, 25)))
        case .subtitleEvents: return .presence(true)
        case .trial(let trial): return .verdict(trial.run())
        }
    }
}

/// The processing of a fuzzed job file without media: decoding, expansion, planning, and rendering of diagnostics in every format.
/// Every path is described as a test signal.
///
/// A separate target, so that every build compiles it and the tests run it, not only the fuzzer.
package func fuzzPlan(_ text: [UInt8]) {
    var sink = DiagnosticSink()
    let root = YAMLParser.parse(text, file: "fuzz.yaml", into: &sink)
    var options = SpecOptions()
    options.files = NoFiles()
    options.environment = ["HOME": "/nowhere"]
    // The time for an input depends mainly on its number of job instances. An input that is slow within these limits is a finding.
    options.limits.combinations = 50
    options.limits.instances = 200
    let result = JobFileDecoder.decode(
        root, path: "fuzz.yaml", directory: "/nowhere", options: options, after: sink)
    var all = result.sink
    if let file = result.file, !all.hasErrors {
        let expanded = file.expanded(into: &all) { patterns, _ in
            patterns.files(absolutePath: file.absolutePath) { index in
                patterns.entries[index].expansions.flatMap {
                    [$0.replacing("*", with: "a"), $0.replacing("*", with: "b")]
                }
            }
        }
        let plan = BatchPlanner.plan([expanded], prober: SignalProber(trials: trials))
        all.add(plan.diagnostics)
        _ = PlanText.render(plan.plan) { _ in RunReasons(lines: ["it was never created"]) }
    }
    let source = SourceText(text)
    for location in all.diagnostics.flatMap({ [$0.range] + $0.notes.compactMap(\.range) }) {
        precondition(
            location.isArgument || source.contains(location), "the location \(location) is outside the file")
    }
    var texts = SourceTexts()
    texts.add(text, of: "fuzz.yaml")
    _ = TextRenderer(sources: texts).render(all)
    _ = GitHubRenderer.render(all)
    _ = try? SARIFRenderer.render(all, version: "fuzz")
    _ = try? JSONRenderer.render(all)
}

private let trials = SettingsValidationCache()

private let source = Result {
    SourceDescription(
        try Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: 320, height: 240, frameRate: Rational(25, 1),
                    duration: MediaTime(value: 10, timescale: 1), toneFrequency: 440)),
            environment: MediaEnvironment()
        ).loadSynchronously())
}
