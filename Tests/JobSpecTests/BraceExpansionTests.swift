import Testing

@testable import JobSpec

/// The braces of patterns.
@Suite struct BraceExpansionTests {
    @Test(arguments: [
        ("a.mp4", ["a.mp4"]), ("*.{wav,flac}", ["*.wav", "*.flac"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"]), ("a{,-hd}.mp4", ["a.mp4", "a-hd.mp4"]),
        ("{in,out/x}/*", ["in/*", "out/x/*"]), ("{é,ü}", ["é", "ü"]),
        // Braces without a comma, and braces that aren't closed, are ordinary characters.
        ("Film {tmdb-1}/*.mkv", ["Film {tmdb-1}/*.mkv"]), ("{}", ["{}"]), ("a}b{", ["a}b{"]),
        ("a,b", ["a,b"]), ("{x{a,b}}", ["{xa}", "{xb}"]), ("{{a,b}", ["{a", "{b"]), ("{a,b}}", ["a}", "b}"]),
        // Brackets hide braces and commas.
        ("[{]a,b}", ["[{]a,b}"]), ("{[,],b}", ["[,]", "b"]), ("{[a,b],c}", ["[a,b]", "c"]),
        ("{a[}],b}", ["a[}]", "b"]), ("{[]{],b}", ["[]{]", "b"]), ("{[!],}],b}", ["[!],}]", "b"]),
    ])
    func braces_standForTheirAlternatives(_ text: String, _ expected: [String]) {
        #expect(BraceExpansion.expand(text) == expected)
        #expect(!BraceExpansion.isUnclosed(in: text))
    }

    @Test(arguments: [
        ("{a,b", true), ("x{a{b,c},d", true), ("{a{b,c", true), ("{a{b,c}", false), ("{a", false),
        ("{a}{b,", true), ("[{]a,b", false),
    ])
    func openBraces_withACommaAreUnclosed(_ text: String, _ isUnclosed: Bool) {
        #expect(BraceExpansion.isUnclosed(in: text) == isUnclosed)
    }

    @Test func numberOfAlternatives_isLimited() {
        let ten = "{0,1,2,3,4,5,6,7,8,9}"
        #expect(BraceExpansion.expand(ten + ten)?.count == 100)
        #expect(BraceExpansion.expand(ten + ten + "{a,b}") == nil)
        #expect(BraceExpansion.expand(String(repeating: "{a,b}", count: 500)) == nil)
        #expect(
            BraceExpansion.expand(String(repeating: "{a,", count: 1000) + String(repeating: "}", count: 1000))
                == nil)
        #expect(BraceExpansion.expand("{" + String(repeating: ",", count: 100) + "}") == nil)
    }

    /// Text that makes scanners with backtracking slow takes linear time.
    @Test(arguments: ["{", "}", "[", "{[", "{}", "{a", ",", "[]", "{a,b}/["]) func scanning_isLinear(
        _ part: String
    ) {
        let text = String(repeating: part, count: 20_000)
        _ = BraceExpansion.expand(text)
        _ = BraceExpansion.isUnclosed(in: text)
    }

    /// Braces within a component share a search; braces that contain a `/` or `**` don't.
    @Test(
        arguments: [
            ("in/*.{wav,flac}", [[["in"], ["*.wav", "*.flac"]]]),
            ("./in//*.wav", [[["in"], ["*.wav"]]]),
            ("{in,out/x}/*.{a,b}", [[["in"], ["*.a", "*.b"]], [["out"], ["x"], ["*.a", "*.b"]]]),
            ("{**,x}/*.a", [[["**"], ["*.a"]], [["x"], ["*.a"]]]),
            ("{,sub*}/*.a", [[["*.a"]], [["sub*"], ["*.a"]]]),
            (
                "{..,a}/{b,.}/*.a",
                [[[".."], ["b"], ["*.a"]], [[".."], ["*.a"]], [["a"], ["b"], ["*.a"]], [["a"], ["*.a"]]]
            ),
        ] as [(String, [[[String]]])])
    func patterns_haveOneSearchForBracesWithinAComponent(_ pattern: String, _ expected: [[[String]]]) {
        #expect(GlobPattern.branches(of: pattern).map(\.components) == expected)
    }

    @Test(arguments: [
        ("a/{b,c}/*.{x,y}", nil), ("[a", "a `[` is not closed; write a literal `[` as `[[]`"),
        ("{a,b*", "a `{` is not closed; write a literal `{` as `[{]`"),
        ("{a**,b}/c", "`**` must be a whole path component"), ("{**,b}/c", nil),
        ("{**,b}/**/**/**/**/c", "`**` may occur at most four times"),
        ("{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9,a}", "its braces stand for more than 100 patterns"),
    ])
    func problemsOfPatternsAreReported(_ pattern: String, _ problem: String?) {
        #expect(GlobPattern.problem(pattern) == problem)
    }
}
