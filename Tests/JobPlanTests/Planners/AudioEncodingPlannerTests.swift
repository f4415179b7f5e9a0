import Diagnostics
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

@testable import JobPlan

/// An audio encoding has the job's settings, or by default the source's, or the nearest values that the encoder
/// supports.
@Suite struct AudioEncodingPlannerTests {
    private func decision(
        _ encode: String, of track: TrackDescription = .audio(), in container: String = "mkv"
    )
        throws -> (encoding: TrackPlan.Encoding, notes: [String])
    {
        let snippet = try JobSnippet(
            rule: "{ audio: first, encode: { \(encode) } }", "container: \(container)", to: "o.x")
        guard case .encodeAudio(let spec) = snippet.rule.action else {
            throw ProgramError(message: "no encoding")
        }
        let encoder = try #require(spec.codec.value.availableEncoder)
        let decision = AudioEncodingPlanner(
            spec: spec, track: track, encoder: encoder, container: try .required(container)
        ).decide()
        #expect(decision.reasons.diagnostics.diagnostics.isEmpty)
        return (try #require(decision.value), decision.reasons.notes)
    }

    private func setting(_ key: String, _ encoding: TrackPlan.Encoding) -> String? {
        encoding.settings.first { $0.key == key }.map { "\($0.value) (\($0.origin.rawValue))" }
    }

    @Test func defaultsComeFromTheSource() throws {
        let (encoding, notes) = try decision("codec: aac", in: "mp4")
        #expect(encoding.encoder.encoder == "aac" && encoding.encoder.sampleRate == 48_000)
        #expect(encoding.encoder.channelLayout == .stereo && encoding.encoder.bitRate == 128_000)
        #expect(encoding.encoder.timeBase == Rational(1, 48_000) && encoding.audio?.filters == nil)
        #expect(encoding.video == nil && encoding.loudness == nil && !encoding.hasTwoPasses)
        #expect(setting("codec", encoding) == "aac (aac) (job)")
        #expect(setting("bitrate", encoding) == "128000 (default)")
        #expect(setting("sample_rate", encoding) == "48000 (source)")
        #expect(setting("channels", encoding) == "stereo (source)")
        #expect(notes == [])
    }

    @Test func settingsOfTheJobTakePrecedence() throws {
        let (encoding, notes) = try decision(
            "codec: aac, bitrate: 96k, sample_rate: 32kHz, channels: mono, profile: aac_low")
        #expect(encoding.encoder.bitRate == 96_000 && encoding.encoder.sampleRate == 32_000)
        #expect(encoding.encoder.channelLayout == .mono && encoding.audio?.sampleRate == 32_000)
        #expect(encoding.encoder.options == [MetadataEntry(key: "profile", value: "aac_low")])
        #expect(setting("sample_rate", encoding) == "32000 (job)")
        #expect(notes == ["stereo is mixed down to mono"])
    }

    /// A sample rate that the encoder doesn't support is replaced by the next higher one, or by the highest.
    @Test(
        arguments: [
            ("opus", 44_100, 48_000), ("opus", 22_050, 24_000), ("opus", 96_000, 48_000),
            ("mp3", 96_000, 48_000),
            ("mp3", 44_100, 44_100), ("flac", 96_000, 96_000),
        ] as [(String, Int32, Int32)])
    func sampleRatesFitTheEncoder(_ codec: String, _ source: Int32, _ expected: Int32) throws {
        let (encoding, _) = try decision("codec: \(codec)", of: .audio(rate: source))
        #expect(encoding.encoder.sampleRate == expected)
        let origin = source == expected ? "source" : "default"
        #expect(setting("sample_rate", encoding) == "\(expected) (\(origin))")
    }

    @Test(arguments: [
        ("codec: aac", "5.1", "5.1", nil),
        ("codec: aac", "5.1(side)", "5.1", "5.1(side) is stored as 5.1: aac doesn't distinguish the two"),
        ("codec: mp3", "5.1", "stereo", "5.1 is mixed down to stereo"),
        ("codec: mp3", "mono", "mono", nil),
        ("codec: flac, channels: stereo", "mono", "stereo", nil),
    ])
    func layoutsAreKeptAsFarAsTheEncoderSupportsThem(
        _ encode: String, _ source: String, _ expected: String, _ note: String?
    ) throws {
        let (encoding, notes) = try decision(encode, of: .audio(layout: source))
        #expect(encoding.encoder.channelLayout?.description == expected)
        #expect(encoding.audio?.layout?.description == expected)
        #expect(notes == [note].compactMap(\.self))
    }

    @Test(
        arguments: [
            ("codec: flac, bit_depth: 16", "s16", 16), ("codec: flac, bit_depth: 24", "s32", 24),
            ("codec: pcm_s16le", "s16", nil), ("codec: pcm_f32le", "flt", nil),
            ("codec: flac, sample_format: s32", "s32", nil),
        ] as [(String, String, Int?)])
    func sampleFormatsKeepTheBitDepth(_ encode: String, _ format: String, _ depth: Int?) throws {
        let (encoding, _) = try decision(encode)
        #expect(encoding.encoder.sampleFormat == SampleFormat(named: format))
        #expect(encoding.audio?.sampleFormat == SampleFormat(named: format))
        #expect(encoding.encoder.bitsPerSample == depth)
    }

    /// Gain precedes the job's filters; a gain of 0 adds no filter.
    @Test func gainPrecedesFilters() throws {
        let (both, _) = try decision("codec: flac, gain: -3dB, filters: \"highpass=f=200\"")
        #expect(both.audio?.filters?.steps.count == 2)
        #expect(both.audio?.filters?.steps.first == .volume("-3dB"))
        #expect(setting("gain", both) == "-3 dB (job)")
        #expect(try decision("codec: flac, gain: 0dB").encoding.audio?.filters == nil)
    }

    @Test func normalizationHasTheDocumentedDefaults() throws {
        let loudness = try #require(try decision("codec: aac, normalize: {}").encoding.loudness)
        #expect(loudness.integrated == -16 && loudness.truePeak == -1 && loudness.range == nil)
        #expect(!loudness.writesTags)
    }

    /// Properties that the output loses are noted.
    @Test(arguments: [
        (
            "codec: aac", "adts", TrackDescription.audio(),
            "adts can't mark the delay of aac: the output begins with some milliseconds of silence"
        ),
        (
            "codec: flac", "flac", .audio(codec: "pcm_s32le", format: "s32"),
            "pcm_s32le is reduced to 24 bits, the maximum of flac"
        ),
        (
            "codec: pcm_s16le", "mkv", .audio(layout: "3.0"),
            "mkv can't store the channel layout 3.0 for pcm_s16le: players assume 2.1"
        ),
    ])
    func lossesOfAudioAreNoted(
        _ encode: String, _ container: String, _ track: TrackDescription, _ note: String
    )
        throws
    {
        #expect(try decision(encode, of: track, in: container).notes == [note])
    }
}
