import LibAV
import Media
import Testing

@testable import JobPlan

/// Notes about outputs that many players don't support.
@Suite struct PlaybackNotesTests {
    /// Returns a track that is encoded in another pixel format and color, without opening the encoder.
    private func encoded(
        _ track: TrackDescription, as codec: String = "h264", format: String,
        color: ColorDescription = ColorDescription()
    ) -> TrackPlan {
        .planned(
            track,
            .encoded(track, as: codec, by: "libx264") {
                ($0.encoder.pixelFormat, $0.encoder.color) = (PixelFormat(named: format) ?? .none, color)
            })
    }

    private func note(_ parts: String, track: Int = 0, remedy: String = "pixel_format: yuv420p") -> String {
        "track \(track): H.264 with \(parts) is not supported by browsers and most hardware decoders; use `\(remedy)`, or another codec"
    }

    @Test(arguments: ["yuv420p", "yuvj420p", "nv12", "gray"])
    func eightBitFormats_haveNoNote(_ format: String) {
        #expect(PlaybackNotes.of([.planned(.video(format: format))]) == [])
    }

    @Test(arguments: [
        ("yuv420p10le", "10 bits"), ("yuv422p", "4:2:2"), ("yuv422p10le", "10 bits, 4:2:2"),
        ("yuv444p", "4:4:4"), ("yuv444p10le", "10 bits, 4:4:4"), ("gbrp", "RGB"),
        ("gbrp10le", "10 bits, RGB"),
    ]) func otherFormats_areNamed(_ format: String, _ parts: String) {
        #expect(PlaybackNotes.of([.planned(.video(format: format))]) == [note(parts)])
    }

    /// Grayscale has no chroma samples.
    @Test func deepGrayscale_isNotCalled444() {
        #expect(PlaybackNotes.of([.planned(.video(format: "gray10le"))]) == [note("10 bits")])
    }

    /// The format of a copied track is unknown if its parameters can't be read.
    @Test func unknownFormat_hasNoNote() {
        #expect(PlaybackNotes.of([.planned(.video(format: "none"))]) == [])
    }

    /// The remedy for HDR is a conversion, which also outputs 8-bit 4:2:0.
    @Test(arguments: ["smpte2084", "arib-std-b67"])
    func hdr_isNamedWithItsTransferFunction(_ transfer: String) {
        let track = TrackDescription.video(format: "yuv420p10le") {
            $0.color = .hdr
            $0.color.transfer = transfer
        }
        let expected = note("10 bits, HDR (\(transfer))", remedy: "color: sdr")
        #expect(PlaybackNotes.of([.planned(track)]) == [expected])
    }

    @Test(arguments: ["hevc", "vp9", "av1", "prores"])
    func otherCodecs_haveNoNote(_ codec: String) {
        let track = TrackDescription.video(codec: codec, format: "yuv422p10le") { $0.color = .hdr }
        #expect(PlaybackNotes.of([.planned(track)]) == [])
    }

    /// The encoder's format and color count for an encoded track, the source's for a copied one.
    @Test func encodedTrack_isDescribedByItsEncoder() {
        let deep = TrackDescription.video(format: "yuv422p10le") { $0.color = .hdr }
        let master = TrackDescription.video(codec: "prores", format: "yuv422p10le")
        #expect(PlaybackNotes.of([encoded(deep, format: "yuv420p")]) == [])
        #expect(PlaybackNotes.of([encoded(deep, as: "hevc", format: "yuv420p10le", color: .hdr)]) == [])
        #expect(PlaybackNotes.of([encoded(master, format: "yuv422p")]) == [note("4:2:2")])
        #expect(
            PlaybackNotes.of([encoded(.video(), format: "yuv420p", color: .hdr)])
                == [note("HDR (smpte2084)", remedy: "color: sdr")])
    }

    /// Notes are in the order of the output's tracks, with the indices of the source's.
    @Test func onlyVideo_isNoted() {
        var cover = TrackDescription.cover(codec: "h264")
        cover.pixelFormat = .yuv444p
        let tracks: [TrackPlan] = [
            .planned(.video(index: 4, format: "yuv444p")), .planned(.audio(codec: "h264")),
            .planned(.video(index: 2)), .planned(cover), .planned(.other(codec: "h264")),
            .planned(.video(index: 1, format: "yuv422p")),
        ]
        #expect(PlaybackNotes.of(tracks) == [note("4:4:4", track: 4), note("4:2:2", track: 1)])
        #expect(PlaybackNotes.of([]) == [])
    }
}
