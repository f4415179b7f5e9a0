import LibAV
@testable import Media
import Testing

@Suite struct LoudnessTagTests {
    @Test func flacAndMP3HaveReplayGain() {
        let tags = LoudnessTags.of(Loudness(integrated: -16, truePeak: -1, range: 5), codec: "flac")
        #expect(
            tags == [
                MetadataEntry(key: "REPLAYGAIN_TRACK_GAIN", value: "-2.00 dB"),
                MetadataEntry(key: "REPLAYGAIN_TRACK_PEAK", value: "0.891251"),
            ])
        let quiet = LoudnessTags.of(Loudness(integrated: -23.004, truePeak: -6, range: 5), codec: "mp3")
        #expect(quiet.first?.value == "5.00 dB")
    }

    @Test func opusHasR128Gain() {
        let tags = LoudnessTags.of(Loudness(integrated: -16.5, truePeak: -1, range: 5), codec: "opus")
        #expect(tags == [MetadataEntry(key: "R128_TRACK_GAIN", value: "-1664")])
    }

    @Test func silence_hasNoTags() {
        #expect(LoudnessTags.of(Loudness(integrated: -70, truePeak: -90, range: 0), codec: "flac").isEmpty)
        #expect(
            LoudnessTags.of(Loudness(integrated: -.infinity, truePeak: -.infinity, range: 0), codec: "flac")
                .isEmpty)
    }
}
