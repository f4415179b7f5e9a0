import Diagnostics
import JobSpec
import LibAV
import Media
import Testing

@testable import JobPlan

/// The estimated resources of jobs. A job itself needs 48 MiB and 0.02 s.
@Suite struct JobCostTests {
    private static let ownMemory: Int64 = 48 << 20

    private func cost(_ outputs: OutputPlan..., threads: Int? = nil) throws -> JobCost {
        var plan = try JobPlan.planned(outputs: outputs)
        plan.scheduling.threads = threads
        return JobCost(plan)
    }

    /// Returns the estimated processor time of a job in seconds, to the microsecond.
    private func work(_ outputs: OutputPlan...) throws -> Double {
        (JobCost(try .planned(outputs: outputs)).work * 1e6).rounded() / 1e6
    }

    /// Returns the encoding of a track as H.264, in its size and frame rate.
    private func encoded(
        _ track: TrackDescription, _ change: (inout TrackPlan.Encoding) -> Void = { _ in }
    ) -> TrackPlan {
        .planned(track, .encoded(track, as: "h264", by: "libx264", change))
    }

    @Test func jobWithoutOutputs_hasItsOwnCost() throws {
        let cost = try cost()
        #expect(cost.cores == 1 && cost.memory == Self.ownMemory && cost.work == 0.02)
    }

    /// A processor is needed for each 230,400 pixels that are encoded; from 1 to 16.
    @Test(arguments: [
        (16, 16, 1), (640, 719, 1), (640, 720, 2), (1280, 720, 4), (1920, 1080, 9), (7680, 4320, 16),
    ]) func cores_followTheFrameSize(_ width: Int, _ height: Int, _ expected: Double) throws {
        #expect(try cost(.planned(encoded(.video(width, height)))).cores == expected)
    }

    /// The sum is limited too. `threads` replaces the estimate without a limit.
    @Test func cores_ofSeveralOutputs_areAdded() throws {
        let (small, large) = (OutputPlan.planned(encoded(.video())), encoded(.video(1920, 1080)))
        #expect(try cost(small, small).cores == 8)
        #expect(try cost(.planned(large), .planned(large)).cores == 16)
        #expect(try cost(small, threads: 3).cores == 3 && cost(small, threads: 64).cores == 64)
    }

    /// Frames are counted at the rate of the encoder, of the source, or 25 a second, in this order.
    @Test func workOfVideo_followsItsFrames() throws {
        #expect(try work(.planned(encoded(.video()))) == 14.42)
        #expect(try work(.planned(encoded(.video(rate: nil)))) == 14.42)
        #expect(try work(.planned(encoded(.video(rate: Rational(50, 1))))) == 28.82)
        let slowed = encoded(.video(rate: Rational(50, 1))) { $0.encoder.frameRate = Rational(25, 1) }
        #expect(try work(.planned(slowed)) == 14.42)
        let shrunk = encoded(.video()) { ($0.encoder.width, $0.encoder.height) = (640, 360) }
        #expect(try work(.planned(shrunk)) == 5.78)
    }

    @Test func furtherPasses_addToTheWork() throws {
        let quality = try TargetQuality.planned()
        #expect(try work(.planned(encoded(.video()) { $0.hasTwoPasses = true })) == 23.06)
        #expect(try work(.planned(encoded(.video()) { $0.targetSize = .planned })) == 28.82)
        #expect(try work(.planned(encoded(.video()) { $0.targetQuality = quality })) == 25.94)
        let both = encoded(.video()) { ($0.hasTwoPasses, $0.targetSize) = (true, .planned) }
        #expect(try work(.planned(both)) == 37.46)
    }

    /// Tracks of media outputs count with the longest duration of the job. A negative duration counts as zero.
    @Test func workOfMedia_followsTheLongestOutput() throws {
        let (video, audio) = (TrackPlan.planned(.video()), encoded(.audio()))
        #expect(try work(.planned(video, lasting: 2000)) == 1.02)
        #expect(try work(.planned(audio, lasting: 60)) == 1.02)
        #expect(try work(.planned(video, lasting: 2000), .planned(video, lasting: 10)) == 2.02)
        #expect(try work(.planned(video, audio, lasting: 0)) == 0.02)
        #expect(try work(.planned(video, audio, lasting: -2000)) == 0.02)
    }

    /// Copied tracks need no memory of their own. A check decodes one frame, an encoder many.
    @Test func memory_followsTheFrameSize() throws {
        let area: Int64 = 1280 * 720
        func memory(_ output: OutputPlan) throws -> Int64 { try cost(output).memory - Self.ownMemory }
        #expect(try memory(.planned(.planned(.video()))) == 0)
        #expect(try memory(.planned(encoded(.video()))) == 208 * area)
        let check = OutputPlan.planned(.planned(.video(), .read(decodes: true)), as: .decodingCheck)
        #expect(try memory(check) == 48 * area)
        let images = OutputPlan.planned(
            encoded(.video()),
            as: .images(
                ImagesPlan(
                    stills: [0, 1, 2, 3, 4].map { ImagesPlan.Still(time: s($0), sourceTime: s($0)) },
                    tolerance: ImageTolerance(before: s(1), after: s(1)), duration: s(10),
                    sheet: ImagesPlan.Sheet(columns: 3, rows: 2), location: .startOfFile("jobs.yaml"))))
        #expect(try memory(images) == (6 * 12 + 24) * area)
        #expect(try work(images) == 0.27)
    }

    /// A check counts with the duration of each track, and only decoded video occupies several processors.
    @Test func checks_costByTheirTracks() throws {
        func check(_ track: TrackDescription, decodes: Bool = true) -> OutputPlan {
            .planned(.planned(track, .read(decodes: decodes)), lasting: 2000, as: .decodingCheck)
        }
        #expect(try work(check(.video())) == 2.324)
        #expect(try work(check(.video(), decodes: false)) == 0.025)
        #expect(try work(check(.audio())) == 0.07)
        #expect(try cost(check(.video(1280, 1440))).cores == 2)
        #expect(try cost(check(.video(7680, 4320))).cores == 8)
        #expect(try cost(check(.video(7680, 4320), decodes: false)).cores == 1)
    }
}
