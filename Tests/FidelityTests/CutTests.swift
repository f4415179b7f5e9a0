import Foundation
import Diagnostics
import JobPlan
import JobRun
import LibAV
import TestSupport
import Testing

@testable import Media

@Suite struct CutTests {
    static let start = 0.713
    static let end = 2.341

    private func job(_ source: String, to output: String, cut: String, video: String = "copy: true") -> String
    {
        """
        version: 1
        jobs:
          cut:
            asset: \(source)
            range: { start: \(Self.start), end: \(Self.end) }
            cut: \(cut)
            tracks:
              - { video: first, \(video) }
              - { audio: first, copy: true }
            destination: \(output)
        """
    }

    private func planned(_ yaml: String) throws -> JobPlan {
        let (file, sink) = decode(yaml)
        let result = BatchPlanner.plan([try #require(file, "\(rendered(sink, yaml))")])
        return try #require(result.plan.jobs.first, "\(rendered(result.diagnostics, yaml))")
    }

    /// Returns the frames that the range shows: the frame at its start, and the following ones.
    private func shown(_ frames: [DecodedFrame]) -> (first: Int, list: ArraySlice<DecodedFrame>) {
        let first = frames.lastIndex { $0.time <= Self.start + 1e-6 } ?? 0
        let last = frames.lastIndex { $0.time < Self.end - 1e-6 } ?? frames.count - 1
        return (first, frames[first...last])
    }

    @Test(arguments: CutSource.all + CutSource.openH264) func smartCutIsExact(_ source: CutSource)
        async throws
    {
        let scratch = try Scratch()
        let path = try source.make(in: scratch)
        let output = scratch.file("cut.\(source.output)")
        let yaml = job(path, to: output, cut: "smart")
        guard case .smartCut(let cut) = try planned(yaml).outputs[0].tracks[0].action else {
            Issue.record("the plan has no smart cut")
            return
        }
        _ = try success(try await run(yaml, in: scratch.path))

        let ffmpegFile = FFmpegFile(output)
        let (all, result) = (try FFmpegFile(path).decodedFrames(), try ffmpegFile.decodedFrames())
        let (first, wanted) = shown(all)
        #expect(result.count == wanted.count)
        let tolerance = source.output == "mkv" ? 0.00101 : 1e-5
        for (have, want) in zip(result, wanted) {
            #expect(abs(have.time - max(0, want.time - Self.start)) < tolerance)
        }
        // At least one GOP is copied, and its frames equal the source's.
        let same = zip(result, wanted).map { $0.hash == $1.hash }
        #expect(cut.copiedFrames >= 12)
        #expect(same[cut.headFrames..<(cut.headFrames + cut.copiedFrames)].allSatisfy { $0 })
        #expect(
            try ffmpegFile.lowestPSNR(against: FFmpegFile(path), first: first, count: wanted.count, own: 0)
                > 38)
        #expect(try ffmpegFile.decodeErrors() == "")
        // Seeking to a boundary shows the same frame as playing up to it.
        for seam in [cut.headFrames, cut.headFrames + cut.copiedFrames - 1, result.count - 1] {
            let hash = try ffmpegFile.frameHash(at: result[seam].time)
            #expect(hash == result[seam].hash, "frame \(seam)")
        }
        // The audio isn't shifted.
        let (rate, audio) = (48_000, try ffmpegFile.audio(rate: 48_000))
        let original = Array(try FFmpegFile(path).audio(rate: rate).dropFirst(Int(Self.start * Double(rate))))
        let skipped = 4_800
        let found = lag(Array(original.dropFirst(skipped)), Array(audio.dropFirst(skipped)), reach: 96)
        #expect(abs(found.lag) <= 48)
        #expect(found.correlation > 0.95)
    }

    /// Cuts with wrong parameter sets fail the verification. Counts and times are correct; only decoded frames reveal
    /// the error.
    @Test func cutWithWrongParameterSetsFailsVerification() async throws {
        let scratch = try Scratch()
        let path = try CutSource.all[1].make(in: scratch)
        let plan = try planned(job(path, to: scratch.file("cut.mp4"), cut: "smart"))
        guard case .smartCut(let cut) = plan.outputs[0].tracks[0].action, let range = plan.inputs[0].range
        else {
            Issue.record("the plan has no smart cut")
            return
        }
        let asset = Asset(.file(path))
        let contents = try asset.loadSynchronously()
        let track = try #require(contents.tracks.first { $0.mediaType == .video })
        for isRight in [true, false] {
            let output = scratch.file("\(isRight).mp4")
            let reader = try AssetReader(asset: asset)
            reader.timeRange = range
            let writer = try AssetWriter(
                url: URL(fileURLWithPath: output), container: try #require(ContainerType.named("mp4")))
            let session = ReencodeSession(reader: reader, writer: writer)
            try session.addTrack(
                output: AssetReaderTrackOutput(track: track, settings: .smartCut(cut)),
                input: AssetWriterInput(
                    mediaType: .video,
                    settings: .passthrough(
                        isRight ? try cut.outputFormat(of: track) : track.format, timeBase: cut.tick)))
            guard case .completed = await session.run() else {
                Issue.record("the session failed")
                continue
            }
            let result = Asset(.file(output))
            let verifier = SmartCutVerifier(cut: cut, source: asset, track: track)
            // Invalid data may also cause a decoding error.
            var problem: String? = "it can't be decoded"
            do {
                problem = try verifier.problem(
                    output: result, track: try result.loadSynchronously().tracks[0])
            } catch {}
            #expect((problem == nil) == isRight, "\(problem ?? "")")
            // Source frames that were kept from creating the edges aren't decoded again.
            let part = cut.parts[0]
            let (kept, foreign) = (session.cutEvidence[0], CutEvidence())
            #expect(
                kept.frames(of: 0, at: [part.start, part.copyEnd])?.map(\.time) == [
                    part.start, part.copyEnd,
                ])
            let foreignFrame = try Frame()
            _ = try FilterGraph.generator(
                [FilterStep("color", ["size": "16x16"])], mediaType: .video
            ).receive(into: foreignFrame)
            for time in part.start..<part.copyStart { try foreign.keep(foreignFrame, of: 0, at: time) }
            for (evidence, fits) in [(kept, isRight), (foreign, false)] {
                let verifier = SmartCutVerifier(cut: cut, source: asset, track: track, evidence: evidence)
                let found = Result {
                    try verifier.problem(output: result, track: try result.loadSynchronously().tracks[0])
                }
                if case .success(nil) = found { #expect(fits) } else { #expect(!fits, "\(found)") }
            }
            let cancelled = SmartCutVerifier(cut: cut, source: asset, track: track) { true }
            #expect(throws: CancellationError.self) {
                try cancelled.problem(output: result, track: try result.loadSynchronously().tracks[0])
            }
        }
    }

    /// Frames that are pairs of fields, which current encoders don't create, in open GOPs. The range starts before, at
    /// and after a keyframe.
    @Test(arguments: [0.2, 0.48, 0.56]) func fieldPairsOfOpenGOPsAreCut(_ start: Double) async throws {
        let scratch = try Scratch()
        let path = scratch.file("fields.mkv")
        try FieldStream(count: 48).matroska().write(to: URL(fileURLWithPath: path))
        for output in ["mp4", "ts"] {
            let result = scratch.file("cut.\(output)")
            let yaml = """
                version: 1
                jobs:
                  cut:
                    asset: \(path)
                    range: { start: \(start), end: 1.68 }
                    cut: smart
                    tracks: [{ video: first, copy: true }]
                    destination: \(result)
                """
            guard case .smartCut(let cut) = try planned(yaml).outputs[0].tracks[0].action else {
                Issue.record("the plan has no smart cut")
                return
            }
            #expect(cut.opensGroups)
            _ = try success(try await run(yaml, in: scratch.path))
            let (have, all) = (try FFmpegFile(result).frameHashes(), try FFmpegFile(path).frameHashes())
            let wanted = Array(all[Int((start * 25).rounded())..<42])
            #expect(have.count == wanted.count)
            let same = zip(have, wanted).map { $0 == $1 }
            #expect(same[cut.headFrames...].prefix(cut.copiedFrames).allSatisfy { $0 })
            #expect(cut.copiedFrames >= 16)
            // ffmpeg reports the first frame that is decoded by fields as corrupt, and outputs it unchanged.
            if output != "ts" { #expect(try FFmpegFile(result).decodeErrors() == "") }
        }
    }

    /// After an open GOP and an IDR frame with other parameter sets, everything except the edges is copied.
    @Test func anotherSequenceAfterAnOpenGOPIsCopied() async throws {
        let scratch = try Scratch()
        let open = "open-gop=1:keyint=24:min-keyint=24:scenecut=0:b-adapt=0:bframes=3"
        for (index, other) in [open, "keyint=25:ref=2:bframes=0:cabac=0"].enumerated() {
            try ffmpeg(
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2.88", "-c:v", "libx264",
                "-preset", "veryfast", "-force_key_frames", "1.44", "-x264-params", other, "-muxdelay", "0",
                "-output_ts_offset", String(2.96 * Double(index)), scratch.file("\(index).ts"))
        }
        let path = scratch.file("both.ts")
        try ffmpeg("-i", "concat:\(scratch.file("0.ts"))|\(scratch.file("1.ts"))", "-c", "copy", path)
        let yaml = """
            version: 1
            jobs:
              cut:
                asset: \(path)
                range: { start: 0.5, end: 5 }
                cut: smart
                tracks: [{ video: first, copy: true }]
                destination: \(scratch.file("cut.mp4"))
            """
        guard case .smartCut(let cut) = try planned(yaml).outputs[0].tracks[0].action else {
            Issue.record("the plan has no smart cut")
            return
        }
        #expect(cut.copiedFrames >= 80)
        _ = try success(try await run(yaml, in: scratch.path))
        let (have, all) = (
            try FFmpegFile(scratch.file("cut.mp4")).frameHashes(), try FFmpegFile(path).frameHashes()
        )
        #expect(have.count == 113)
        let same = zip(have, all[12...]).map { $0 == $1 }
        #expect(same[cut.headFrames...].prefix(cut.copiedFrames).allSatisfy { $0 })
    }

    /// Without a frame from which decoding can start, `smart` is an error, and `smart-or-exact` re-encodes the range.
    @Test func impossibleSmartCutIsAnErrorOrReencoded() async throws {
        let scratch = try Scratch()
        let long = CutSource(name: "long", arguments: ["-c:v", "libx264", "-g", "100", "-bf", "3"])
        let path = try long.make(in: scratch)
        let yaml = job(path, to: scratch.file("cut.mp4"), cut: "smart")
        let (file, _) = decode(yaml)
        let refused = BatchPlanner.plan([try #require(file)])
        #expect(refused.diagnostics.diagnostics.map(\.rule) == [.copyRange])
        #expect(
            refused.diagnostics.diagnostics.first?.message.contains("no IDR frame or recovery point")
                == true)
        // After a seek, decoders would use the parameter sets of an edge for copied frames.
        let hevc = try #require(CutSource.all.first { $0.name == "hevc" }).make(in: scratch)
        let (stream, _) = decode(job(hevc, to: scratch.file("cut.ts"), cut: "smart"))
        let refusedToo = BatchPlanner.plan([try #require(stream)])
        #expect(refusedToo.diagnostics.diagnostics.map(\.rule) == [.copyRange])
        #expect(
            refusedToo.diagnostics.diagnostics.first?.message.contains("after a seek in ts") == true)
        // `encode` configures the edges; it doesn't permit re-encoding the whole range.
        let withEdges = job(
            path, to: scratch.file("cut.mp4"), cut: "smart", video: "copy: true, encode: { codec: h264 }")
        let stillRefused = BatchPlanner.plan([try #require(decode(withEdges).file)])
        #expect(stillRefused.diagnostics.diagnostics.map(\.rule) == [.copyRange])

        let output = scratch.file("exact.mp4")
        _ = try success(
            try await run(job(path, to: output, cut: "smart-or-exact"), in: scratch.path))
        let wanted = shown(try FFmpegFile(path).decodedFrames()).list
        let result = try FFmpegFile(output).decodedFrames()
        #expect(result.count == wanted.count)
        #expect(zip(result, wanted).allSatisfy { abs($0.time - max(0, $1.time - Self.start)) < 1e-5 })
    }

    /// With `copy`, `encode` configures the encoder of the edges, if it is compatible with the source.
    @Test func edgesAreEncodedWithTheSettingsOfTheJob() throws {
        let scratch = try Scratch()
        let path = try CutSource.all[1].make(in: scratch)
        let chosen = try planned(
            job(
                path, to: scratch.file("a.mp4"), cut: "smart",
                video: "copy: true, encode: { codec: h264, crf: 31, preset: ultrafast }"))
        guard case .smartCut(let cut) = chosen.outputs[0].tracks[0].action else {
            Issue.record("the plan has no smart cut")
            return
        }
        #expect(cut.encoder.options.contains { $0.key == "crf" && $0.value == "31" })

        let other = try planned(
            job(
                path, to: scratch.file("b.mp4"), cut: "smart-or-exact",
                video: "copy: true, encode: { codec: h264, size: x60 }"))
        guard case .encode(let encoding) = other.outputs[0].tracks[0].action else {
            Issue.record("another size can't be joined to copied frames")
            return
        }
        #expect(encoding.encoder.height == 60)

        // Settings that the edges can't use are noted.
        let noted = try planned(
            job(
                path, to: scratch.file("d.mp4"), cut: "smart",
                video: "copy: true, encode: { codec: h264, b_frames: 4, keyframe_interval: 1s }"))
        #expect(noted.outputs[0].notes.contains { $0.contains("`b_frames`, `keyframe_interval`") })

        // With `exact`, tracks that can't be copied are re-encoded.
        let exact = try planned(
            job(
                path, to: scratch.file("c.mp4"), cut: "exact",
                video: "copy: true, encode: { codec: h264, crf: 20 }"))
        guard case .encode = exact.outputs[0].tracks[0].action else {
            Issue.record("the range begins inside a GOP")
            return
        }
    }

    @Test func keyframeCutWidensTheRange() async throws {
        let scratch = try Scratch()
        for source in [CutSource.all[1], CutSource.all[10]] {
            let path = try source.make(in: scratch)
            let output = scratch.file("\(source.name)-cut.mp4")
            let yaml = job(path, to: output, cut: "keyframe")
            let plan = try planned(yaml)
            let (requested, actual) = (
                try #require(plan.inputs[0].requestedRange), try #require(plan.inputs[0].range)
            )
            #expect(
                requested
                    == TimeRange(start: MediaTime(value: 713, timescale: 1000), duration: requested.duration))
            #expect(actual.start <= requested.start && actual.end >= requested.end)
            #expect(abs(actual.start.seconds - 0.48) < 1e-9)
            _ = try success(try await run(yaml, in: scratch.path))
            let all = try FFmpegFile(path).decodedFrames()
            let wanted = all.filter {
                $0.time >= actual.start.seconds - 1e-6 && $0.time < actual.end.seconds - 1e-6
            }
            let result = try FFmpegFile(output).decodedFrames()
            #expect(result.map(\.hash) == wanted.map(\.hash))
            #expect(
                zip(result, wanted).allSatisfy { abs($0.time - ($1.time - actual.start.seconds)) < 1e-5 })
            #expect(try FFmpegFile(output).decodeErrors() == "")
        }
    }

    /// Cuts two seconds from real files that other tools cut incorrectly; one of them has a single GOP.
    @Test(
        .enabled(if: TestPaths.media != nil),
        arguments: ["bikes.mp4", "bigbuckbunny.mp4", "interlaced_crop.mp4"])
    func realFilesAreCutToTheFrame(_ name: String) async throws {
        let scratch = try Scratch()
        let path = try #require(TestPaths.media) + "/" + name
        let output = scratch.file("cut.mp4")
        _ = try success(
            try await run(
                """
                version: 1
                jobs:
                  cut:
                    asset: \(path)
                    range: { start: 1.1, end: 3.3 }
                    cut: \(name == "bigbuckbunny.mp4" ? "smart-or-exact" : "smart")
                    tracks: [{ video: first, copy: true }]
                    destination: \(output)
                """, in: scratch.path))
        let result = try FFmpegFile(output).decodedFrames()
        #expect(result.count == 56)
        #expect(try FFmpegFile(output).decodeErrors() == "")
        #expect(
            try FFmpegFile(output).lowestPSNR(against: FFmpegFile(path), first: 27, count: 56, own: 0) > 40)
    }
}
