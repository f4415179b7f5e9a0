import LibAV
import Media
import Testing

@testable import JobSpec

/// Tests the conversion of languages to the codes that a container can store.
@Suite struct LanguageCodeTests {
    @Test(arguments: [
        ("mp4", "de", "deu"), ("mp4", "ger", "ger"), ("mov", "deu", "ger"), ("mov", "nl", "dut"),
        ("mkv", "pt-BR", "pt-BR"), ("mp4", "pt-BR", nil), ("mov", "tlh", nil), ("wav", "eng", nil),
        ("mp4", "gd", "gla"), ("mov", "et", "est"),
    ])
    func languagesAreConvertedToTheContainersCodes(
        _ name: String, _ language: String, _ expected: String?
    ) throws {
        let container = try #require(ContainerType.named(name))
        #expect(LanguageCode.written(language, of: .audio, in: container) == expected)
    }
}
