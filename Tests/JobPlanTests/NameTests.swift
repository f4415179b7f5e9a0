import JobSpec
import Testing

/// Names of job instances and of their files are parsed as they are written.
@Suite struct NameTests {
    @Test(arguments: [
        ("web", "web", false), ("web[1080,de]", "web", true), ("pattern[3:7]", "pattern", true),
        ("a[b[1]]", "a", true),
    ])
    func instanceName_isParsed(_ text: String, _ base: String, _ hasLabel: Bool) {
        let name = InstanceName(text)
        #expect(name.base == base && name.hasLabel == hasLabel && name.description == text)
    }

    @Test(
        arguments: [
            ("web", "web", nil, 0), ("web/hd", "web", "hd", 0), ("web/hd#2", "web", "hd", 1),
            ("web#12", "web", nil, 11),
            ("web[media/a.mp4]", "web[media/a.mp4]", nil, 0),
            ("web[media/a.mp4]/hd", "web[media/a.mp4]", "hd", 0),
            ("web[a#2]", "web[a#2]", nil, 0), ("web[a#2]/hd#3", "web[a#2]", "hd", 2),
        ] as [(String, String, String?, Int)])
    func outputName_isParsed(_ text: String, _ job: String, _ output: String?, _ part: Int) {
        let name = OutputName(text)
        #expect(name.job == job && name.output == output && name.part == part)
        #expect(name.description == text)
        #expect(name.whole == OutputName(job: job, output: output))
    }
}
