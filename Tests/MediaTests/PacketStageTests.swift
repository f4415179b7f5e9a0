import Foundation
import LibAV
@testable import Media
import TestSupport
import Testing

/// Each stage of a packet chain receives all packets in order, including at failures, at the end and after a seek.
@Suite struct PacketStageTests {
    /// Creates a packet with the given times and a single byte.
    private func packet(_ time: Int64, isKey: Bool = false, duration: Int64 = 0) throws -> Packet {
        let packet = try Packet.of([0])
        (packet.pts, packet.dts, packet.duration) = (time, time, duration)
        if isKey { packet.markKey() }
        return packet
    }

    private struct Broken: Error {}

    /// A stage that outputs each packet when the next one arrives, and the last one at the end.
    private final class Delay: PacketStage {
        private var held: Packet?
        private(set) var lost = 0

        func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
            if let held = held.take() { try next(held) }
            held = consume packet
        }

        func finish(into next: (consuming Packet) throws -> Void) throws {
            if let held = held.take() { try next(held) }
        }

        func interrupt(into next: (consuming Packet) throws -> Void) throws { try finish(into: next) }
        func noteLoss() { lost += 1 }
        func reset() { held = nil }
    }

    /// Returns the times of the packets from a chain, and whether it failed.
    private func drain(
        _ chain: PacketChain, _ times: [Int64], failing: Bool = false
    ) throws -> (out: [Int64], isBroken: Bool) {
        var remaining = times[...]
        var out: [Int64] = []
        do {
            while let packet = try chain.next(from: {
                guard let time = remaining.popFirst() else {
                    if failing { throw Broken() } else { return nil }
                }
                return try packet(time)
            }) { out.append(packet.pts) }
        } catch is Broken {
            return (out, true)
        }
        return (out, false)
    }

    @Test(arguments: 0..<4) func packetsKeepTheirOrder(stages: Int) throws {
        let chain = PacketChain((0..<stages).map { _ in Delay() })
        #expect(try drain(chain, [1, 2, 3, 4, 5]) == ([1, 2, 3, 4, 5], false))
        // After the end, the chain outputs nothing.
        #expect(try stages == 0 || drain(chain, [6]) == ([], false))
        chain.reset()
        #expect(try drain(chain, [7, 8]) == ([7, 8], false))
    }

    @Test(arguments: 1..<4) func packetsBeforeAFailureAreDelivered(stages: Int) throws {
        let delays = (0..<stages).map { _ in Delay() }
        let chain = PacketChain(delays)
        #expect(try drain(chain, [1, 2, 3], failing: true) == ([1, 2, 3], true))
        #expect(throws: Broken.self) { _ = try chain.next { try packet(9) } }
        chain.reset()
        #expect(try drain(chain, [4]) == ([4], false))
        chain.noteLoss()
        #expect(delays.allSatisfy { $0.lost == 1 })
    }

    @Test func theFirstPacketAfterASeekIsAKeyframe() throws {
        let gate = KeyFrameGate()
        let chain = PacketChain([gate])
        let keys: Set<Int64> = [3, 6]
        func times(_ range: ClosedRange<Int64>) throws -> [Int64] {
            var remaining = Array(range)[...]
            var out: [Int64] = []
            while let packet = try chain.next(from: {
                try remaining.popFirst().map { try packet($0, isKey: keys.contains($0)) }
            }) { out.append(packet.pts) }
            return out
        }
        gate.close()
        #expect(try times(1...6) == [3, 4, 5, 6])
        #expect(!gate.isClosed)
        chain.reset()
        #expect(try times(1...2) == [1, 2], "the gate is open without a seek")
    }

    /// Creates a file and returns its first track and its path. Stages read length and codec from the track.
    private func track(_ arguments: [String], _ name: String, in scratch: Scratch) throws -> (
        AssetTrack, String
    ) {
        let path = scratch.file(name)
        try ffmpeg(arguments + [path])
        let contents = try Asset(.file(path)).loadSynchronously()
        return (try #require(contents.tracks.first), path)
    }

    @Test func aPacketLastsUntilTheNextAndTheLastAsLongAsTheTrack() throws {
        let scratch = try Scratch()
        let (track, _) = try track(
            [
                "-f", "lavfi", "-i", "testsrc2=d=1:r=10:s=64x48", "-c:v", "mpeg4", "-video_track_timescale",
                "10",
            ],
            "a.mp4", in: scratch)
        func durations(_ times: [Int64], isBroken: Bool = false) throws -> [Int64] {
            let chain = PacketChain([PacketDurations(track)])
            var remaining = times[...]
            var out: [Int64] = []
            do {
                while let packet = try chain.next(from: {
                    guard let time = remaining.popFirst() else {
                        if isBroken { throw Broken() } else { return nil }
                    }
                    return try packet(time, duration: 77)
                }) { out.append(packet.duration) }
            } catch is Broken {}
            return out
        }
        let step = try #require(Int64(exactly: track.timeBase.den)) / 10
        let times = [0, 1, 2, 6, 7].map { $0 * step }
        #expect(try durations(times) == [1, 1, 4, 1, 1].map { $0 * step })
        // The last packet ends with its track, which has a duration of one second.
        #expect(try durations([0, 9 * step]) == [9 * step, step])
        #expect(
            try durations(Array(times.prefix(2)), isBroken: true) == [step, 77], "the next packet is unknown")
        // Decreasing times determine no duration.
        #expect(try durations([5 * step, 3 * step, 4 * step]).first == 0)
    }

    /// AVI stores only decoding times; presentation times are generated.
    @Test(arguments: ["mpeg4", "mpeg2video"]) func presentationTimesOfAVIAreGenerated(_ codec: String) throws
    {
        let scratch = try Scratch()
        let (track, path) = try track(
            ["-f", "lavfi", "-i", "testsrc2=d=2:r=25:s=64x48", "-c:v", codec, "-bf", "2"], "a.avi",
            in: scratch)
        let demuxer = try Demuxer.open(path: path)
        let chain = PacketChain([try #require(PTSGenerator(track))])
        var times: [Int64] = []
        var decoding: [Int64] = []
        while let packet = try chain.next(from: {
            let packet = try Packet()
            guard try demuxer.read(into: packet) else { return nil }
            return packet
        }) {
            times.append(packet.pts)
            decoding.append(packet.dts)
        }
        #expect(times.count == 50)
        #expect(Set(times).count == 50 && !times.contains(noTimestamp), "\(times)")
        #expect(times != times.sorted(), "they are reordered")
        #expect(zip(times, decoding).allSatisfy { $0 >= $1 }, "none is shown before it is decoded")
        let sorted = times.sorted()
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $1 - $0 == 1 }, "\(sorted)")
    }

    /// The two fields of a frame in a transport stream become one packet with the frame's duration.
    @Test func fieldsAreJoinedToFrames() throws {
        let scratch = try Scratch()
        let (raw, path) = (scratch.file("s.h264"), scratch.file("s.ts"))
        let count = 12
        try FieldStream(count: count).elementary().write(to: .init(filePath: raw))
        try ffmpeg(
            "-r", "50", "-i", raw, "-c", "copy", "-bsf:v",
            "setts=time_base=1/90000:pts=N*1800+90000:dts=N*1800+90000:duration=1800",
            path)
        let contents = try Asset(.file(path)).loadSynchronously()
        let track = try #require(contents.tracks.first)
        func read(dropping dropped: Set<Int> = []) throws -> (packets: Int, lengths: Set<Int64>) {
            let demuxer = try Demuxer.open(path: path)
            let chain = PacketChain([try #require(FieldJoiner(track))])
            var (number, packets, lengths) = (0, 0, Set<Int64>())
            while let packet = try chain.next(from: {
                while true {
                    let packet = try Packet()
                    guard try demuxer.read(into: packet) else { return nil }
                    number += 1
                    if !dropped.contains(number - 1) { return packet }
                }
            }) {
                packets += 1
                lengths.insert(packet.duration)
            }
            #expect(number == 2 * (count - 2), "one packet per field is read")
            return (packets, lengths)
        }
        #expect(try read() == (count - 2, [3600]))
        // A second field whose first one is lost remains separate; it isn't joined with a field of the next frame.
        #expect(try read(dropping: [4]).packets == count - 2)
    }

    /// Segments are joined up to the end of their display set; the rest is passed on at the end, and dropped by a seek.
    @Test func segmentsOfADisplaySet_areJoined() throws {
        let joiner = DisplaySetJoiner()
        var sets: [[UInt8]] = []
        func push(_ bytes: [UInt8]) throws {
            try joiner.push(try Packet.of(bytes)) { set in sets.append(set.withBytes { Array($0) }) }
        }
        let (start, end): ([UInt8], [UInt8]) = ([0x16, 0, 2, 7, 7], [0x80, 0, 0])
        for segment in [start, [0x17, 0, 1, 5], end, start + end, start] { try push(segment) }
        #expect(sets == [start + [0x17, 0, 1, 5] + end, start + end])
        joiner.reset()
        try push(end)
        try push(start)
        try joiner.finish { set in sets.append(set.withBytes { Array($0) }) }
        #expect(sets.dropFirst(2) == [end, start])
    }
}
