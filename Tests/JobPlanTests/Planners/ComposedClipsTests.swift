import Diagnostics
import ExactStrings
import JobSpec
import LibAV
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The clips of a composition whose packets can be copied into one track.
@Suite struct ComposedClipsTests {
    private static let canvas = Canvas(size: PixelSize(width: 1280, height: 720), frameRate: Rational(25, 1))

    /// Returns a composition of one clip of 10 s from a file with a track.
    private func composed(
        _ track: TrackDescription, keys: String = "", change: (inout VideoClip) -> Void = { _ in }
    ) throws -> ComposedSource {
        let snippet = try JobSnippet(
            rule: "{ video: first, copy: true }",
            "composition: { sequence: [ a.mp4 ]\(keys.isEmpty ? "" : ", " + keys) }", "cut: smart", asset: "")
        guard case .composition(let spec) = snippet.job.asset.source else {
            throw ProgramError(message: "no composition")
        }
        var composition = Composition()
        (composition.sources, composition.duration) = ([.file("/a.mp4")], s(10))
        var clip = VideoClip(
            placement: ClipPlacement(
                source: 0, track: 0, sourceRange: span(0, 10), timeRange: span(0, 10)),
            settings: VideoOutputSettings())
        change(&clip)
        composition.clips = [clip]
        var composed = ComposedSource(composition, spec: spec)
        composed.descriptions = ["/a.mp4".exact: .file(track)]
        return composed
    }

    private func obstacle(_ composed: ComposedSource) throws -> String? {
        var clips = ComposedClips(composed, on: Self.canvas)
        try clips.checkClips(through: FakeProber())
        return clips.obstacle(0)
    }

    @Test(
        arguments: [
            (TrackDescription.video(), "", nil),
            (.video(640, 360), "", "its frames are 640x360, the composition's are 1280x720"),
            (.video(), "frame_rate: 30", "its frame rate is not the composition's constant 30 frames/s"),
            (
                .video { $0.hasConstantFrameRate = false }, "frame_rate: 25",
                "its frame rate is not the composition's constant 25 frames/s"
            ),
            (.video { $0.hasConstantFrameRate = false }, "", nil),
            (
                .video { $0.sideData = [.state(.changingHeaders)] }, "",
                "its codec headers change within the file (concatenated files)"
            ),
            (.video { $0.sideData = [.state(.unordered)] }, "", "its decoding times are not in order"),
            (.video(index: 3), "", "its track no longer exists"),
        ] as [(TrackDescription, String, String?)])
    func tracksThatDifferFromTheCompositionAreNotCopied(
        _ track: TrackDescription, _ keys: String, _ expected: String?
    ) throws {
        #expect(try obstacle(composed(track, keys: keys)) == expected)
    }

    /// Clips whose frames the composition changes have no packets to copy.
    @Test func changedFramesAreNotCopied() throws {
        let faster = try composed(.video()) { $0.placement.timeRange = span(0, 5) }
        #expect(try obstacle(faster) == "its speed is changed")
        let cropped = try composed(.video()) {
            $0.settings.crop = PixelRectangle(x: 0, y: 0, width: 64, height: 64)
        }
        #expect(try obstacle(cropped) == "its frames are cropped or filtered")
    }

    @Test func generatedSourcesAreNotCopied() throws {
        var composed = try composed(.video())
        composed.composition.sources = [
            .images(ImageSequence(still: "/a.png", duration: s(10), frameRate: Rational(25, 1)))
        ]
        #expect(try obstacle(composed) == "its source is not a media file")
    }

    /// Sources of a composition from the library are probed when they are checked.
    @Test func unknownSourcesAreProbed() throws {
        var composed = try composed(.video())
        composed.descriptions = [:]
        let prober = FakeProber(.description(.file(.video(64, 48))))
        var clips = ComposedClips(composed, on: Self.canvas)
        try clips.checkClips(through: prober)
        #expect(clips.obstacle(0) == "its frames are 64x48, the composition's are 1280x720")
        #expect(prober.requests.compactMap(\.path) == ["/a.mp4"])
    }

    /// A clip whose first frame is late begins with that frame, unless `lead_in` extends it to the start.
    @Test(
        arguments: [
            (0.04, LeadIn.automatic, 0), (0.3, .automatic, 0), (1, .automatic, 1), (1, .hold, 0),
            (0.3, .black, 0.3),
        ] as [(Double, LeadIn, Double)])
    func lateFramesDetermineTheBeginning(_ late: Double, _ leadIn: LeadIn, _ expected: Double) throws {
        let composed = try composed(.video(over: span(late, 10))) { $0.leadIn = leadIn }
        #expect(ComposedClips(composed, on: Self.canvas).beginning(of: 0) == s(expected))
    }
}
