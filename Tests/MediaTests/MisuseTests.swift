import Dispatch
import Foundation
import LibAV
import Locking
@testable import Media
import TestSupport
import Testing
import Publishing

/// Incorrect library calls throw. They, and valid calls that jobs don't make, never trap, spin or deadlock.
@Suite struct MisuseTests {
    private func pattern(width: Int = 160, height: Int = 120, seconds: Int64 = 4) -> Asset {
        Asset(
            .pattern(
                TestPattern(
                    name: "testsrc", width: width, height: height, frameRate: Rational(25, 1),
                    duration: MediaTime(value: seconds, timescale: 1), toneFrequency: 440)))
    }

    /// Reports of a session can be read in its completion handler.
    @Test func reportsAreReadableInTheCompletionHandler() async throws {
        let scratch = try Scratch()
        let (session, _) = try SessionTests.session(in: scratch, seconds: 1)
        let reports = await withCheckedContinuation { continuation in
            session.start { @Sendable _ in
                _ = session.cutEvidence
                session.cancel()
                continuation.resume(returning: session.reports)
            }
        }
        #expect(reports.map(\.appendedSamples) == [25, 48_000])
    }

    @Test func readingBeforeTheStartThrows() throws {
        let asset = pattern()
        let track = try asset.loadSynchronously().tracks[0]
        let output = AssetReaderTrackOutput(track: track, settings: .video(VideoOutputSettings()))
        #expect(throws: MediaError.self) { _ = try output.copyNextSampleBuffer() }
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        #expect(throws: MediaError.self) { _ = try output.copyNextSampleBuffer() }
        try reader.startReading()
        var vended = 0
        if try output.copyNextSampleBuffer() != nil { vended += 1 }
        reader.cancelReading()
        if try output.copyNextSampleBuffer() != nil { vended += 1 }
        #expect(vended == 1)
    }

    private func writer(to path: String, unit: Rational) throws -> (AssetWriter, AssetWriterInput) {
        var video = EncoderConfiguration(encoder: "libx264", mediaType: .video, timeBase: unit)
        (video.width, video.height, video.pixelFormat) = (160, 120, .yuv420p)
        video.options = [MetadataEntry(key: "preset", value: "ultrafast")]
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: path), container: try #require(ContainerType.named("mp4")))
        let input = AssetWriterInput(mediaType: .video, settings: .encode(video))
        try writer.add(input)
        try writer.startWriting()
        return (writer, input)
    }

    /// Frames and audio samples before the session's start are dropped.
    @Test func samplesBeforeTheSessionStartAreDropped() async throws {
        let scratch = try Scratch()
        let (session, output) = try SessionTests.session(in: scratch, seconds: 4)
        let (reader, writer) = (session.reader, session.writer)
        try writer.startWriting()
        try writer.startSession(atSourceTime: MediaTime(value: 1520, timescale: 1000))
        try reader.startReading()
        let group = DispatchGroup()
        let problems = Guarded<[String]>([])
        for (output, input) in zip(reader.outputs, writer.inputs) {
            group.enter()
            let isDone = Guarded(false)
            input.requestMediaDataWhenReady(on: DispatchQueue(label: "test")) { @Sendable in
                func leave() {
                    let isFirst = isDone.withLock { done in
                        defer { done = true }
                        return !done
                    }
                    if isFirst { group.leave() }
                }
                do {
                    while input.isReadyForMoreMediaData, !isDone.withLock({ $0 }) {
                        guard let sample = try output.copyNextSampleBuffer() else {
                            try input.markAsFinished()
                            return leave()
                        }
                        try input.append(sample)
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                    leave()
                }
            }
        }
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { @Sendable in continuation.resume() }
        }
        let found = problems.withLock { $0 }
        #expect(found.isEmpty, "\(found)")
        let error = await withCheckedContinuation { continuation in
            writer.finishWriting { @Sendable in continuation.resume(returning: $0) }
        }
        #expect(error == nil, "\(String(describing: error))")
        try output.publish(replacing: false)
        let ffmpegFile = FFmpegFile(scratch.file("out.mp4"))
        let times = try ffmpegFile.frames().times
        #expect(times.count == 62 && abs((times.first ?? 1) - 0) < 0.001, "\(times.count) \(times.prefix(3))")
        // The edit lists state the presented section; ffmpeg decodes the complete last packet.
        let edits = try ffmpegFile.editDurations().compactMap { $0?.media }
        #expect(edits.count == 2 && edits.allSatisfy { abs($0 - 2.48) < 0.0001 }, "\(edits)")
    }

    /// An existing destination is an error when writing starts, not when it finishes.
    @Test func existingDestinationIsAnErrorAtTheStart() throws {
        let scratch = try Scratch()
        try scratch.write("mine", to: "o.mp4")
        #expect(throws: PublishingError.self) {
            _ = try writer(to: scratch.file("o.mp4"), unit: Rational(1, 25))
        }
        #expect(try String(contentsOfFile: scratch.file("o.mp4"), encoding: .utf8) == "mine")
    }
}
