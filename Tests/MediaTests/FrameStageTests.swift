@testable import LibAV
@testable import Media
import TestSupport
import Testing

/// Frame stages return exact times, durations and ends in a range, and read no unnecessary frames.
@Suite struct FrameStageTests {
    /// A stream of frames at given times. With `breaks`, every other call is pending, as with a decoder that waits for
    /// other readers.
    private final class Source: FrameStream {
        struct Item {
            var pts: Int64
            var duration: Int64 = 0
            var samples: Int32 = 0
            var rate: Int32 = 48_000
        }
        let timeBase: Rational
        private var items: ArraySlice<Item>
        private(set) var requests = 0
        var breaks = false
        private var isBreak = false

        init(_ items: [Item], timeBase: Rational) {
            self.items = items[...]
            self.timeBase = timeBase
        }

        func next(into frame: borrowing Frame) throws -> FrameSupply {
            if breaks {
                isBreak.toggle()
                if isBreak { return .pending }
            }
            requests += 1
            guard let item = items.popFirst() else { return .ended }
            let produced: Frame
            if item.samples > 0 {
                produced = try Frame.silence(
                    AudioFormat(sampleFormat: .planarFloat, sampleRate: item.rate, layout: .stereo),
                    samples: item.samples)
            } else {
                produced = try Frame.black(
                    FrameFormat(
                        width: 64, height: 48, format: .yuv420p, sampleAspectRatio: Rational(1, 1),
                        color: ColorDescription()))
            }
            (produced.pts, produced.duration) = (item.pts, item.duration)
            frame.take(produced)
            return .frame
        }
    }

    private struct Sample: Equatable, CustomStringConvertible {
        var time: MediaTime
        var length: MediaTime
        var description: String { "\(time)+\(length)" }

        init(_ time: Int64, _ length: Int64, of scale: Int32) {
            self.time = MediaTime(value: time, timescale: scale)
            self.length = MediaTime(value: length, timescale: scale)
        }
        init(_ sample: borrowing SampleBuffer) {
            time = MediaTime(ticks: sample.pts, timeBase: sample.timeBase)
            length = MediaTime(ticks: sample.duration, timeBase: sample.timeBase)
        }
    }

    /// Returns a track of one second: video at 25 frames/s, or audio at 48 kHz.
    private func track(_ type: MediaType) throws -> AssetTrack {
        let pattern = TestPattern(
            name: "testsrc2", width: 64, height: 48, frameRate: Rational(25, 1),
            duration: MediaTime(value: 1, timescale: 1), toneFrequency: 440)
        let tracks = try Asset(.pattern(pattern)).loadSynchronously().tracks
        return try #require(tracks.first { $0.mediaType == type })
    }

    private func range(_ start: Int64, _ end: Int64, of scale: Int32) -> TimeRange {
        TimeRange(
            start: MediaTime(value: start, timescale: scale), end: MediaTime(value: end, timescale: scale))
    }

    private func drain(_ chain: FrameChain, pending: Int = 0) throws -> [Sample] {
        var samples: [Sample] = []
        var remaining = pending
        while true {
            switch try chain.next() {
            case .sample(let sample): samples.append(Sample(sample))
            case .ended:
                guard case .ended = try chain.next() else {
                    throw ProgramError(message: "a sample follows the end")
                }
                return samples
            case .pending:
                remaining -= 1
                if remaining < 0 { throw ProgramError(message: "the chain stays pending") }
            }
        }
    }

    private func video(_ times: [Int64], _ range: TimeRange?, settings: VideoOutputSettings = .init()) throws
        -> (samples: [Sample], requests: Int)
    {
        let source = Source(times.map { .init(pts: $0, duration: 1) }, timeBase: Rational(1, 25))
        let context = ProducerContext(track: try track(.video), timeZero: .zero, range: range)
        let chain = FrameChain.video(source, context: context, settings: settings)
        return (try drain(chain), source.requests)
    }

    @Test func framesOfARangeMatchTheSource() throws {
        // The frame shown at the start is first, shortened; the last one is shortened at the end; no frame after it is
        // read.
        let cut = try video(Array(0..<20), range(5, 11, of: 50))
        #expect(
            cut.samples == [
                Sample(5, 1, of: 50), Sample(6, 2, of: 50), Sample(8, 2, of: 50), Sample(10, 1, of: 50),
            ])
        #expect(cut.requests == 7)
        // A frame that started long before is shown throughout the range.
        #expect(try video([0, 20], range(8, 12, of: 25)).samples == [Sample(8, 4, of: 25)])
        // Of two frames at the same time, the later one is shown; frames before time zero are dropped.
        let odd = try video([-2, -1, 0, 1, 1, 2], nil)
        #expect(odd.samples.map(\.time) == (0..<3).map { MediaTime(value: $0, timescale: 25) })
        #expect(try video([], nil).samples.isEmpty)
    }

    @Test func framesAtAConstantRateAreProducedOnDemand() throws {
        var settings = VideoOutputSettings()
        settings.frameRate = Rational(50, 1)
        let doubled = try video([0, 1, 2], range(0, 3, of: 25), settings: settings).samples
        #expect(doubled == (0..<6).map { Sample($0, 1, of: 50) })
        // A minute between two frames becomes 3,000 frames, each created on request.
        let source = Source([.init(pts: 0), .init(pts: 60 * 25)], timeBase: Rational(1, 25))
        let context = ProducerContext(
            track: try track(.video), timeZero: .zero, range: range(0, 120 * 25, of: 25))
        let chain = FrameChain.video(source, context: context, settings: settings)
        for index in 0..<100 {
            guard case .sample(let sample) = try chain.next() else {
                Issue.record("there is no frame \(index)")
                return
            }
            #expect(Sample(sample) == Sample(Int64(index), 1, of: 50))
        }
    }

    @Test func pendingChainContinuesWhereItStopped() throws {
        let source = Source((0..<6).map { .init(pts: $0, duration: 1) }, timeBase: Rational(1, 25))
        source.breaks = true
        let context = ProducerContext(
            track: try track(.video), timeZero: .zero, range: range(1, 4, of: 25))
        var settings = VideoOutputSettings()
        settings.size = PixelSize(width: 32, height: 24)
        let chain = FrameChain.video(source, context: context, settings: settings)
        let samples = try drain(chain, pending: 20)
        #expect(samples == (1..<4).map { Sample($0, 1, of: 25) })
    }

    private func audio(
        _ items: [Source.Item], _ range: TimeRange? = nil, timeBase: Rational = Rational(1, 48_000),
        settings: AudioOutputSettings = .init()
    ) throws -> (first: MediaTime?, samples: Int64) {
        let context = ProducerContext(track: try track(.audio), timeZero: .zero, range: range)
        let chain = FrameChain.audio(
            Source(items, timeBase: timeBase), context: context, settings: settings)
        var (first, next, count): (MediaTime?, MediaTime?, Int64) = (nil, nil, 0)
        let rate = settings.sampleRate ?? 48_000
        for sample in try drain(chain) {
            first = first ?? sample.time
            if let next { #expect(sample.time == next, "samples follow one another") }
            next = sample.time + sample.length
            count += sample.length.ticks(in: Rational(1, rate))
        }
        return (first, count)
    }

    @Test func audioKeepsItsPositionToTheSample() throws {
        let whole = [Source.Item(pts: 0, samples: 1024), .init(pts: 1024, samples: 1024)]
        #expect(try audio(whole) == (.zero, 2048))
        // A gap is filled with silence, and an overlap is cut.
        let gap = try audio([.init(pts: 0, samples: 1024), .init(pts: 9600, samples: 1024)])
        #expect(gap == (.zero, 9600 + 1024))
        let overlap = try audio([.init(pts: 0, samples: 4800), .init(pts: 2400, samples: 4800)])
        #expect(overlap == (.zero, 7200))
        // Rounded times aren't treated as gaps or overlaps.
        let rounded = (0..<40).map { Source.Item(pts: Int64($0) * 21, samples: 1024) }
        #expect(try audio(rounded, timeBase: Rational(1, 1000)) == (.zero, 40 * 1024))
        // A range is cut within audio frames, and audio that starts after the range keeps its start.
        let cut = try audio(whole, range(100, 1500, of: 48_000))
        #expect(cut == (MediaTime(value: 100, timescale: 48_000), 1400))
        let late = try audio([.init(pts: 4800, samples: 1024)])
        #expect(late == (MediaTime(value: 4800, timescale: 48_000), 1024))
    }

    @Test func sampleCountIsPreserved() throws {
        var settings = AudioOutputSettings()
        settings.sampleRate = 44_100
        let items = (0..<20).map { Source.Item(pts: Int64($0) * 1000, samples: 1000) }
        #expect(try audio(items, settings: settings).samples == 18_375)
        // The source's sample rate changes in the middle.
        let changed =
            items.prefix(10) + (0..<10).map { .init(pts: 10_000 + $0 * 2000, samples: 1000, rate: 24_000) }
        #expect(try audio(Array(changed), settings: settings).samples == 27_563)
        // An echo after the end is cut; if filters return fewer samples, silence fills the rest.
        settings.filters = FilterChain([
            FilterStep("aecho", ["in_gain": "0.6", "out_gain": "0.3", "delays": "200", "decays": "0.5"])
        ])
        #expect(try audio(items, settings: settings).samples == 18_375)
        // An echo of filters that return nothing before the end is cut too.
        let echo = FilterStep(
            "aecho", ["in_gain": "0.8", "out_gain": "0.9", "delays": "1000", "decays": "0.3"])
        settings.filters = FilterChain([FilterStep("areverse"), echo])
        #expect(try audio(items, settings: settings).samples == 18_375)
        settings.filters = FilterChain([FilterStep("atrim", ["end_sample": "5000"])])
        #expect(try audio(items, settings: settings).samples == 18_375)
    }
}
