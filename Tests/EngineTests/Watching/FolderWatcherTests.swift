import ExactStrings
import FileSystem
import Foundation
import Publishing
import TestSupport
import Testing

@testable import Engine

@Suite struct FolderWatcherTests {
    /// A watcher of folders of a test, and its events.
    private struct Watched {
        let scratch: Scratch
        let events: WatchEvents
        let watcher: FolderWatcher

        init(beneath root: PathRoot = .anywhere) throws {
            scratch = try Scratch()
            events = WatchEvents()
            watcher = try FolderWatcher(beneath: root, onChange: events.wake)
        }

        func watch(_ names: String...) -> Bool {
            watcher.watch(Set(names.map { ($0.isEmpty ? scratch.path : scratch.file($0)).exact }))
        }

        /// Waits for an event after an action. Earlier events are removed first.
        func wait(after action: () throws -> Void) async throws {
            await events.wait(until: .now + .milliseconds(300))
            try action()
            let begun = ContinuousClock.now
            await events.wait(until: begun + .seconds(60))
            #expect(ContinuousClock.now - begun < .seconds(60))
        }
    }

    @Test func changes_areReported() async throws {
        let watched = try Watched()
        #expect(watched.watch("") && watched.watcher.count == 1)
        #expect(!watched.watch(""))
        try await watched.wait { _ = try watched.scratch.write("text", to: "a") }
        try await watched.wait {
            try FileManager.default.moveItem(
                atPath: watched.scratch.file("a"), toPath: watched.scratch.file("b"))
        }
        #expect(watched.watcher.reportsAllChanges)
    }

    /// The nearest existing folder is watched, until the folder exists.
    @Test func missingFolder_isWatchedWhenItAppears() async throws {
        let watched = try Watched()
        #expect(watched.watch("in/more"))
        #expect(!watched.watch("in/more"))
        try await watched.wait {
            try FileManager.default.createDirectory(
                atPath: watched.scratch.file("in/more"), withIntermediateDirectories: true)
        }
        #expect(watched.watch("in/more") && watched.watcher.count == 1)
        try await watched.wait { _ = try watched.scratch.write("text", to: "in/more/a") }
    }

    /// A folder with the path of one that was removed or moved is another folder.
    @Test(arguments: [true, false]) func replacedFolder_isWatchedAgain(_ isMoved: Bool) async throws {
        let watched = try Watched()
        let folder = watched.scratch.file("in")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(watched.watch("in"))
        try await watched.wait {
            if isMoved {
                try FileManager.default.moveItem(atPath: folder, toPath: watched.scratch.file("old"))
            } else {
                try FileManager.default.removeItem(atPath: folder)
            }
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(watched.watch("in") && watched.watcher.count == 1)
        #expect(!watched.watch("in"))
    }

    /// A link that leads to another folder, and a path through a folder that was moved.
    @Test func pathOfAnotherFolder_isWatchedAgain() throws {
        let watched = try Watched()
        let (scratch, files) = (watched.scratch, FileManager.default)
        for name in ["one", "two", "above/in"] {
            try files.createDirectory(atPath: scratch.file(name), withIntermediateDirectories: true)
        }
        try files.createSymbolicLink(atPath: scratch.file("link"), withDestinationPath: "one")
        #expect(watched.watch("link", "above/in") && watched.watcher.count == 2)
        try files.removeItem(atPath: scratch.file("link"))
        try files.createSymbolicLink(atPath: scratch.file("link"), withDestinationPath: "two")
        #expect(watched.watch("link", "above/in") && !watched.watch("link", "above/in"))
        try files.moveItem(atPath: scratch.file("above"), toPath: scratch.file("old"))
        try files.createDirectory(atPath: scratch.file("above/in"), withIntermediateDirectories: true)
        #expect(watched.watch("link", "above/in") && watched.watcher.count == 2)
    }

    @Test func folderOutsideOfTheRoot_isNotWatched() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("root"), withIntermediateDirectories: false)
        let root = try #require(PathRoot(folder: scratch.file("root")))
        let watcher = try FolderWatcher(beneath: root) {}
        #expect(!watcher.watch([scratch.path.exact]) && watcher.count == 0)
        #expect(watcher.watch([scratch.file("root").exact]) && watcher.count == 1)
        #expect(root.excludes(scratch.file("root/../a")) && root.excludes(scratch.path))
        #expect(!root.excludes(scratch.file("root")) && !root.excludes(scratch.file("root/missing")))
    }

    @Test func visitedFolders_areThoseOfListingsAndLookups() throws {
        let scratch = try Scratch()
        try scratch.write("text", to: "a")
        let disk = VisitedFolders()
        #expect(disk.type(of: "/x/y/z") == nil)
        let found = try disk.entries(of: scratch.path + "/", beneath: .anywhere, limit: 9)
        #expect(found.map(\.name) == ["a"])
        #expect(disk.folders == ["/x/y".exact, scratch.path.exact])
    }
}
