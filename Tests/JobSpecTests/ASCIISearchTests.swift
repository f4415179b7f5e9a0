import ExactStrings
import Testing

/// The search by bytes finds what the search by characters finds.
@Suite struct ASCIISearchTests {
    @Test(arguments: [
        "", "$", "${", "a${b}", "$${x}", "äöü${é}", "$\u{301}{x} ${y}", "${\u{301}x}", "a$", "$ {",
        "\u{1F1E9}\u{1F1EA}${x}",
        "${a}${b}", "\r\n${x}", "x${",
    ])
    func rangesEqualThoseOfCharacters(_ text: String) {
        #expect(text.firstRange(ofASCII: "${") == text.firstRange(of: "${"))
        #expect(text.contains(ascii: "${") == text.contains("${"))
        let rest = text.dropFirst()
        #expect(rest.firstRange(ofASCII: "${") == rest.firstRange(of: "${"))
    }

    /// Strings are equal if their bytes are, in each representation.
    @Test func exactStringsAreComparedByBytes() {
        let long = String(repeating: "a", count: 40)
        #expect("é".exact != "e\u{301}".exact && long.exact == String(long.reversed()).exact)
        #expect(
            long.exact != String(long.dropLast() + "b").exact && "".exact == "".exact && "a".exact != "".exact
        )
    }
}
