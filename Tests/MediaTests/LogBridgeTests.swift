import CFFmpeg
import TestSupport
import Testing

@testable import LibAV

/// What the libraries say of one context is never heard as another's.
@Suite struct LogBridgeTests {
    private func say(_ text: String, of context: UnsafeMutableRawPointer?) {
        withVaList([]) { av_vlog(context, AV_LOG_ERROR, text + "\n", $0) }
    }

    /// libavformat has decoders of its own, which speak and are freed unheard; a FLAC decoder, whose log tells of
    /// damage, at the address of one of them took the words for its own.
    @Test func wordsOfAContextThatIsGoneAreForgotten() throws {
        let scratch = try Scratch()
        let path = scratch.file("s.flac")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.5", path)
        LogBridge.install()
        for _ in 0..<50 {
            let strangers = (0..<16).map { _ in avcodec_alloc_context3(nil) }
            for var stranger in strangers {
                say("missing frame", of: stranger)
                avcodec_free_context(&stranger)
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

    /// The same where addresses never come again, as under AddressSanitizer.
    @Test func aNewContextHasSaidNothing() {
        LogBridge.install()
        var context = avcodec_alloc_context3(nil)
        defer { avcodec_free_context(&context) }
        say("another's", of: context)
        #expect(LogBridge.fresh(context) == context)
        #expect(LogBridge.takeLastLine(of: context) == nil)
    }

    @Test func manyStrangersDoNotHideAnError() throws {
        LogBridge.install()
        var context = avcodec_alloc_context3(nil)
        defer { avcodec_free_context(&context) }
        say("mine", of: context)
        let strangers = (0..<255).map { _ in avcodec_alloc_context3(nil) }
        for var stranger in strangers {
            say("another's", of: stranger)
            avcodec_free_context(&stranger)
        }
        #expect(LogBridge.takeLastLine(of: context)?.hasSuffix("mine") == true)
        #expect(LogBridge.takeLastLine(of: context) == nil)
    }
}
