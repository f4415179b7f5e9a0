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

    @Test func linesOfManyContextsDoNotHideAnError() throws {
        LogBridge.install()
        var context = avcodec_alloc_context3(nil)
        defer { avcodec_free_context(&context) }
        logError("mine", of: context)
        let others = (0..<255).map { _ in avcodec_alloc_context3(nil) }
        for var other in others {
            logError("another's", of: other)
            avcodec_free_context(&other)
        }
        #expect(LogBridge.takeLastLine(of: context)?.hasSuffix("mine") == true)
        #expect(LogBridge.takeLastLine(of: context) == nil)
    }
}
