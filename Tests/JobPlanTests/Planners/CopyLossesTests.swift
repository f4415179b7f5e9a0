import LibAV
import Media
import Testing

@testable import JobPlan

/// Properties of copied tracks that the container can't represent are listed as dropped.
@Suite struct CopyLossesTests {
    private static let flac40 = TrackDescription.audio(codec: "flac", layout: "4.0")
    private static func colored(_ codec: String, _ change: (inout ColorDescription) -> Void = { _ in })
        -> TrackDescription
    {
        .video(codec: codec) {
            $0.color = .standard
            change(&$0.color)
        }
    }

    @Test(
        arguments: [
            (colored("h264"), "ts", []), (colored("mpeg4"), "mkv", []),
            (colored("mpeg4"), "ts", ["colour (bt709, bt709, bt709) dropped: ts can't store it for mpeg4"]),
            (colored("mpeg4"), "mp4", []),
            // `colr` contains all three values or none.
            (
                colored("mpeg4") { $0.matrix = nil }, "mp4",
                ["colour (bt709, bt709) dropped: mp4 can't store it for mpeg4"]
            ),
            (
                colored("mpeg4") { $0.range = .full }, "mov",
                ["colour (full range) dropped: mov can't store it for mpeg4"]
            ),
            (.audio { $0.sideData = [.state(.hiddenBeginning)] }, "mp4", []),
            (
                .audio { $0.sideData = [.state(.hiddenBeginning)] }, "adts",
                ["hidden beginning dropped: adts can't mark it as hidden, so it becomes audible"]
            ),
            (
                .audio { ($0.sideData, $0.hiddenPartOfPacket) = ([.state(.hiddenBeginning)], 300) },
                "mkv",
                ["hidden beginning dropped: mkv can hide whole packets only: 300 samples become audible"]
            ),
            (.video(codec: "vp9") { $0.tags = [.separateAlphaTag] }, "mkv", []),
            (
                .video(codec: "vp9") { $0.tags = [.separateAlphaTag] }, "mp4",
                ["alpha plane dropped: mp4 can't store it for vp9"]
            ),
            (
                flac40, "mp4",
                ["channel layout 4.0 dropped: mp4 can't store it for flac: players assume quad"]
            ),
            (.video { $0.transform = .quarter }, "mp4", ["display matrix copied: kept"]),
        ] as [(TrackDescription, String, [String])])
    func lossesAreInTheLedger(_ track: TrackDescription, _ container: String, _ lines: [String]) throws {
        var reasons = Reasons()
        CopyLosses(track: track, container: try .required(container)).account(in: &reasons)
        #expect(reasons.lines == lines)
        #expect(reasons.ledger.allSatisfy { $0.track == track.index })
    }
}
