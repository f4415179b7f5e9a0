import Foundation
import TandemKit
import TestSupport
import Testing

@testable import Media

/// Insertions, removals and speed changes, compared with a model that is an array of frames.
@Suite struct CompositionEditingTests {
    private typealias WalkGenerator = MisuseWalkTests.WalkGenerator

    private static let rate = 25.0

    private static func time(_ tick: Int) -> MediaTime { MediaTime(value: Int64(tick), timescale: 25) }

    private static func range(_ start: Int, _ end: Int) -> TimeRange {
        TimeRange(start: time(start), end: time(end))
    }

    private static func placement(_ source: Int, _ from: Int, at start: Int, _ end: Int) -> ClipPlacement {
        ClipPlacement(
            source: source, track: source, sourceRange: range(from, from + end - start),
            timeRange: range(start, end))
    }

    /// Returns a composition of eight seconds: two clips and a gap, looping music, a layer, a text, and subtitles.
    private static func composition() -> Composition {
        var composition = Composition()
        composition.sources = ["/a", "/b", "/music", "/logo", "/cues"].map { .file($0) }
        let canvas = Canvas(size: PixelSize(width: 64, height: 48), frameRate: Rational(25, 1))
        composition.canvas = canvas
        composition.audioFormat = CompositionAudioFormat(sampleRate: 48_000, layout: .stereo)
        composition.duration = time(200)
        composition.clips = [placement(0, 10, at: 0, 100), placement(1, 0, at: 100, 175)].map {
            VideoClip(placement: $0, settings: VideoOutputSettings())
        }
        var music = placement(2, 5, at: 12, 200)
        music.sourceRange = range(5, 36)
        let fade = VolumeEnvelope([
            .init(time: time(20), thousandths: 0), .init(time: time(120), thousandths: 907),
        ])
        composition.audio = [
            AudioClip(placement: placement(0, 10, at: 0, 100), volume: fade),
            AudioClip(placement: placement(1, 0, at: 100, 175)),
            AudioClip(
                placement: music, volume: fade, isRepeated: true, ducking: Ducking(under: 1, thousandths: 250)
            ),
        ]
        let box = PixelRectangle(x: 0, y: 0, width: 16, height: 16)
        composition.layers = [
            Layer(
                content: .frames(
                    placement(3, 0, at: 50, 125), in: box,
                    settings: VideoOutputSettings(size: PixelSize(width: 16, height: 16))),
                timeRange: range(50, 125), opacity: fade),
            Layer(
                content: .text(
                    TextLayer(
                        text: "Text", fontFile: "/f.ttf", size: 12, color: "white", position: TextPosition())),
                timeRange: range(25, 150)),
        ]
        composition.subtitles = [
            SubtitleTrack(
                language: "eng", clips: [placement(4, 3, at: 0, 60), placement(4, 90, at: 80, 200)])
        ]
        composition.chapters = [
            AssetChapter(timeRange: range(0, 100), title: "One"),
            AssetChapter(timeRange: range(100, 200), title: "Two"),
        ]
        return composition
    }

    /// Describes the middle of a frame: each source with its time in hundredths of a frame, and its volume.
    private static func state(_ composition: Composition, at tick: Int) -> [String] {
        let now = (Double(tick) + 0.5) / rate
        func description(_ kind: String, _ placement: ClipPlacement, round: Double? = nil) -> String? {
            let (range, part) = (placement.timeRange, placement.sourceRange)
            guard range.start.seconds <= now, now < range.end.seconds else { return nil }
            var inside = now - range.start.seconds
            if let round {
                inside = inside.truncatingRemainder(dividingBy: round)
            } else {
                inside *= part.duration.seconds / range.duration.seconds
            }
            return
                "\(kind) \(placement.source).\(placement.track) \(Int(((part.start.seconds + inside) * rate * 100).rounded()))"
        }
        func level(_ envelope: VolumeEnvelope) -> Int {
            let points = envelope.points.map { ($0.time.seconds, Double($0.thousandths)) }
            guard let first = points.first, let last = points.last else { return 1000 }
            if now <= first.0 { return Int(first.1) }
            guard let next = points.firstIndex(where: { $0.0 > now }) else { return Int(last.1) }
            let (a, b) = (points[next - 1], points[next])
            return Int((a.1 + (b.1 - a.1) * (now - a.0) / (b.0 - a.0)).rounded())
        }
        var found = composition.clips.compactMap { description("clip", $0.placement) }
        for clip in composition.audio {
            let round = clip.isRepeated ? clip.placement.sourceRange.duration.seconds : nil
            guard let text = description("audio", clip.placement, round: round) else { continue }
            // The volume is reduced only while the clip plays under which it is ducked.
            let duck = clip.ducking.map { " under \(composition.audio[$0.under].placement.source)" } ?? ""
            let isAudible = clip.ducking.map {
                let key = composition.audio[$0.under].placement.timeRange
                return key.start.seconds <= now && now < key.end.seconds
            }
            found.append("\(text) at \(level(clip.volume))\(isAudible == true ? duck : "")")
        }
        for layer in composition.layers
        where layer.timeRange.start.seconds <= now && now < layer.timeRange.end.seconds {
            if case .frames(let placement, _, _) = layer.content {
                found.append((description("layer", placement) ?? "nothing") + " at \(level(layer.opacity))")
            } else {
                found.append("text")
            }
        }
        found += composition.subtitles.flatMap(\.clips).compactMap { description("cues", $0) }
        return found.sorted()
    }

    private static func row(_ composition: Composition) -> [[String]] {
        (0..<Int(composition.frameCount)).map { state(composition, at: $0) }
    }

    /// Describes the first difference between two arrays of frames; nil if they are equal.
    private static func difference(_ found: [[String]], _ wanted: [[String]]) -> String? {
        guard found.count == wanted.count else { return "\(found.count) frames, not \(wanted.count)" }
        guard let tick = found.indices.first(where: { found[$0] != wanted[$0] }) else { return nil }
        return "frame \(tick): \(found[tick]), not \(wanted[tick])"
    }

    @Test(arguments: [UInt64](1...60)) func randomEditsMatchTheModel(_ seed: UInt64) async throws {
        var random = WalkGenerator(state: seed &* 7919)
        var composition = Self.composition()
        let pattern = Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                    duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)),
            environment: MediaEnvironment())
        var model = Self.row(composition)
        #expect(model.count == 200)
        for _ in 0..<6 {
            let count = model.count
            let start = Int.random(in: 0..<count, using: &random)
            let length = Int.random(in: 1...max(1, count / 4), using: &random)
            let end = min(count, start + length)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                try composition.insert(
                    pattern, timeRange: Self.range(5, 15), at: Self.time(start))
                let source = composition.sources.count - 1
                let inserted = (0..<10).map { tick in
                    ["audio \(source).1 \(tick * 100 + 550) at 1000", "clip \(source).0 \(tick * 100 + 550)"]
                }
                model.insert(contentsOf: inserted, at: start)
            case 1:
                try composition.insertGap(Self.range(start, end))
                model.insert(contentsOf: Array(repeating: [], count: end - start), at: start)
            default:
                guard end - start < count else { continue }
                try composition.remove(Self.range(start, end))
                model.removeSubrange(start..<end)
            }
            #expect(composition.isValid)
            #expect(composition.frameCount == Int64(model.count))
            #expect(Self.difference(Self.row(composition), model) == nil, "\(seed)")
            let chapters = composition.chapters.map(\.timeRange)
            #expect(zip(chapters, chapters.dropFirst()).allSatisfy { $0.end <= $1.start })
            #expect(chapters.allSatisfy { $0.end <= composition.duration })
            for track in composition.tracks {
                #expect(
                    zip(track.segments, track.segments.dropFirst()).allSatisfy {
                        $0.timeRange.end == $1.timeRange.start
                    })
                #expect(track.end <= composition.duration)
            }
        }
    }

    /// Scaling a range to half its duration and back restores the original; frames before and after it don't change.
    @Test func scaledRangesKeepTheirSurroundings() throws {
        var composition = Self.composition()
        composition.audio.remove(at: 2)
        let before = composition
        try composition.scale(Self.range(50, 150), to: Self.time(50))
        #expect(composition.isValid && composition.duration == Self.time(150))
        let (old, new) = (Self.row(before), Self.row(composition))
        #expect(Self.difference(Array(new.prefix(50)), Array(old.prefix(50))) == nil)
        #expect(Self.difference(Array(new.suffix(50)), Array(old.suffix(50))) == nil)
        #expect(
            composition.clips.map(\.placement.timeRange) == [
                Self.range(0, 50), Self.range(50, 75), Self.range(75, 100), Self.range(100, 125),
            ])
        #expect(composition.clips[1].placement.sourceRange == Self.range(60, 110))
        // Double and then half the speed restore the original.
        try composition.scale(Self.range(50, 100), to: Self.time(100))
        #expect(Self.difference(Self.row(composition), old) == nil)
        #expect(composition.chapters == before.chapters)
    }

    @Test func rejectedEditsChangeNothing() async throws {
        var composition = Self.composition()
        let movie = Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: 64, height: 48, frameRate: Rational(25, 1),
                    duration: MediaTime(value: 4, timescale: 1), toneFrequency: 440)),
            environment: MediaEnvironment())
        let before = composition
        #expect(throws: MediaError.self) { try composition.remove(Self.range(0, 200)) }
        #expect(throws: MediaError.self) { try composition.remove(Self.range(150, 201)) }
        #expect(throws: MediaError.self) { try composition.remove(Self.range(10, 10)) }
        #expect(throws: MediaError.self) { try composition.remove(Self.range(-5, 10)) }
        #expect(throws: MediaError.self) { try composition.insertGap(Self.range(210, 220)) }
        #expect(throws: MediaError.self) { try composition.insertGap(Self.range(10, 10)) }
        #expect(throws: MediaError.self) { try composition.scale(Self.range(0, 20), to: .zero) }
        #expect(throws: MediaError.self) { try composition.scale(Self.range(10, 30), to: Self.time(10)) }
        #expect(throws: MediaError.self) { try composition.scale(Self.range(0, 10), to: Self.time(2000)) }
        #expect(throws: MediaError.self) { try composition.insert(movie, at: Self.time(201)) }
        #expect(throws: MediaError.self) {
            try composition.insert(movie, timeRange: Self.range(90, 110), at: Self.time(20))
        }
        #expect(composition == before)
        // A transition can't be split.
        var joined = Composition()
        try joined.append(movie)
        try joined.append(movie, join: .wipeLeft, overlap: MediaTime(seconds: 1))
        let whole = joined
        #expect(throws: MediaError.self) { try joined.remove(Self.range(80, 110)) }
        #expect(throws: MediaError.self) { try joined.insert(movie, at: Self.time(90)) }
        #expect(joined == whole)
        try joined.remove(Self.range(20, 40))
        #expect(joined.isValid && joined.duration == Self.time(155))
        #expect(joined.clips.count == 3)
        // Overlapping clips are on two tracks.
        let tracks = joined.tracks
        #expect(tracks.map(\.mediaType) == [.video, .video, .audio, .audio])
        #expect(tracks[0].segments.count == 2 && tracks[1].segments.map(\.isEmpty) == [true, false])
    }

    /// An edited composition is read; its clips are recognized by color and tone.
    @Test func editedCompositionsAreRead() async throws {
        let scratch = try Scratch()
        for (name, color, tone) in [("a", "0x000000", 400), ("b", "0xffffff", 1600)] {
            try ffmpeg(
                "-f", "lavfi", "-i", "color=\(color):s=64x48:r=25:d=2", "-f", "lavfi", "-i",
                "sine=f=\(tone):r=48000:d=2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le",
                scratch.file("\(name).mkv"))
        }
        let (a, b) = (
            Asset(url: URL(fileURLWithPath: scratch.file("a.mkv"))),
            Asset(url: URL(fileURLWithPath: scratch.file("b.mkv")))
        )
        var composition = Composition()
        try composition.append(a)
        try composition.insert(b, timeRange: Self.range(0, 25), at: Self.time(25))
        try composition.remove(Self.range(5, 15))
        // 15 frames of a, 25 of b, and 25 of a; b is slowed down to half its speed.
        try composition.scale(Self.range(15, 40), to: Self.time(50))
        try composition.insertGap(Self.range(0, 10))
        let asset = Asset(.composition(composition), environment: MediaEnvironment())
        let tracks = try await asset.load(.tracks)
        let reader = try AssetReader(asset: asset)
        let video = AssetReaderTrackOutput(track: tracks[0], settings: .video(VideoOutputSettings()))
        try reader.add(video)
        try reader.startReading()
        var bright: [Bool] = []
        while let sample = try video.copyNextSampleBuffer() {
            try sample.pixelBuffer().withPlane(0) { bytes, _ in bright.append(bytes[100] > 128) }
        }
        let wanted =
            Array(repeating: false, count: 25) + Array(repeating: true, count: 50)
            + Array(repeating: false, count: 25)
        #expect(bright == wanted)
        let url = URL(fileURLWithPath: scratch.file("o.mp4"))
        try await ExportSession(asset: asset, preset: .highest).export(to: url)
        let samples = try FFmpegFile(url.path).audio(rate: 48_000)
        func crossings(_ range: Range<Double>) -> Double {
            let part = samples[Int(range.lowerBound * 48_000)..<Int(range.upperBound * 48_000)]
            let count = zip(part, part.dropFirst()).count { ($0 < 0) != ($1 < 0) }
            return Double(count) / 2 / (range.upperBound - range.lowerBound)
        }
        #expect(samples[0..<18_000].allSatisfy { abs($0) < 0.01 })
        #expect(abs(crossings(0.45..<0.95) - 400) < 10)
        // At half the speed, the pitch is unchanged.
        #expect(abs(crossings(1.1..<2.9) - 1600) < 40)
        #expect(abs(crossings(3.05..<3.9) - 400) < 10)
    }
}
