import Diagnostics
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// Presets of `export` are valid for their containers, and their sizes depend on the source.
@Suite struct ExportPresetTests {
    private func plan(
        _ preset: ExportPreset, _ container: String, size: String = "320x240"
    ) throws -> JobPlan {
        let yaml = """
            version: 1
            jobs:
              j:
                asset: { pattern: testsrc, size: \(size), frame_rate: 25, duration: 1s, tone: 1kHz }
                export: \(preset.name)
                container: \(container)
                destination: ./out
            """
        let (file, sink) = decode(yaml, directory: "/nowhere")
        guard let file, sink.diagnostics.isEmpty else { throw ProgramError(message: rendered(sink, yaml)) }
        let result = BatchPlanner.plan([file])
        guard let plan = result.plan.jobs.first else {
            throw ProgramError(message: rendered(result.diagnostics, yaml))
        }
        return plan
    }

    @Test(arguments: ExportPreset.names) func everyPresetFitsItsContainers(_ name: String) throws {
        let preset = try #require(ExportPreset.named(name))
        // A test signal has no packets that could be copied.
        if name == "passthrough" { return }
        for container in preset.containers {
            let plan = try plan(preset, container)
            #expect(
                plan.outputs[0].tracks.map(\.source.mediaType)
                    == (name == "m4a" ? [.audio] : [.video, .audio]))
            guard case .encode(let encoding) = plan.outputs[0].tracks[0].action else {
                Issue.record("the track isn't encoded")
                return
            }
            #expect(encoding.settings[0].origin == .preset)
        }
        // The rules that `tandem presets` prints are equivalent to the preset.
        let written = """
            version: 1
            jobs:
              j:
                asset: { pattern: testsrc, size: 320x240, frame_rate: 25, duration: 1s, tone: 1kHz }
            \(preset.yaml(indent: 4))
                container: \(preset.containers[0])
                destination: ./out
            """
        let (file, sink) = decode(written, directory: "/nowhere")
        let own = try #require(file, "\(rendered(sink, written))")
        let job = try #require(BatchPlanner.plan([own]).plan.jobs.first)
        let named = try plan(preset, preset.containers[0])
        for (a, b) in zip(job.outputs[0].tracks, named.outputs[0].tracks) {
            guard case .encode(let a) = a.action, case .encode(let b) = b.action else {
                Issue.record("the track isn't encoded")
                return
            }
            #expect(a.encoder == b.encoder && a.video == b.video)
        }
    }

    /// Sizes are never enlarged, are swapped for portrait sources, and keep the aspect ratio.
    @Test(arguments: [
        ("1920x1080", "1280x720"), ("1080x1920", "720x1280"), ("640x360", "640x360"),
        ("2048x858", "1280x536"),
        ("1000x1000", "720x720"), ("1440x1080", "960x720"),
    ])
    func sizesDependOnTheSource(_ source: String, _ expected: String) throws {
        let plan = try plan(try #require(ExportPreset.named("1280x720")), "mp4", size: source)
        guard case .encode(let encoding) = plan.outputs[0].tracks[0].action else {
            Issue.record("the track isn't encoded")
            return
        }
        #expect("\(encoding.encoder.width)x\(encoding.encoder.height)" == expected)
        #expect(encoding.encoder.sampleAspectRatio.map { $0.num == $0.den } ?? true)
    }
}
