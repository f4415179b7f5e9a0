import Foundation
import LibAV
import Media
import Streaming
import TestSupport
import Testing

/// Tests `CODECS` strings of configuration records, and of files that ffmpeg wrote.
@Suite struct CodecStringTests {
    private func video(
        _ codec: String, _ extradata: [UInt8], format: PixelFormat = .yuv420p, tag: String? = nil
    ) throws -> String? {
        let parameters = try CodecParameters.video(
            codec: codec, width: 1280, height: 720, pixelFormat: format, extradata: extradata)
        return CodecString(
            try parameters.with(extradata: extradata, level: nil, codecTag: tag),
            frameRate: Rational(30, 1))?.value
    }

    private func audio(_ codec: String, _ extradata: [UInt8], sampleRate: Int32 = 48_000) throws -> String? {
        let format = AudioFormat(sampleFormat: .planarFloat, sampleRate: sampleRate, layout: .stereo)
        return CodecString(
            try CodecParameters.audio(codec: codec, format: format, frameSize: 1024, extradata: extradata))?
            .value
    }

    @Test func recordsOfH264() throws {
        let record: [UInt8] = [1, 0x64, 0, 0x1f, 0xff, 0xe0, 0]
        #expect(try video("h264", record) == "avc1.64001f")
        #expect(try video("h264", record, tag: "avc3") == "avc3.64001f")
        #expect(try video("h264", Array(record.dropLast())) == nil)
        #expect(try video("h264", []) == nil)
        // Parameter sets with start codes, as encoders return them.
        let sets: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x0d, 0xff, 0, 0, 1, 0x68, 0xce]
        #expect(try video("h264", sets) == "avc1.42c00d")
    }

    @Test func recordsOfHEVC() throws {
        func record(_ profile: UInt8, _ flags: [UInt8], _ constraints: [UInt8], _ level: UInt8) -> [UInt8] {
            [1, profile] + flags + constraints + [level, 0xf0, 0, 0xfc, 0xfd, 0xfa, 0xfa, 0, 0, 0x0f, 0]
        }
        let main10 = record(2, [0x20, 0, 0, 0], [0x90, 0, 0, 0, 0, 0], 150)
        #expect(try video("hevc", main10) == "hvc1.2.4.L150.90")
        #expect(try video("hevc", main10, tag: "hev1") == "hev1.2.4.L150.90")
        let high = record(0x61, [0x60, 0, 0, 0], [0xb0, 0, 0x01, 0, 0, 0], 93)
        #expect(try video("hevc", high) == "hvc1.A1.6.H93.B0.0.1")
        let plain = record(1, [0x60, 0, 0, 0], [0, 0, 0, 0, 0, 0], 120)
        #expect(try video("hevc", plain) == "hvc1.1.6.L120")
        #expect(try video("hevc", Array(main10.prefix(22))) == nil)
    }

    @Test func recordsOfAV1() throws {
        #expect(try video("av1", [0x81, 0x04, 0x0c, 0]) == "av01.0.04M.08")
        #expect(try video("av1", [0x81, 0x0c, 0xcc, 0]) == "av01.0.12H.10")
        // Monochrome, 4:4:4, and colocated chroma need the long form.
        #expect(try video("av1", [0x81, 0x04, 0x1c, 0]) == "av01.0.04M.08.1.110.02.02.02.0")
        #expect(try video("av1", [0x81, 0x24, 0x00, 0]) == "av01.1.04M.08.0.000.02.02.02.0")
        #expect(try video("av1", [0x81, 0x04, 0x0e, 0]) == "av01.0.04M.08.0.112.02.02.02.0")
        #expect(try video("av1", [0x81, 0x04, 0x0c]) == nil)
        #expect(try video("av1", [0x0a, 0x0b, 0, 0]) == nil)
    }

    @Test func theLevelOfVP9FollowsFromTheVideo() throws {
        func value(_ width: Int, _ height: Int, _ rate: Rational?) throws -> String? {
            CodecString(
                try CodecParameters.video(
                    codec: "vp9", width: width, height: height, pixelFormat: .yuv420p, extradata: []),
                frameRate: rate)?.value
        }
        #expect(try value(1920, 1080, Rational(30, 1)) == "vp09.00.40.08")
        #expect(try value(1920, 1080, Rational(60, 1)) == "vp09.00.41.08")
        #expect(try value(256, 144, Rational(15, 1)) == "vp09.00.10.08")
        #expect(try value(1280, 720, nil) == "vp09.00.31.08")
        #expect(try value(12_000, 10_000, nil) == nil)
    }

    @Test func configurationsOfAAC() throws {
        #expect(try audio("aac", [0x11, 0x90]) == "mp4a.40.2")
        // Hierarchical signaling of SBR, and of PS.
        #expect(try audio("aac", [0x2b, 0x11, 0x88, 0x00]) == "mp4a.40.5")
        #expect(try audio("aac", [0xeb, 0x09, 0x88, 0x00]) == "mp4a.40.29")
        // Backward compatible signaling.
        #expect(try audio("aac", [0x13, 0x10, 0x56, 0xe5, 0x98]) == "mp4a.40.5")
        #expect(try audio("aac", [0x13, 0x10, 0x56, 0xe5, 0x9d, 0x48, 0x80]) == "mp4a.40.29")
        // Object type 42 (xHE-AAC) with its escape.
        #expect(try audio("aac", [0xf9, 0x46, 0x40]) == "mp4a.40.42")
        #expect(try audio("aac", []) == nil)
        #expect(try audio("aac", [0x11]) == nil)
        #expect(try audio("aac", [0, 0, 0]) == nil)
    }

    @Test func otherCodecs() throws {
        #expect(try audio("mp3", [], sampleRate: 44_100) == "mp4a.6B")
        #expect(try audio("mp3", [], sampleRate: 22_050) == "mp4a.69")
        #expect(try audio("ac3", []) == "ac-3")
        #expect(try audio("eac3", []) == "ec-3")
        #expect(try audio("opus", []) == "opus")
        #expect(try audio("flac", []) == "fLaC")
        #expect(try audio("alac", []) == "alac")
        #expect(try audio("pcm_s16le", []) == nil)
        #expect(CodecString(try CodecParameters.subtitles(codec: "webvtt"))?.value == "wvtt")
    }

    @Test func stringsAreValidated() {
        #expect(CodecString("avc1.64001f")?.description == "avc1.64001f")
        for text in ["", "a,b", "a\"b", "a b", "a\nb", String(repeating: "a", count: 65)] {
            #expect(CodecString(text) == nil)
        }
    }

    private func strings(ofFile path: String) throws -> [String] {
        try Asset(.file(path)).loadSynchronously().tracks.filter {
            [.video, .audio].contains($0.mediaType)
        }.map {
            CodecString($0.format.parameters, frameRate: $0.nominalFrameRate)?.value ?? "none"
        }
    }

    /// Compares with the strings that shaka-packager 3.8 wrote into MPDs of the same files. It writes the long form of VP9 with
    /// default values, and can't read `sample_edit_list.mp4`, nor MP3: these follow from `hvcC` and from `esds`.
    @Test(
        .enabled(if: TestPaths.media != nil),
        arguments: [
            ("bikes.mp4", ["avc1.640015"]), ("empty_edit_5s.mp4", ["avc1.f4000b"]),
            ("interlaced_crop.mp4", ["avc1.4d4029"]), ("chaplin.mp4", ["avc1.64001e", "mp4a.6B"]),
            ("edit_list_positive_shift.mp4", ["avc1.42c028", "mp4a.40.2"]),
            ("sample_with_colr_mdcv_and_clli.mp4", ["av01.0.09M.10.0.110.09.16.09.0", "mp4a.40.2"]),
            ("testsrc-hevc.mp4", ["hev1.1.6.L63.90", "mp4a.40.2"]), ("sample_opus.mp4", ["opus"]),
            ("bear-vp9-odd-dimensions.webm", ["vp09.00.10.08"]),
            ("sample_edit_list.mp4", ["hvc1.2.4.L120.B0", "mp4a.40.2"]),
            // Parameter sets with start codes, and AAC without a configuration.
            ("000000000.ts", ["avc1.4d401f", "mp4a.40.2"]),
            ("prores4444_with_transparency.mov", ["none", "none"]),
        ])
    func realFilesHaveTheStringsOfShakaPackager(_ name: String, _ expected: [String]) throws {
        let media = try #require(TestPaths.media)
        #expect(try strings(ofFile: media + "/" + name).sorted() == expected.sorted())
    }

    /// Compares with ffmpeg's DASH muxer, which writes complete strings for these codecs. It names HEVC without its profile,
    /// and MP3 at 48 kHz as `mp4a.69`, although its mp4 files declare `6B`.
    @Test(arguments: [
        ["-c:v", "libx264", "-profile:v", "baseline"], ["-c:v", "libx264", "-pix_fmt", "yuv420p10le"],
        ["-c:v", "libvpx-vp9"], ["-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv420p"],
        [
            "-c:v", "libaom-av1", "-cpu-used", "8", "-pix_fmt", "yuv420p10le", "-color_primaries", "bt2020",
            "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
        ], ["-c:a", "aac"], ["-c:a", "libopus"],
    ]) func filesHaveTheStringsOfFFmpeg(_ arguments: [String]) throws {
        let scratch = try Scratch()
        let source = arguments[0] == "-c:v" ? "testsrc2=s=320x180:r=25:d=0.2" : "sine=r=48000:d=0.2"
        try ffmpeg(["-f", "lavfi", "-i", source] + arguments + ["-strict", "-2", scratch.file("a.mp4")])
        try ffmpeg("-i", scratch.file("a.mp4"), "-c", "copy", "-f", "dash", scratch.file("m.mpd"))
        let manifest = try String(contentsOfFile: scratch.file("m.mpd"), encoding: .utf8)
        let value = try #require(strings(ofFile: scratch.file("a.mp4")).first)
        #expect(manifest.contains("codecs=\"\(value)\""), "\(value): \(manifest)")
    }

    /// Headers from a damaged file must not trap, whatever they contain.
    @Test func arbitraryHeadersDontTrap() throws {
        var random = SeededGenerator(7)
        for _ in 0..<2000 {
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            if !bytes.isEmpty, Bool.random(using: &random) { bytes[0] = [1, 0x81, 0][Int(bytes[0]) % 3] }
            for codec in ["h264", "hevc", "av1", "vp9"] { _ = try video(codec, bytes) }
            _ = try audio("aac", bytes)
        }
    }
}
