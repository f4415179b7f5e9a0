import LibAV
@testable import Media
import TestSupport
import Testing

/// Audio timestamps that a container rounds are corrected: they are exact to the sample in contiguous packets, preserve
/// gaps, and follow a clock that drifts.
@Suite struct AudioTimestampCorrectorTests {
    private static let rate: Int64 = 44_100
    private static let frame: Int64 = 1024

    private func track() throws -> AssetTrack {
        let scratch = try Scratch()
        let path = scratch.file("a.mkv")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5:r=44100", "-c:a", "aac", path)
        return try #require(try Asset(.file(path)).loadSynchronously().tracks.first)
    }

    /// Returns the corrected times of packets whose exact times, in samples, are rounded to milliseconds.
    private func counted(
        _ times: [Int64], losing lost: Set<Int> = [], drift: (Int) -> Int64 = { _ in 0 }
    ) throws -> [Int64] {
        let track = try track()
        #expect(track.timeBase == Rational(1, 1000))
        var corrector = try #require(AudioTimestampCorrector(track))
        #expect(corrector.unit == Rational(1, Int32(Self.rate)))
        var out: [Int64] = []
        for (index, time) in times.enumerated() {
            let packet = try Packet.of([0x21, 0x10, 0x04])
            let rounded = Rational(1, Int32(Self.rate)).rescale(time, to: track.timeBase) + drift(index)
            (packet.pts, packet.dts) = (rounded, rounded)
            if lost.contains(index) {
                corrector.noteLoss()
                continue
            }
            corrector.count(packet)
            #expect(packet.duration == Self.frame)
            out.append(packet.pts)
        }
        return out
    }

    /// Contiguous packets are exact to the sample; the time of the first one has the precision of the container's time
    /// base.
    @Test func contiguousPacketsAreExactToTheSample() throws {
        let times = (0..<2000).map { Int64($0) * Self.frame }
        let out = try counted(times)
        #expect(zip(out, out.dropFirst()).allSatisfy { $1 - $0 == Self.frame })
        #expect(zip(out, times).allSatisfy { abs($0 - $1) <= 45 }, "a millisecond at most")
    }

    @Test func pauseIsPreserved() throws {
        let pause = 10 * Self.rate
        let times = (0..<200).map { Int64($0) * Self.frame + ($0 >= 100 ? pause : 0) }
        let out = try counted(times)
        let steps = zip(out, out.dropFirst()).map { $1 - $0 }
        #expect(steps.filter { $0 == Self.frame }.count == 198)
        let longest = try #require(steps.max())
        #expect(abs(longest - pause - Self.frame) <= 45)
    }

    @Test func lostPacketLeavesItsGap() throws {
        let times = (0..<100).map { Int64($0) * Self.frame }
        let out = try counted(times, losing: [50])
        #expect(out.count == 99)
        #expect(abs(out[50] - out[49] - 2 * Self.frame) <= 45, "the packets after the gap keep their times")
    }

    /// Individual deviating timestamps are corrected; a permanent offset of the clock is followed.
    @Test func permanentClockOffsetIsFollowed() throws {
        let times = (0..<300).map { Int64($0) * Self.frame }
        let wobble = try counted(times) { $0 % 40 == 7 ? 9 : 0 }
        #expect(
            zip(wobble, wobble.dropFirst()).allSatisfy { $1 - $0 == Self.frame },
            "single deviations of nine milliseconds are corrected")
        let moved = try counted(times) { $0 >= 100 ? 9 : 0 }
        let last = try #require(moved.last)
        #expect(abs(last - times[299] - 9 * Self.rate / 1000) <= 90, "\(last - times[299])")
        let steps = Set(zip(moved, moved.dropFirst()).map { $1 - $0 })
        #expect(steps.count == 2, "one step to the new offset: \(steps)")
    }

    /// A track whose time base is one sample needs no corrector.
    @Test func timeBaseOfOneSampleNeedsNoCorrector() throws {
        let scratch = try Scratch()
        let path = scratch.file("a.m4a")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5:r=44100", "-c:a", "aac", path)
        let track = try #require(try Asset(.file(path)).loadSynchronously().tracks.first)
        #expect(AudioTimestampCorrector(track) == nil)
    }
}
