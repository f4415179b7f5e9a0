import Foundation
import TandemKit

/// The examples on the pages of assets, their tracks and their formats. Each is compared with its page, and run.
enum AssetExamples {
    static func asset(input: URL) async throws {
        // begin Asset
        let asset = Asset(url: input)
        let (duration, tracks) = try await asset.load(.duration, .tracks)
        print("\(duration) s, \(tracks.count) tracks")
        // end Asset
    }

    static func track(input: URL) async throws {
        // begin AssetTrack
        for track in try await Asset(url: input).loadTracks(withMediaType: .video) {
            let (size, rate) = (track.displaySize, track.nominalFrameRate?.double ?? 0)
            print("\(track.format.codec), \(size.width)x\(size.height), \(rate) frames per second")
        }
        // end AssetTrack
    }

    static func format(track: AssetTrack) {
        // begin FormatDescription
        let format = track.format
        let isHDR = ["smpte2084", "arib-std-b67"].contains(format.color.transfer)
        print("\(format.codec) \(format.width)x\(format.height), \(format.pixelFormat), HDR: \(isHDR)")
        // end FormatDescription
    }

    static func container(url: URL) {
        // begin ContainerType
        if let container = ContainerType.forExtension(url.pathExtension) {
            print("\(container.name) stores HEVC: \(container.canHold(codec: "hevc"))")
        }
        // end ContainerType
    }

    static func environment(folder: URL, file: URL) async throws -> MediaTime {
        // begin MediaEnvironment
        guard let root = PathRoot(folder: folder.path) else { throw CocoaError(.fileNoSuchFile) }
        let environment = MediaEnvironment(sources: SourceEnvironment(root: root))
        let asset = Asset(url: file, environment: environment)
        // end MediaEnvironment
        return try await asset.load(.duration)
    }

    static func root(folder: URL, upload: URL) throws {
        // begin PathRoot
        guard let root = PathRoot(folder: folder.path) else { throw CocoaError(.fileNoSuchFile) }
        print("\(upload.path) may be read: \(root.contains(upload.resolvingSymlinksInPath().path))")
        // end PathRoot
    }

    static func time() -> MediaTime {
        // begin MediaTime
        let frame = MediaTime(value: 1001, timescale: 30_000)
        let start = MediaTime(seconds: 2.5)
        let next = start + frame
        print("\(next) s, exactly \(next.value)/\(next.timescale)")
        // end MediaTime
        return next
    }

    static func range() -> TimeRange {
        // begin TimeRange
        let range = TimeRange(start: MediaTime(seconds: 10), duration: MediaTime(seconds: 2))
        let isInside = range.start <= MediaTime(seconds: 11) && MediaTime(seconds: 11) < range.end
        print("ends at \(range.end) s: \(isInside)")
        // end TimeRange
        return range
    }
}
