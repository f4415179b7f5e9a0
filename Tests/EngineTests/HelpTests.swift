import Engine
import JobSpec
import TestSupport
import Testing

/// `tandem help` about topics of the job language.
@Suite struct HelpTests {
    private static let topics = HelpTopics(statuses: RunStatus.reference)

    private func help(_ words: String..., width: Int = 80) -> String? {
        CommandWords(["help"] + words).help(overview: "OVERVIEW", width: width)
    }

    @Test(arguments: HelpTests.topics.names) func topicsFitTheWidth(_ topic: String) throws {
        for width in [40, 80, 120] {
            let text = try #require(help(topic, width: width))
            #expect(text.split(separator: "\n").count > 1)
            for line in text.split(separator: "\n") where line.count > width {
                // Only a word without a space may be longer.
                #expect(!line.drop { $0 == " " }.contains(" "), "\(line)")
            }
            #expect(!text.contains("**Required") && !text.contains("\\|"))
        }
    }

    @Test func topicsContainTheTablesOfTheReference() throws {
        #expect(try #require(help("times")).contains("\n  `1:30.5`"))
        #expect(try #require(help("range")).hasPrefix("Key `range`\n"))
        let encode = try #require(help("encode"))
        #expect(try #require(help("patterns")).contains("`**`"))
        for key in ["`crf`", "`sample_rate`"] { #expect(encode.contains("\n  \(key)")) }
        #expect(try #require(help("destination")).contains("\n  `if_exists`"))
        #expect(try #require(help("expect")).contains("\n  `similarity`"))
        #expect(try #require(help("crf")).contains("of video `encode`"))
        let statuses = try #require(help("exit-status"))
        for status in RunStatus.allCases { #expect(statuses.contains("\n  \(status.rawValue) ")) }
        // Several topics are printed in their order.
        let two = try #require(help("times", "range"))
        #expect(two.hasPrefix("Times\n") && two.contains("\nKey `range`\n"))
    }

    @Test func overviewListsTopics() throws {
        let text = try #require(CommandWords(["help"]).help(overview: "OVERVIEW", width: 80))
        #expect(text.hasPrefix("OVERVIEW\n\nTOPICS:\n  times") || text.contains("\n  times "))
        for topic in ["selection", "exit-status", "video-encode"] { #expect(text.contains(topic)) }
        #expect(CommandWords(["run"]).help(overview: "", width: 80) == nil)
    }

    @Test func unknownTopicsHaveASuggestion() {
        func problem(_ words: String...) -> String? {
            CommandWords(["help"] + words).problem(commands: ["validate", "run"])
        }
        #expect(problem("tims") == "unknown command or topic `tims`; did you mean `times`?")
        #expect(problem("times", "rnage") == "unknown command or topic `rnage`; did you mean `range`?")
        #expect(
            problem("qwertyuiop")
                == "unknown command or topic `qwertyuiop`; `tandem help` lists commands and topics")
        #expect(problem("times") == nil && problem("run") == nil && problem("times", "--help") == nil)
    }
}
