import Testing

@testable import JobRun

/// Tests the links of reports to packages.
@Suite struct PackageMarkupTests {
    @Test(arguments: [
        ("/a/out/p/master.m3u8", "/a/reports", "../out/p/master.m3u8"),
        ("/a/out/p/master.m3u8", "/a", "out/p/master.m3u8"), ("/a/b", "/", "a/b"),
        ("/a/é \"<&:/b?#.m3u8", "/a", "%C3%A9%20%22%3C%26%3A/b%3F%23.m3u8"),
        ("/b/x.m3u8", "/a/c/d", "../../../b/x.m3u8"),
    ])
    func linksAreRelativeToTheReport(_ path: String, _ folder: String, _ link: String) {
        #expect(PackageMarkup.reference(to: path, from: folder) == link)
    }

    @Test func linksWithoutAFolderAreAbsolute() {
        #expect(PackageMarkup.reference(to: "/a b/c", from: nil) == "file:///a%20b/c")
    }
}
