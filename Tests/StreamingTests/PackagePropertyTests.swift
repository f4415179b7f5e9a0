import Foundation
import LibAV
import Media
import Streaming
import TestSupport
import Testing

/// Tests properties that all manifests have, with random renditions.
@Suite struct PackagePropertyTests {
    /// Returns a package of one video, one or two audio renditions, with random durations and sizes.
    private func package(seed: UInt64) -> StreamingPackage {
        var random = SeededGenerator(seed)
        let scales: [Int32] = [1000, 12_800, 24_000, 30_000, 44_100, 48_000, 90_000, 1_000_003]
        let start = Int64.random(in: 0...3, using: &random)
        func segments(_ scale: Int32, isVideo: Bool) -> [StreamingSegment] {
            let longest = Int64(scale) * [1, 2, 6, 10].randomElement(using: &random)!
            let durations = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? longest : Int64.random(in: max(1, longest / 50)...longest, using: &random)
            }
            var time = start * Int64(scale)
            return durations.map { duration in
                defer { time += duration }
                let size = Int64.random(in: 1...2_000_000, using: &random)
                return StreamingSegment(
                    start: MediaTime(value: time, timescale: scale),
                    duration: MediaTime(value: duration, timescale: scale), size: size,
                    keyframe: isVideo ? ByteRange(offset: 0, length: (size + 3) / 4) : nil)
            }
        }
        let scale = scales.randomElement(using: &random)!
        var renditions = [
            StreamingRendition(
                id: "video",
                kind: .video(.init(width: 640, height: 360, frameRate: Rational(25, 1))),
                codec: CodecString("avc1.64001e"), timescale: scale, initializationSize: 1000,
                segments: segments(scale, isVideo: true))
        ]
        for index in 0...Int.random(in: 0...1, using: &random) {
            let scale = scales.randomElement(using: &random)!
            renditions.append(
                StreamingRendition(
                    id: "audio\(index)", kind: .audio(.init(sampleRate: 48_000, layout: .stereo)),
                    codec: CodecString(index == 0 ? "mp4a.40.2" : "opus"), timescale: scale,
                    initializationSize: 900, segments: segments(scale, isVideo: false)))
        }
        return StreamingPackage(
            formats: [.hls, .dash], files: Bool.random(using: &random) ? .many : .single,
            segmentDuration: MediaTime(value: Int64.random(in: 500...9000, using: &random), timescale: 1000),
            renditions: renditions)
    }

    private func text(_ path: String, _ manifests: [Manifest]) throws -> String {
        try #require(manifests.first { $0.path == path }).text
    }

    /// Returns durations of a playlist in microseconds.
    private func durations(_ playlist: String) throws -> [Int64] {
        try values("#EXTINF:", in: playlist).map {
            let parts = $0.dropLast().split(separator: ".")
            try #require(parts.count == 2 && parts[1].count == 6)
            return try #require(Int64(parts[0] + parts[1]))
        }
    }

    private func values(_ tag: String, in text: String) -> [Substring] {
        text.split(separator: "\n").filter { $0.hasPrefix(tag) }.map { $0.dropFirst(tag.count) }
    }

    @Test(arguments: 0..<60) func playlistsMatchTheSegments(_ seed: UInt64) throws {
        let package = package(seed: seed)
        let manifests = try package.manifests()
        var targets: Set<Substring> = []
        for rendition in package.renditions {
            let playlist = try text(package.layout.playlist(of: rendition.id), manifests)
            let durations = try durations(playlist)
            #expect(durations.count == rendition.segments.count)
            // The sum up to each segment is its end within a unit of rounding.
            var sum: Int64 = 0
            let first = rendition.segments[0].start
            for (segment, duration) in zip(rendition.segments, durations) {
                sum += duration
                let exact = (segment.start + segment.duration - first).seconds * 1e6
                #expect(abs(Double(sum) - exact) <= 1)
            }
            let target = try #require(values("#EXT-X-TARGETDURATION:", in: playlist).first)
            targets.insert(target)
            let limit = try #require(Int64(target))
            #expect(durations.allSatisfy { ($0 + 500_000) / 1_000_000 <= limit })
            if package.files == .single {
                var offset =
                    rendition.initializationSize + Int64(try SegmentIndex(rendition).bytes.count)
                for (segment, range) in zip(rendition.segments, values("#EXT-X-BYTERANGE:", in: playlist)) {
                    #expect(range == "\(segment.size)@\(offset)")
                    offset += segment.size
                }
            }
        }
        #expect(targets.count == 1, "all playlists have the same target duration")
        let keyframes = try text(package.layout.keyframePlaylist(of: "video"), manifests)
        #expect(try durations(keyframes).count == package.renditions[0].segments.count)
    }

    @Test(arguments: 0..<60) func bandwidthsAreThoseOfTheDefinition(_ seed: UInt64) throws {
        let package = package(seed: seed)
        let manifests = try package.manifests()
        let master = try text(package.layout.multivariantPlaylist, manifests)
        let playlist = try text(package.layout.playlist(of: "video"), manifests)
        let target = try #require(Double(values("#EXT-X-TARGETDURATION:", in: playlist)[0]))
        var expected: [(peak: Double, average: Double)] = []
        for rendition in package.renditions { expected.append(rates(rendition, target: target)) }
        let streams = values("#EXT-X-STREAM-INF:", in: master)
        #expect(streams.count == package.renditions.count - 1)
        for stream in streams {
            let attributes = stream.split(separator: ",")
            let peak = try #require(attributes[0].split(separator: "=").last.flatMap { Double($0) })
            let average = try #require(attributes[1].split(separator: "=").last.flatMap { Double($0) })
            #expect(peak >= average)
            let audio = stream.contains("opus") ? 2 : 1
            #expect(abs(peak - expected[0].peak - expected[audio].peak) <= 4)
            #expect(abs(average - expected[0].average - expected[audio].average) <= 4)
        }
    }

    /// Returns bit rates by trying all contiguous segments.
    private func rates(
        _ rendition: StreamingRendition, target: Double
    ) -> (peak: Double, average: Double) {
        let segments = rendition.segments
        func rate(_ range: ClosedRange<Int>) -> (duration: Double, rate: Double) {
            let duration = segments[range].reduce(0.0) { $0 + $1.duration.seconds }
            return (duration, Double(segments[range].reduce(0) { $0 + $1.size * 8 }) / duration)
        }
        let average = rate(0...segments.count - 1).rate
        var peak = average
        for first in segments.indices {
            for last in first..<segments.count {
                let (duration, rate) = rate(first...last)
                // Durations that equal a bound may be on either side of it in floating point.
                if duration >= target * 0.5 - 1e-9, duration <= target * 1.5 + 1e-9 { peak = max(peak, rate) }
            }
        }
        return (peak, average)
    }

    @Test(arguments: 0..<60) func timeLinesMatchTheSegments(_ seed: UInt64) throws {
        var package = package(seed: seed)
        package.files = .many
        let text = try text(package.layout.presentationDescription, package.manifests())
        for rendition in package.renditions {
            // The time line of a rendition precedes it, because each is alone in its set.
            let before = try #require(text.range(of: "<Representation id=\"\(rendition.id)\"")).lowerBound
            let template = try #require(
                text[..<before].range(of: "<SegmentTemplate", options: .backwards)
            ).lowerBound
            var times: [(start: Int64, end: Int64)] = []
            for line in text[template..<before].split(separator: "\n") where line.contains("<S ") {
                let start = try #require(number("t", line))
                let duration = try #require(number("d", line))
                for index in 0...(number("r", line) ?? 0) {
                    times.append((start + index * duration, start + (index + 1) * duration))
                }
            }
            #expect(times.count == rendition.segments.count)
            for (time, segment) in zip(times, rendition.segments) {
                let (start, end) = (segment.start, segment.start + segment.duration)
                #expect(MediaTime(value: time.start, timescale: rendition.timescale) == start)
                #expect(MediaTime(value: time.end, timescale: rendition.timescale) == end)
            }
            if let offset = number("presentationTimeOffset", text[template..<before]) {
                #expect(
                    MediaTime(value: offset, timescale: rendition.timescale) == rendition.segments[0].start)
            } else {
                #expect(rendition.segments[0].start == .zero)
            }
        }
    }

    private func number(_ attribute: String, _ text: some StringProtocol) -> Int64? {
        guard let start = text.range(of: " \(attribute)=\"") else { return nil }
        return Int64(text[start.upperBound...].prefix { $0.isNumber })
    }

    @Test func equalPackagesHaveEqualManifests() throws {
        for seed in 0..<10 {
            #expect(
                try package(seed: UInt64(seed)).manifests() == package(seed: UInt64(seed)).manifests())
        }
    }

    /// Measures a long rendition, whose many short segments are within the bounds of the peak bit rate together.
    @Test func timeGrowsLinearly() throws {
        func seconds(_ count: Int) throws -> Double {
            let durations = [Int64(1_000_000)] + Array(repeating: 1, count: count)
            var rendition = Fixtures.video(
                "v", width: 16, height: 16, rate: 8_000_000, durations: durations)
            for index in rendition.segments.indices { rendition.segments[index].keyframe = nil }
            rendition.timescale = 1000
            rendition.segments = rendition.segments.enumerated().map { index, segment in
                StreamingSegment(
                    start: MediaTime(value: index == 0 ? 0 : 1_000_000 + Int64(index) - 1, timescale: 1000),
                    duration: MediaTime(value: durations[index], timescale: 1000),
                    size: Int64(index % 7 + 1))
            }
            let package = Fixtures.package([rendition])
            let clock = ContinuousClock()
            let time = try clock.measure { _ = try package.manifests() }
            return time / .seconds(1)
        }
        // A quadratic algorithm would take minutes.
        #expect(try seconds(100_000) < 30)
    }
}
