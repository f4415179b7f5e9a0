import Dispatch
import Foundation
import Glibc
import Testing

@testable import LibAV

/// Tests the effects of encoders on the process: thread priorities, concurrent opening, and flushing without frames.
@Suite struct EncoderPriorityTests {
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func encodersStartNoRealTimeThreads(_ encoder: String) throws {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (320, 240)
        (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
        // The thread's capabilities are unchanged.
        let rights = try Self.rights()
        #expect(EncoderValidation.problem(configuration) == nil)
        #expect(try Self.rights() == rights)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
            guard let thread = pid_t(name) else { continue }
            let policy = sched_getscheduler(thread)
            // A thread of another test may have ended.
            #expect(policy == SCHED_OTHER || policy < 0, "\(encoder): \(thread) has \(policy)")
        }
    }

    private static func rights() throws -> String {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        return status.split(separator: "\n").filter { $0.hasPrefix("Cap") }.joined(separator: "\n")
    }

    /// Encoders can be opened and closed concurrently. SVT-AV1 keeps processor information in a global variable that
    /// each encoder frees, which crashes the process unless opening and closing are serialized.
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func concurrentEncodersOpenAndClose(_ encoder: String) {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (160, 128)
        (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
        let settings = configuration
        DispatchQueue.concurrentPerform(iterations: 40) { _ in
            #expect(throws: Never.self) {
                let opened = try FrameEncoder.open(settings, globalHeaders: true)
                _ = opened.timeBase
            }
        }
    }

    /// Flushing an encoder that received no frame ends; SVT-AV1 itself would wait forever.
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func flushingWithoutFramesEnds(_ encoder: String) throws {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (160, 128)
        (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
        let opened = try FrameEncoder.open(configuration, globalHeaders: true)
        try opened.sendEnd()
        #expect(try opened.receive(into: try Packet()) == .ended)
    }
}
