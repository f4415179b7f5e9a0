import Diagnostics
import JobSpec
import LibAV
import Media
import Publishing
import TestSupport
import Testing

@testable import JobPlan

/// Tests `TargetSizePlanner`: the bit rate of `target_size`, by whole outputs.
@Suite struct TargetSizePlannerTests {
    private static let source = SourceDescription.file(.video(), .audio())

    private func decide(
        _ rules: String, _ keys: String..., description: SourceDescription = source,
        to destination: String = "o.mp4", bytes: Int64 = 160_000
    ) throws -> (output: OutputPlan?, messages: [String], requests: [ProbeRequest]) {
        let prober = FakeProber { request in
            switch request.subject {
            case .trial: .success(.verdict(.valid))
            case .byteCount: .success(.byteCount(bytes))
            case .order: .success(.order(nil))
            case .presentationTimes: .success(.presentationTimes(true))
            default: nil
            }
        }
        let snippet = try JobSnippet(rule: rules, keys.joined(separator: "\n    "), to: destination)
        let written = try #require(snippet.output.destination)
        let decision = OutputPlanner(
            job: snippet.job, output: snippet.output,
            product: try #require(OutputPlanner.Product(snippet.output.kind)),
            container: try snippet.container, input: ResolvedInput(.file, description),
            destination: try #require(DestinationPath("/" + written.path.value)), as: written,
            prober: prober, files: AddedFiles()
        ).decide()
        return (decision.value?.output, snippet.messages(decision.reasons.diagnostics), prober.requests)
    }

    private func rate(_ output: OutputPlan?) throws -> Int64 {
        guard case .encode(let encoding) = try #require(output).tracks[0].action else {
            throw ProgramError(message: "no encoding")
        }
        return try #require(encoding.encoder.bitRate)
    }

    private func video(_ settings: String) -> String {
        "{ video: first, encode: { codec: h264, \(settings) } }"
    }

    @Test func theRateFillsTheSizeBetweenItsBounds() throws {
        let (output, messages, _) = try decide(
            video("target_size: 2MB") + ", { audio: first, encode: { codec: aac, bitrate: 128k } }")
        #expect(messages == [])
        // 98.5 % of the size, without 160 kB of audio and the container, over 10 s.
        let rate = try rate(output)
        #expect((1_430_000...1_448_000).contains(rate), "\(rate)")
        let plan = try #require(output)
        let (target, track) = try #require(plan.targetSize)
        #expect(track == 0 && target.bytes == 2_000_000 && target.minimumBytes == 1_940_000)
        #expect(target.aim == 1_970_000 && plan.hasTwoPasses)
        guard case .encode(let encoding) = plan.tracks[0].action else { return }
        let settings = encoding.settings.map { "\($0.key) \($0.value) \($0.origin.rawValue)" }
        #expect(settings.contains("target_size 2000000 job") && settings.contains("passes 2 default"))
        #expect(settings.contains("bitrate \(rate) default"))
    }

    @Test func copiedTracksAreMeasured() throws {
        let rules = video("target_size: 2MB") + ", { audio: first, copy: true }"
        let (small, _, requests) = try decide(rules)
        let (large, _, _) = try decide(rules, bytes: 1_160_000)
        #expect(requests.contains { $0.subject == .byteCount(track: 1) })
        // A megabyte over 10 s.
        #expect(abs(try rate(small) - rate(large) - 800_000) < 2000)
    }

    @Test func rangesAreShorter() throws {
        let whole = try rate(decide(video("target_size: 2MB")).output)
        let half = try rate(decide(video("target_size: 2MB"), "range: { end: 5s }").output)
        #expect(abs(Double(half) / Double(whole) - 2) < 0.02)
    }

    @Test func unreachableSizesNameTheSmallestOne() throws {
        let (output, messages, _) = try decide(video("target_size: 30kB"))
        #expect(output == nil)
        #expect(
            messages == [
                "target-size at 30kB: `target_size` of 30.0 kB can't be reached; the smallest size is 65kB"
            ])
        #expect(try decide(video("target_size: 65kB")).messages == [])
        let scaled = try decide(video("target_size: 30kB, size: x360"))
        #expect(scaled.messages == [])
    }

    @Test func ratesAreBounded() throws {
        let (output, _, _) = try decide(video("target_size: 1GB, max_bitrate: 3M, buffer_size: 6M"))
        #expect(try rate(output) == 3_000_000)
        #expect(
            try #require(output).notes.contains(
                "`target_size` exceeds what the maximum bit rate of 3000 kb/s can fill: about 3.8 MB"))
        let uncompressed = try rate(decide(video("target_size: 1GB")).output)
        #expect(uncompressed == 12 * 1280 * 720 * 25)
    }

    @Test func severalTracksAreRefused() throws {
        let description = SourceDescription.file(.video(), .video(index: 1))
        func messages(_ rules: String) throws -> [String] {
            try decide(rules, description: description).messages
        }
        func expected(_ place: String, _ key: String) -> [String] {
            [
                "conflicting-keys at \(place): `\(key)` determines the settings of one video track; the rules select 2"
            ]
        }
        #expect(
            try messages("{ video: all, encode: { codec: h264, target_size: 2MB } }")
                == expected("2MB", "target_size"))
        #expect(
            try messages("{ video: all, encode: { codec: h264, quality: { ssim: 0.98 } } }")
                == expected("{ ssim: 0.98 }", "quality"))
        let when = "when: { video: { codec: h264 } }"
        #expect(
            try messages(
                "{ video: first, \(when), encode: { codec: h264, target_size: 2MB } }, { video: first, encode: { codec: h264, quality: { ssim: 0.98 } } }"
            ) == expected("2MB", "target_size"))
        #expect(
            try messages(
                "{ video: first, \(when), encode: { codec: h264, target_size: 2MB } }, { video: first, when: { not: { video: { codec: h264 } } }, encode: { codec: hevc, target_size: 1MB } }"
            ) == [])
    }

    private func size(_ output: OutputPlan?) throws -> String {
        let encoder = try #require(output?.tracks[0].encoding?.encoder)
        return "\(encoder.width)x\(encoder.height)"
    }

    /// The first common size at which the rate suffices is taken; the lowest if none does, as long as the size can be
    /// reached.
    @Test(arguments: [
        ("target_size: 2MB, scale: auto", "1280x720", false),
        ("target_size: 300kB, scale: auto", "854x480", true),
        ("target_size: 300kB", "1280x720", false), ("target_size: 300kB, scale: none", "1280x720", false),
        ("target_size: 80kB, scale: auto", "426x240", true),
        ("target_size: 300kB, size: 1000x1000, fit: contain, scale: auto", "540x540", true),
    ])
    func scale_reducesTheFrameUntilTheRateSuffices(_ keys: String, _ expected: String, _ isNoted: Bool) throws
    {
        let (output, messages, _) = try decide(video(keys))
        #expect(messages == [])
        #expect(try size(output) == expected)
        let notes = try #require(output).notes.filter { $0.contains("(`scale`)") }
        #expect(notes.count == (isNoted ? 1 : 0))
        guard keys == "target_size: 300kB, scale: auto" else { return }
        #expect(
            notes == [
                "video track 0 is scaled from 1280x720 to 854x480 (`scale`), because `target_size` allows fewer than 0.02 bits per pixel and frame"
            ])
        let settings = try #require(output?.tracks[0].encoding).settings
        #expect(settings.contains { $0.key == "size" && $0.value == "854x480" && $0.origin == .job })
        // The rate is that of the size, whatever the frame.
        #expect(try rate(output) == rate(decide(video("target_size: 300kB")).output))
    }

    /// The frame is the largest of the common ones whose rate suffices: `ScalePlanner` tries them in descending order.
    @Test func scale_takesTheLargestSufficientFrame() throws {
        #expect(zip(ScalePlanner.shorterSides, ScalePlanner.shorterSides.dropFirst()).allSatisfy { $0 > $1 })
        for size in stride(from: 200, through: 1000, by: 50) {
            let output = try #require(decide(video("target_size: \(size)kB, scale: auto")).output)
            let encoder = try #require(output.tracks[0].encoding?.encoder)
            let rate = Double(try self.rate(output))
            func bits(_ width: Int, _ height: Int) -> Double { rate / 25 / Double(width * height) }
            let sensible = ScalePlanner.sensibleBitsPerPixel
            #expect(bits(encoder.width, encoder.height) >= sensible, "\(size) kB")
            guard
                let larger = ([720] + ScalePlanner.shorterSides.filter { $0 < 720 }).last(where: {
                    $0 > encoder.height
                })
            else { continue }
            #expect(bits(larger * 16 / 9, larger) < sensible, "\(size) kB")
        }
    }

    /// An upright frame is reduced by its width; a size that no frame allows is an error.
    @Test func scale_hasLimits() throws {
        let upright = SourceDescription.file(.video(720, 1280))
        let (output, _, _) = try decide(video("target_size: 300kB, scale: auto"), description: upright)
        #expect(try size(output) == "480x854")
        let (none, messages, _) = try decide(video("target_size: 5kB, scale: auto"))
        #expect(none == nil && messages.count == 1 && messages[0].contains("can't be reached"), "\(messages)")
    }
}
