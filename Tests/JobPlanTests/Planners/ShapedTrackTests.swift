import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// Tracks after the crop and the filters of a clip or a layer.
@Suite struct ShapedTrackTests {
    private static let canvas = Canvas(size: PixelSize(width: 1280, height: 720), frameRate: Rational(25, 1))

    private func decide(
        _ keys: String, _ track: TrackDescription, _ prober: FakeProber = FakeProber()
    ) throws -> (decision: Decision<ShapedTrack>, findings: [String]) {
        let snippet = try JobSnippet(
            rule: "{ video: first, encode: { codec: h264 } }",
            "composition: [ { asset: a.mp4\(keys.isEmpty ? "" : ", " + keys) } ]", asset: "", to: "o.mkv")
        guard case .composition(let spec) = snippet.job.asset.source,
            case .clip(let clip)? = spec.sequence.first
        else { throw ProgramError(message: "no clip") }
        let decision = ShapedTrack.decide(track, clip.shaping, prober: prober)
        return (decision, snippet.findings(decision.reasons))
    }

    @Test func tracksWithoutCropAreUnchanged() throws {
        let track = TrackDescription.video(640, 360) { $0.transform = .quarter }
        let shaped = try #require(try decide("", track).decision.value)
        #expect(shaped.track == track)
        let settings = shaped.settings(on: Self.canvas, fit: .contain)
        #expect(settings == VideoOutputSettings(track, on: Self.canvas, fit: .contain))
    }

    /// The canvas receives the cropped frame: its size determines the fit.
    @Test func cropsPrecedeTheCanvas() throws {
        let (decision, findings) = try decide(
            "crop: { x: 8, y: 2, width: 360, height: 360 }", .video(640, 480))
        let shaped = try #require(decision.value, "\(findings)")
        #expect(shaped.track.width == 360 && shaped.track.height == 360 && findings == [])
        let settings = shaped.settings(on: Self.canvas, fit: .contain)
        #expect(settings.crop == PixelRectangle(x: 8, y: 2, width: 360, height: 360))
        #expect(settings.innerSize == PixelSize(width: 720, height: 720))
    }

    @Test func cropsOutsideOfTheFrameAreErrors() throws {
        let (decision, findings) = try decide(
            "crop: { x: 8, y: 2, width: 640, height: 360 }", .video(640, 360))
        #expect(decision.value == nil && findings.count == 1)
        #expect(decision.reasons.notes == [] && decision.reasons.ledger == [])
    }

    /// The clip's filters precede those of the canvas, and determine the shape of the frame.
    @Test func filtersPrecedeTheCanvas() throws {
        var color = ColorDescription()
        color.range = .limited
        let after = FrameFormat(
            width: 320, height: 180, format: try #require(PixelFormat(named: "gray")),
            sampleAspectRatio: Rational(1, 1), color: color)
        let prober = FakeProber(trials: .outputs(after))
        let (decision, findings) = try decide("filters: \"format=gray\"", .video(640, 360), prober)
        let shaped = try #require(decision.value, "\(findings)")
        #expect(shaped.track.width == 320 && shaped.track.pixelFormat == PixelFormat(named: "gray"))
        let settings = shaped.settings(on: Self.canvas, fit: .contain)
        #expect(settings.filters?.steps.first?.name == "format")
        #expect(settings.filtered?.pixelFormat == PixelFormat(named: "gray"))
    }
}
