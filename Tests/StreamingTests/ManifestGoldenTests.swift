import Foundation
import Streaming
import TestSupport
import Testing

/// Compares the manifests of packages with the files in `golden/`. A missing file is written, and the test fails: read it,
/// and commit it.
@Suite struct ManifestGoldenTests {
    static let folder = TestPaths.repository + "/Tests/StreamingTests/golden"

    @Test(arguments: Fixtures.packages.keys.sorted())
    func manifestsAreThoseOfTheGoldenFile(_ name: String) throws {
        let package = try #require(Fixtures.packages[name])
        let text = try package.manifests().map { "==> \($0.path) <==\n\($0.text)\n" }.joined()
        try expectGolden(text, "\(Self.folder)/\(name).txt")
    }
}
