import Testing

@testable import JobRun

/// The text of shortcuts in the store, which may have been written by any version.
@Suite struct ShortcutTests {
    @Test func textIsReadAsItWasWritten() {
        let one = Shortcut(digest: "ab12")
        #expect(one.text == "ab12" && Shortcut(text: one.text) == one)
        let several = one.with(files: 12)
        #expect(several.text == "ab12 12" && Shortcut(text: several.text) == several && several != one)
    }

    /// Text that isn't a shortcut doesn't match any.
    @Test(arguments: [
        "", " ", "ab12 ", "ab12 0", "ab12 -1", "ab12 10001", "ab12 x", "ab12 1 2",
        "ab12 99999999999999999999",
    ])
    func otherTextMatchesNothing(_ text: String) {
        let found = Shortcut(text: text)
        #expect(found != Shortcut(digest: "ab12"))
        for count in [1, 2, 10_000] { #expect(found != Shortcut(digest: "ab12").with(files: count)) }
    }
}
