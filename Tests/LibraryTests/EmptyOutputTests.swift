import Foundation
import TandemKit
import TestSupport
import Testing

/// A file without samples, which players can't open, is not published.
@Suite struct EmptyOutputTests {
    private static let arguments: [(ContainerType, PublicationTime, String)] =
        [.mp4, .mov, .matroska, .transportStream].flatMap {
            [($0, .whenFinished, "h264"), ($0, .immediately, "h264")]
        } + [
            (.wav, .whenFinished, "pcm"), (.matroska, .whenFinished, "flac"), (.flac, .whenFinished, "flac"),
        ]

    @Test(arguments: arguments)
    func finishWriting_withoutSamples_throwsAndLeavesNoFile(
        _ container: ContainerType, _ publishing: PublicationTime, _ codec: String
    ) async throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let writer = try AssetWriter(
            url: URL(fileURLWithPath: scratch.file("out")), container: container, publishing: publishing)
        let input =
            switch codec {
            case "pcm": try AssetWriterInput(audio: .pcm(.int16, sampleRate: 48_000, layout: .mono))
            case "flac": try AssetWriterInput(audio: .flac(bitDepth: 16, sampleRate: 48_000, layout: .mono))
            default:
                try AssetWriterInput(
                    video: .h264(
                        crf: 30, size: PixelSize(width: 64, height: 48), frameRate: Rational(25, 1)))
            }
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.markAsFinished()
        do {
            try await writer.finishWriting()
            Issue.record("an empty file was published: \(scratch.contents)")
        } catch {
            guard case MediaError.noSamples = error else { throw error }
        }
        #expect(writer.status == .failed)
        #expect(scratch.contents == [])
    }
}
