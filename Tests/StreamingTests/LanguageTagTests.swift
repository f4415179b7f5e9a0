import Streaming
import Testing

/// Tests tags from the languages of containers, and roles from their dispositions.
@Suite struct LanguageTagTests {
    @Test(arguments: [
        ("eng", "en"), ("ger", "de"), ("deu", "de"), ("fre", "fr"), ("EN", "en"), ("pt-br", "pt-BR"),
        ("chi-hant-tw", "zh-Hant-TW"), ("sr-latn", "sr-Latn"), ("en-x-LONG", "en-x-long"), ("tlh", "tlh"),
        ("zxx", "zxx"), ("de-1996", "de-1996"),
    ]) func tags(_ language: String, _ expected: String) {
        #expect(LanguageTag(language)?.value == expected)
    }

    @Test(arguments: [
        "", "und", "e", "en-", "-en", "en_US", "english language", "en\"", "日本", "en-\n",
        String(repeating: "aa-", count: 40) + "aa",
    ]) func otherTextIsNoTag(_ language: String) {
        #expect(LanguageTag(language) == nil)
    }

    @Test func rolesOfDispositions() {
        #expect(
            StreamingRole.roles(ofDisposition: ["default", "hearing_impaired"], isAudio: true)
                == [.clearSpeech])
        #expect(
            StreamingRole.roles(ofDisposition: ["forced", "hearing_impaired"], isAudio: false)
                == [.captions, .forced])
        #expect(
            StreamingRole.roles(
                ofDisposition: ["comment", "dub", "visual_impaired", "forced"], isAudio: true)
                == [.commentary, .dub, .description])
    }
}
