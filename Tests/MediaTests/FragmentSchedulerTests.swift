import LibAV
@testable import Media
import Testing

/// Fragments start at keyframes of the video track, and every packet ends at the next one.
@Suite struct FragmentSchedulerTests {
    private func packet(_ time: Int64, isKey: Bool = false, duration: Int64 = 0) throws -> Packet {
        let packet = try Packet.of([0])
        (packet.pts, packet.dts, packet.duration) = (time, time, duration)
        if isKey { packet.markKey() }
        return packet
    }

    private func scheduler(_ kinds: [MediaType] = [.audio, .video]) -> FragmentScheduler {
        FragmentScheduler(
            tracks: kinds.map { ($0, Rational(1, 100)) }, interval: MediaTime(value: 1, timescale: 1))
    }

    @Test func aPacketLastsUntilTheNext() throws {
        let scheduler = scheduler()
        var lengths: [Int64] = []
        for time: Int64 in [0, 4, 8, 30, 34] {
            if let ready = scheduler.take(try packet(time, duration: 4), track: 1) {
                lengths.append(ready.duration)
            }
        }
        while let last = scheduler.next() { lengths.append(last.duration) }
        #expect(lengths == [4, 4, 22, 4, 4], "also across a gap; the last one keeps its duration")
        #expect(scheduler.end(of: 1) == 38)
        #expect(scheduler.end(of: 0) == nil)
    }

    @Test func fragmentsBeginAtVideoKeyframes() throws {
        let scheduler = scheduler()
        var begins: [Int64] = []
        for time in stride(from: Int64(0), to: 500, by: 4) {
            _ = scheduler.begins(with: try packet(time), track: 0) { _ in false }
            let video = try packet(time, isKey: time % 60 == 0)
            if scheduler.begins(with: video, track: 1, isFinished: { _ in false }) { begins.append(time) }
        }
        #expect(begins == [120, 240, 360, 480], "the first key frame after each second")
    }

    @Test func fragmentsBeginWithoutKeyframesAfterTwoIntervals() throws {
        let scheduler = scheduler([.video])
        let begins = try (0..<100).filter { index in
            scheduler.begins(with: try packet(Int64(index) * 10, isKey: index == 0), track: 0) { _ in false }
        }
        #expect(begins == [20, 40, 60, 80])
    }

    @Test func noFragmentEndsBeforeAllTracksHaveBegun() throws {
        let scheduler = scheduler()
        for time: Int64 in [0, 100, 200] {
            #expect(!scheduler.begins(with: try packet(time, isKey: true), track: 1) { _ in false })
        }
        #expect(
            scheduler.begins(with: try packet(300, isKey: true), track: 1) { $0 == 0 },
            "a finished track isn't waited for")
    }

    @Test func subtitlePacketsAreNotDelayed() throws {
        let scheduler = scheduler([.video, .subtitle])
        guard let cue = scheduler.take(try packet(7, duration: 90), track: 1) else {
            Issue.record("the packet was delayed")
            return
        }
        #expect(cue.duration == 90)
    }
}
