import LibAV
import Testing

@testable import Media

/// Tests which frames before a stream's first random-access point are dropped, and how many are reported.
@Suite struct LeadingFramesTests {
    private typealias Picture = LeadingFrames.FrameInfo

    private func picture(
        _ pts: Int64, isKey: Bool = false, isIntra: Bool = false, lacksReferences: Bool = false
    ) -> Picture {
        Picture(pts: pts, isKey: isKey, isIntra: isIntra, lacksReferences: lacksReferences)
    }

    private func accepted(_ pictures: [Picture], by leading: inout LeadingFrames) -> [Bool] {
        var results: [Bool] = []
        for picture in pictures { results.append(leading.accepts(picture)) }
        return results
    }

    /// Returns the state after packets of a codec with the given times.
    private func frames(
        _ codec: String, start: Int64 = 0, times: [Int64], keys: Set<Int64> = []
    ) throws -> LeadingFrames {
        var frames = try #require(LeadingFrames(BitstreamTraits.of(codec), start: start))
        for pts in times { frames.note(pts: pts, isKey: keys.contains(pts), isHidden: false) }
        return frames
    }

    @Test func intraCodecsHaveNoLeadingFrames() {
        #expect(LeadingFrames(BitstreamTraits.of("mjpeg"), start: 0) == nil)
        #expect(LeadingFrames(BitstreamTraits.of("dnxhd"), start: 0) == nil)
    }

    @Test func framesBeforeTheFirstKeyframeAreDropped() throws {
        // The last packet is a leading frame of the open GOP.
        var leading = try frames("hevc", times: [3, 1, 2, 6, 5], keys: [6])
        let results = accepted(
            [picture(1), picture(2), picture(3), picture(5), picture(6, isKey: true, isIntra: true)],
            by: &leading)
        #expect(results == [false, false, false, false, true])
        #expect(leading.missing(before: 6) == 4)
        #expect(leading.dropped == 4)
    }

    @Test(arguments: ["hevc", "vp9", "av1", "mpeg4"])
    func framesOfAStreamThatBeginsWithAKeyframeAreAccepted(_ codec: String) throws {
        var leading = try frames(codec, times: [0], keys: [0])
        #expect(accepted([picture(0)], by: &leading) == [true])
        #expect(leading.missing(before: 0) == 0)
    }

    @Test func theDecoderReportsRecoveryOfH264() throws {
        // Periodic intra refresh has no keyframe after the recovery point.
        var leading = try frames("h264", times: [0, 1, 2, 3, 4])
        #expect(accepted([picture(0, lacksReferences: true), picture(3)], by: &leading) == [false, true])
        #expect(leading.missing(before: 3) == 3)
    }

    @Test func intraFramesAreAcceptedWithoutARecoveryPoint() throws {
        var first = try frames("h264", times: [7])
        #expect(accepted([picture(7, isIntra: true, lacksReferences: true)], by: &first) == [true])
        var later = try frames("h264", times: [7])
        let pictures = [9, 12].map { picture($0, isIntra: true, lacksReferences: true) }
        #expect(accepted(pictures, by: &later) == [false, true])
    }

    @Test func hiddenPacketsAndThoseBeforeTheRangeAreNotReported() throws {
        var leading = try #require(LeadingFrames(BitstreamTraits.of("hevc"), start: 10))
        leading.note(pts: 12, isKey: false, isHidden: true)
        for pts: Int64 in [7, 9, 11, 13] { leading.note(pts: pts, isKey: false, isHidden: false) }
        // The frame shown at 10, and those at 11 and 13.
        #expect(leading.missing(before: 14) == 3)
        #expect(leading.missing(before: 12) == 2)
    }

    @Test func errorsBeforeTheFirstKeyframeAreNotDamage() throws {
        var leading = try frames("vp9", times: [0])
        #expect(leading.covers(errorAfter: 0))
        leading.note(pts: 1, isKey: true, isHidden: false)
        #expect(!leading.covers(errorAfter: 0))
        // With frame threads, a decoder reports errors of an earlier packet.
        #expect(leading.covers(errorAfter: 1))
        #expect(try !frames("vp9", times: [0], keys: [0]).covers(errorAfter: 3))
    }

    @Test func sortedTimesLoseNoFrame() {
        var times = SortedTimes()
        for time: Int64 in [0, 1, 2, 3] { times.note(time) }
        var given: [Int64] = []
        // Decoding order I P B B, presentation order I B B P.
        for own: Int64 in [0, 2, 3, 1] { given.append(times.next(own: own, isKey: own == 0)) }
        #expect(given == [0, 1, 2, 3])
        // A packet without a frame shifts only the times of its GOP.
        for time: Int64 in [4, 5, 6, 7] { times.note(time) }
        given = []
        for own: Int64 in [4, 6] { given.append(times.next(own: own, isKey: own == 4)) }
        given.append(times.next(own: 7, isKey: true))
        #expect(given == [4, 5, 7])
    }
}
