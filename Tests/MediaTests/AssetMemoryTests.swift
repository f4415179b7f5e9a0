import TestSupport
import Testing

@testable import Media

@Suite struct AssetMemoryTests {
    /// A look that began while something was remembered may end when nothing is any more.
    @Test func whatIsFoundAfterTheEndIsNotKept() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.wav")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", path)
        let contents = try Asset(.file(path)).loadSynchronously()
        AssetMemory.remember(1)
        defer { AssetMemory.remember(0) }
        let found = try AssetMemory.contents(ofFile: path, timing: .fast) {
            AssetMemory.remember(0)
            return contents
        }
        #expect(found.tracks.count == contents.tracks.count)
    }
}
