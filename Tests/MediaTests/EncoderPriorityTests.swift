import Dispatch
import Foundation
import Glibc
import Testing

@testable import LibAV

/// An encoder takes no more of the process and the machine than its share.
@Suite struct EncoderPriorityTests {
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func noThreadBecomesARealTimeOne(_ encoder: String) throws {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (320, 240)
        (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
        // What the thread may do is what it may do afterwards.
        let rights = try Self.rights()
        #expect(EncoderTrial.problem(configuration) == nil)
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

    /// SVT-AV1 keeps what it knows of the processors in a variable that all encoders of a process share, and frees it with
    /// each of them: one by one, or the process is gone.
    @Test(arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func encodersComeAndGoSideBySide(_ encoder: String) {
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

    /// Nothing is to be encoded: SVT-AV1 would wait for the end for ever.
    @Test(.timeLimit(.minutes(15)), arguments: ["libx264", "libx265", "libvpx-vp9", "libsvtav1"])
    func anEndWithoutFrames(_ encoder: String) throws {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (160, 128)
        (configuration.pixelFormat, configuration.frameRate) = (.yuv420p, Rational(25, 1))
        let opened = try FrameEncoder.open(configuration, globalHeaders: true)
        try opened.sendEnd()
        #expect(try opened.receive(into: try Packet()) == .ended)
    }
}
