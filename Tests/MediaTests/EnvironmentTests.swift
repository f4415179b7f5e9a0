import FileSystem
import Foundation
import LibAV
import Media
import TestSupport
import Testing

/// The access restrictions of a `MediaEnvironment` apply to its assets, not to the process.
@Suite struct EnvironmentTests {
    private func reason(_ path: String, _ sources: SourceEnvironment) -> InputError.Reason? {
        let asset = Asset(.file(path), environment: MediaEnvironment(sources: sources))
        do {
            _ = try asset.loadSynchronously()
            return nil
        } catch {
            return (error as? InputError)?.reason
        }
    }

    private func isOutside(_ path: String, _ sources: SourceEnvironment) -> Bool {
        if case .file(.outsideRoot)? = reason(path, sources) { true } else { false }
    }

    @Test func assetsAreRestrictedToTheirOwnRoot() throws {
        let scratch = try Scratch()
        for folder in ["a", "b"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
            try ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", scratch.file(folder + "/s.wav"))
        }
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("a/out.wav"), withDestinationPath: scratch.file("b/s.wav"))
        let a = SourceEnvironment(root: try #require(PathRoot(folder: scratch.file("a"))))
        let b = SourceEnvironment(root: try #require(PathRoot(folder: scratch.file("b"))))
        #expect(reason(scratch.file("a/s.wav"), a) == nil && reason(scratch.file("b/s.wav"), b) == nil)
        #expect(isOutside(scratch.file("b/s.wav"), a) && isOutside(scratch.file("a/s.wav"), b))
        #expect(isOutside(scratch.file("a/out.wav"), a), "a link leads out of the root")
        #expect(isOutside(scratch.file("a/../b/s.wav"), a))
        #expect(reason(scratch.file("a/out.wav"), SourceEnvironment()) == nil)
        #expect(PathRoot(folder: scratch.file("c")) == nil)
    }

    @Test func networkAccessRequiresPermission() {
        guard case .networkNotAllowed? = reason("http://127.0.0.1:9/a.mp4", SourceEnvironment()) else {
            Issue.record("the network was accessed without permission")
            return
        }
        guard case .notFetched? = reason("http://127.0.0.1:9/a.mp4", SourceEnvironment(allowsNetwork: true))
        else {
            Issue.record("the network was not accessed")
            return
        }
    }

    @Test func passedDescriptorsAreReadUntilTheyAreRevoked() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", scratch.file("s.wav"))
        let file = open(scratch.file("s.wav"), O_RDONLY)
        defer { close(file) }
        let passed = PassedDescriptors()
        passed.add(file, for: "/nowhere/s.wav")
        var sources = SourceEnvironment()
        sources.descriptors = passed
        #expect(reason("/nowhere/s.wav", sources) == nil)
        guard case .file(.missing)? = reason("/nowhere/s.wav", SourceEnvironment()) else {
            Issue.record("the file was read without a passed descriptor")
            return
        }
        passed.revoke()
        guard case .file(.missing)? = reason("/nowhere/s.wav", sources) else {
            Issue.record("the file was read after the descriptor was taken back")
            return
        }
    }
}
