import CFFmpeg
import TestSupport
import Testing

@testable import LibAV

/// Log lines are attributed to the libav context that logged them.
@Suite struct LogBridgeTests {
    private func logError(_ text: String, of context: UnsafeMutableRawPointer?) {
        withVaList([]) { av_vlog(context, AV_LOG_ERROR, text + "\n", $0) }
    }

    /// Log lines of freed contexts are discarded. libavformat opens decoders internally, whose lines are never
    /// collected; a FLAC decoder allocated at the address of a freed one would report damage because of them.
    @Test func linesOfFreedContextsAreDiscarded() throws {
        let scratch = try Scratch()
        let path = scratch.file("s.flac")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5", path)
        LogBridge.install()
        for _ in 0..<50 {
            let others = (0..<16).map { _ in avcodec_alloc_context3(nil) }
            for var other in others {
                logError("missing frame", of: other)
                avcodec_free_context(&other)
            }
            let demuxer = try Demuxer.open(path: path)
            let stream = try demuxer.stream(0)
            let decoder = try PacketDecoder.open(
                stream.parameters, timeBase: stream.timeBase, limits: InputLimits())
            let packet = try Packet()
            let frame = try Frame()
            #expect(try demuxer.read(into: packet))
            #expect(try decoder.send(packet))
            while case .needsInput = try decoder.receive(into: frame) {
                _ = try demuxer.read(into: packet)
                _ = try decoder.send(packet)
            }
        }
    }

    /// A new context has no lines, even if addresses aren't reused, as with AddressSanitizer.
    @Test func newContextHasNoLogLines() {
        LogBridge.install()
        var context = avcodec_alloc_context3(nil)
        defer { avcodec_free_context(&context) }
        logError("another's", of: context)
        #expect(LogBridge.fresh(context) == context)
        #expect(LogBridge.takeLastLine(of: context) == nil)
    }

    /// In memory: tests that run in parallel log of hundreds of contexts, too, which AddressSanitizer doesn't allocate
    /// at the same addresses again.
    @Test(arguments: [1, 2, 255, 256]) func linesOfOtherContextsDoNotHideALine(capacity: Int) {
        var lines = RecentLines(capacity: capacity)
        for other in 0..<capacity - 1 { lines.put("another's", of: UInt(1000 + other)) }
        lines.put("mine", of: 1)
        for other in 0..<capacity {
            lines.put("another's", of: UInt(2000 + other))
            lines.put("its second", of: UInt(2000 + other))
        }
        #expect(lines.has(1))
        #expect(lines.take(1) == "mine")
        #expect(lines.take(1) == nil)
        #expect(lines.take(2000 + UInt(capacity) - 1) == "its second")
    }

    @Test func numberOfRetainedLinesIsLimited() {
        var lines = RecentLines(capacity: 16)
        for key in 0..<1000 { lines.put("line", of: UInt(key)) }
        #expect((0..<1000).filter { lines.has(UInt($0)) } == Array(976..<1000))
    }
}
