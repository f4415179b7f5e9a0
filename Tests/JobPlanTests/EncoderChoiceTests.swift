import Diagnostics
import Foundation
import JobPlan
import JobSpec
import LibAV
import Media
import TestSupport
import Testing

/// A prober on whose machine certain encoders can't be opened.
private struct ProberWithoutDevices: SourceProber {
    let trials = SettingsValidationCache()
    let environment = MediaEnvironment().sources
    /// Names of encoders that can't be opened.
    let missing: Set<String>

    func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
        guard case .trial(.encoder(let configuration)) = request.subject else {
            throw SourceProblem("unexpected probe request")
        }
        return .verdict(missing.contains(configuration.encoder) ? .problem("no device") : .valid)
    }
}

/// Tests the choice of a job's encoder, and the diagnostics if the encoder isn't available.
@Suite struct EncoderChoiceTests {
    private static func yaml(_ encode: String, destination: String = "o.mkv") -> String {
        """
        version: 1
        assets: { bars: { pattern: testsrc, size: 64x64, frame_rate: 25, duration: 0.4s } }
        jobs:
          one: { asset: bars, tracks: [ { video: first, encode: { \(encode) } } ], destination: \(destination) }

        """
    }

    private func file(_ encode: String) throws -> JobFile {
        let yaml = Self.yaml(encode)
        let (file, sink) = decode(yaml)
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return file
    }

    private func encoding(_ encode: String) throws -> (TrackPlan.Encoding, PlanDigest) {
        let result = BatchPlanner.plan([try file(encode)])
        let job = try #require(result.plan.jobs.first, "\(result.diagnostics.diagnostics.map(\.message))")
        let task = try #require(job.tasks.first)
        guard case .encode(let encoding) = task.output.tracks[0].action else {
            throw ProgramError(message: "not encoded")
        }
        return (encoding, try PlanDigest(task))
    }

    private static let device = EncoderInfo(named: "h264_nvenc") != nil

    /// The same keys of the job file set the corresponding options of each encoder.
    @Test func settings_ofTwoEncodersOfOneCodec_becomeTheOptionsOfEach() throws {
        let svt = try encoding("codec: av1, crf: 40, preset: 8").0.encoder
        #expect(svt.encoder == "libsvtav1" && svt.bitRate == nil)
        #expect(svt.options.map { "\($0.key)=\($0.value)" } == ["crf=40", "preset=8"])
        let aom = try encoding("codec: av1, encoder: libaom-av1, crf: 40, preset: 8").0.encoder
        #expect(aom.encoder == "libaom-av1" && aom.bitRate == 0)
        #expect(aom.options.map { "\($0.key)=\($0.value)" } == ["crf=40", "cpu-used=8"])
        let lossless = try encoding("codec: av1, encoder: libaom-av1, lossless: true").0.encoder
        #expect(lossless.optionsText == "aom-params=lossless=1")
    }

    /// The value that determines the bit rate or `crf` is a setting, whose parts aren't listed in addition.
    @Test func changedTarget_isOneChange() throws {
        let (_, before) = try encoding("codec: h264, quality: { ssim: 0.97 }")
        let (_, after) = try encoding("codec: h264, quality: { ssim: 0.98 }")
        #expect(
            after.changes(since: before) == [
                "track 0 quality: ssim 0.97 (mean, within 0.002) → ssim 0.98 (mean, within 0.002)"
            ])
    }

    /// The plan contains an encoder that isn't the default, with its origin, and the digest depends on it.
    @Test func planAndDigest_containTheEncoder() throws {
        let (plain, digest) = try encoding("codec: av1, crf: 40")
        #expect(!plain.settings.contains { $0.key == "encoder" })
        let (named, same) = try encoding("codec: av1, encoder: libsvtav1, crf: 40")
        #expect(named == plain && same == digest, "naming the default encoder must change nothing")
        let (other, changed) = try encoding("codec: av1, encoder: libaom-av1, crf: 40")
        let setting = try #require(other.settings.first { $0.key == "encoder" })
        #expect(setting.value == "libaom-av1" && setting.origin == .job)
        #expect(changed.relation(to: digest.value) == .other)
        let lines = changed.changes(since: digest)
        #expect(lines.contains { $0.contains("libaom-av1") && $0.contains("libsvtav1") }, "\(lines)")
        #expect(
            changed.parts.contains { $0.name == .encoder("libaom-av1") && $0.value.hasPrefix("libaom.so") })
    }

    /// The dry open reports an encoder that can't be opened once, at the key `encoder`, as an error of the environment.
    @Test(.enabled(if: device)) func hardwareThatDoesNotOpen_isReportedOnlyByTheDryOpen() throws {
        let encode =
            "codec: h264, encoder: h264_nvenc, profile: high, pixel_format: nv12, options: { zerolatency: true }"
        let sink = ProberWithoutDevices(missing: ["h264_nvenc"]).validateSettings([try file(encode)])
        #expect(sink.diagnostics.count == 1 && sink.hasOnlyEnvironmentErrors)
        let found = try #require(sink.diagnostics.first)
        #expect(found.rule == .encoderMissing)
        #expect(found.message == "h264_nvenc is not available on this machine: no device")
        let line = Self.yaml(encode).split(separator: "\n")[3]
        let column = try #require(line.range(of: "h264_nvenc")).lowerBound
        #expect(found.range.line == 4)
        #expect(found.range.column == line.distance(from: line.startIndex, to: column) + 1)
        #expect(!ProberWithoutDevices(missing: []).validateSettings([try file(encode)]).hasErrors)
    }

    /// Each encoder opens on this machine, or the dry open reports its error message.
    @Test(
        arguments: EncoderModel.table.filter {
            $0.mediaType == .video && $0.purposes.contains(.tracks) && EncoderInfo(named: $0.name) != nil
        }.map(\.name))
    func everyEncoderOfThisBuild_opensOrIsReported(_ name: String) throws {
        let model = try #require(EncoderModel.named(name))
        let sink = LocalProber().validateSettings([try file("codec: \(model.codec), encoder: \(name)")])
        #expect(model.requirement != nil || !sink.hasErrors)
        for found in sink.diagnostics {
            #expect(found.rule == .encoderMissing && found.isEnvironment)
            #expect(found.message.hasPrefix("\(name) is not available on this machine: "), "\(found.message)")
        }
    }

    /// Encoders that this build of FFmpeg lacks are errors of `validate`.
    @Test func unavailableEncodersAreReportedAtTheirLocation() throws {
        for model in EncoderModel.table where EncoderInfo(named: model.name) == nil {
            guard model.purposes.contains(.tracks), model.mediaType == .video else { continue }
            let (_, sink) = decode(Self.yaml("codec: \(model.codec), encoder: \(model.name)"))
            #expect(sink.diagnostics.count == 1 && sink.hasOnlyEnvironmentErrors, "\(model.name)")
            let message = sink.diagnostics.first?.message
            #expect(message == "\(model.name) is not available in this build of FFmpeg")
        }
    }

    @Test func hardwareEncoders_areNeverTheDefault() {
        for codec in CodecCatalog.video { #expect(codec.encoder.requirement == nil, "\(codec.name)") }
    }
}
