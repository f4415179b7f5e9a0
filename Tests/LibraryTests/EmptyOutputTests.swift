import Foundation
import TandemKit
import TestSupport
import Testing

/// A file without any sample, which players can't open, is not published.
@Suite struct EmptyOutputTests {
    private static let arguments: [(ContainerType, PublicationTime)] =
        [.mp4, .mov, .matroska, .transportStream, .wav].map { ($0, .whenFinished) }
        + [.mp4, .mov, .matroska, .transportStream].map { ($0, .immediately) }

    @Test(arguments: arguments)
    func finishWriting_withoutSamples_throwsAndLeavesNoFile(
        _ container: ContainerType, _ publishing: PublicationTime
    ) async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: scratch.file("out")), container: container, publishing: publishing)
        let isVideo = container != .wav
        let input =
            isVideo
            ? try AssetWriterInput(
                video: .h264(crf: 30, size: PixelSize(width: 64, height: 48), frameRate: Rational(25, 1)))
            : try AssetWriterInput(audio: .pcm(.int16, sampleRate: 48_000, layout: .mono))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.markAsFinished()
        await #expect(throws: (any Error).self) { try await writer.finishWriting() }
        #expect(writer.status == .failed)
        #expect(scratch.contents == [])
    }
}
