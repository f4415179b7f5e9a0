import JobSpec
import LibAV
import Testing

@testable import JobPlan

/// The division of a video track into chunks follows from the encoding alone.
@Suite struct ChunkPlannerTests {
    private func decide(
        _ parallel: Parallelism, _ encoder: String = "libx264", width: Int = 1280, height: Int = 720,
        frames: Int64? = 10_000, _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) -> ChunkPlanner.Chunks {
        var configuration = EncoderConfiguration(
            encoder: encoder, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (width, height)
        configuration.pixelFormat = .yuv420p
        change(&configuration)
        return ChunkPlanner(configuration: configuration, frameCount: frames).decide(parallel)
    }

    /// A chunk has as many frames as 256 MiB contain, within 48 and 250.
    @Test(arguments: [(320, 240, 250), (1280, 720, 194), (1920, 1080, 86), (7680, 4320, 48)])
    func lengthFollowsFromTheFrame(_ width: Int, _ height: Int, _ length: Int) {
        #expect(decide(.chunks(3), width: width, height: height).length == length)
    }

    @Test(arguments: [(50, 150), (97, 194), (195, 194), (1, 194)])
    func lengthIsAMultipleOfTheKeyframeInterval(_ interval: Int, _ length: Int) {
        #expect(decide(.automatic) { $0.keyframeInterval = interval }.length == length)
    }

    @Test func descriptionsStateTheDecision() {
        #expect(
            decide(.chunks(3))
                == .init(length: 194, maximum: 3, description: "chunks of 194 frames, at most 3 at a time"))
        #expect(decide(.automatic) == .init(length: 194, description: "chunks of 194 frames"))
        #expect(decide(.off) == .init(description: "off"))
        #expect(
            decide(.distributed, frames: 3)
                == .init(
                    length: 194, isDistributed: true,
                    description: "chunks of 194 frames, distributed by `tandem submit`"))
    }

    @Test func shortTracksAreEncodedAsAWholeByDefault() {
        #expect(decide(.automatic, frames: 776).length == 194)
        #expect(
            decide(.automatic, frames: 775) == .init(description: "off: the track has less than 776 frames"))
        #expect(decide(.automatic, frames: nil) == .init(description: "off: the number of frames is unknown"))
        // An explicit number applies to any track, so that the length of a source doesn't change its treatment.
        #expect(decide(.chunks(2), frames: 3).length == 194)
    }

    @Test func otherRateControlAndEncodersAreEncodedAsAWhole() {
        let rate = ChunkPlanner.Chunks(description: "off: a bit rate applies to the whole track")
        #expect(decide(.automatic) { $0.bitRate = 1_000_000 } == rate)
        #expect(decide(.automatic) { $0.maxBitRate = 1_000_000 } == rate)
        #expect(
            decide(.automatic, "libsvtav1") == .init(description: "off: libsvtav1 doesn't support chunks"))
    }
}
