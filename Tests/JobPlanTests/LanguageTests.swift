import Diagnostics
import JobPlan
import LibAV
import TestSupport
import Testing

/// Languages of tracks are written as codes that the container supports, or are errors at their line.
@Suite struct LanguageTests {
    @Test(arguments: [
        ("mp4", "de", "deu"), ("mp4", "ger", "ger"), ("mov", "deu", "ger"), ("mov", "nl", "dut"),
        ("mkv", "pt-BR", "pt-BR"),
        ("mp4", "pt-BR", nil), ("mov", "tlh", nil),
    ])
    func languagesAreConvertedToTheContainersCodes(
        _ container: String, _ written: String, _ expected: String?
    ) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=0.2", "-c:v", "libx264",
            scratch.file("a.mp4"))
        let (file, _) = decode(
            """
            version: 1
            jobs:
              it:
                asset: ./a.mp4
                tracks: [{ video: first, copy: true, language: \(written) }]
                destination: out.\(container)
            """, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        if let expected {
            let tags = try #require(result.plan.jobs.first).outputs[0].tracks[0].metadata
            #expect(tags.first { $0.key == "language" }?.value == expected)
        } else {
            #expect(result.diagnostics.diagnostics.map(\.rule) == [.containerSetting])
            #expect(result.diagnostics.diagnostics.first?.range.line == 5)
        }
    }
}
