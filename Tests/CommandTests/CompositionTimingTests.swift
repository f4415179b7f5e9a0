import Foundation
import JobRun
import Media
import TestSupport
import Testing

/// Tests variable frame rates, start offsets, volumes and speeds of clips.
@Suite struct CompositionTimingTests: Composing {
    /// Creates an animation of three frames with durations of 0.1, 0.5 and 2 s.
    private func animation(in scratch: Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1:d=3", "-vf",
            "settb=1/100,setpts='if(eq(N,0),0,if(eq(N,1),10,60))'", "-fps_mode", "passthrough",
            "-enc_time_base",
            "1/100", "-final_delay", "200", scratch.file("delays.gif"))
    }

    @Test func variableRateClipsShowEveryFrame() throws {
        let scratch = try Scratch()
        try animation(in: scratch)
        let video = "[ { video: first, encode: { codec: ffv1 } } ]"
        try scratch.write(job("[ ./delays.gif, ./delays.gif ]", tracks: video), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 0)
        #expect(plan.text.contains("64x48, 10 frames/s"), "\(plan.text)")
        #expect(plan.errors.contains("warning[variable-rate]"), "\(plan.errors)")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let hashes = try FFmpegFile(scratch.file("o.mkv")).frameHashes()
        #expect(hashes.count == 52)
        // Counts the consecutive output frames that show each source frame.
        var runs: [Int] = []
        for (index, hash) in hashes.enumerated() {
            if index > 0, hash == hashes[index - 1] { runs[runs.count - 1] += 1 } else { runs.append(1) }
        }
        #expect(runs == [1, 5, 20, 1, 5, 20])
    }

    /// Before a clip's first frame, gaps of up to half a second show that frame, and longer gaps are black; `lead_in`
    /// overrides this.
    @Test(arguments: [
        (0.3, "", 0.0), (0.3, "lead_in: black", 0.3), (0.8, "", 0.8), (0.8, "lead_in: hold", 0),
    ])
    func clipsThatStartLateHoldTheirFirstFrameOrAreBlack(_ late: Double, _ key: String, _ black: Double)
        throws
    {
        let scratch = try folder()
        try ffmpeg(
            "-itsoffset", "\(late)", "-i", scratch.file("b.mkv"), "-i", scratch.file("a.mkv"), "-map", "0:v",
            "-map", "1:a",
            "-c", "copy", scratch.file("late.mkv"))
        let clip = key.isEmpty ? "./late.mkv" : "{ asset: ./late.mkv, \(key) }"
        let output = try rendered("[ ./a.mkv, \(clip) ]", in: scratch)
        let hashes = try output.frameHashes()
        let b = try FFmpegFile(scratch.file("b.mkv")).frameHashes()
        let held = Int((late * 25).rounded())
        #expect(hashes.count >= 50 + held + 50)
        let lead = Array(hashes[50..<(50 + held)])
        #expect(Set(lead).count == 1)
        #expect((lead.first == b.first) == (black == 0))
        #expect(Array(hashes[(50 + held)..<(100 + held)]) == b)
    }

    @Test(arguments: [-3, -45, -57, 12]) func volumesInDecibelsAreExact(_ decibels: Int) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.1*sin(2*PI*t*400):d=1:s=48000", "-c:a", "pcm_f32le",
            scratch.file("tone.wav"))
        let audio = "[ { audio: first, encode: { codec: pcm_f32le } } ]"
        try scratch.write(
            job("[ { asset: ./tone.wav, volume: \(decibels)dB } ]", to: "o.wav", tracks: audio),
            to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        func level(_ name: String) throws -> Double {
            let samples = try FFmpegFile(scratch.file(name)).samples(channels: 1, rate: 48_000)
            return 10 * log10(samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count))
        }
        #expect(abs(try level("o.wav") - level("tone.wav") - Double(decibels)) < 0.001)
    }

    /// Transients are at their scaled times, and the audio ends at the scaled end.
    @Test(.enabled(if: TempoStretcher.isPrecise), arguments: [0.25, 0.5, 0.8, 1.25, 2, 4])
    func speedKeepsTransientsAtTheirTimes(_ speed: Double) throws {
        let scratch = try Scratch()
        // Twelve clicks 0.31 s apart, and a tone.
        try ffmpeg(
            "-f", "lavfi", "-i",
            "aevalsrc='if(lt(mod(t,0.31),0.002),0.8*sin(2*PI*3000*mod(t,0.31)),0)':d=3.72:s=48000", "-c:a",
            "pcm_f32le",
            scratch.file("clicks.wav"))
        try ffmpeg(
            "-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*t*440):d=2:s=48000", "-c:a", "pcm_f32le",
            scratch.file("tone.wav"))
        func rendered(_ name: String) throws -> [Float] {
            let audio = "[ { audio: first, encode: { codec: pcm_f32le } } ]"
            try scratch.write(
                job("[ { asset: ./\(name).wav, speed: \(speed) } ]", to: "o.wav", tracks: audio),
                to: "jobs.yaml")
            let run = try tandem("run", "jobs.yaml", in: scratch)
            try #require(run.status == 0, "\(run.errors)")
            return try FFmpegFile(scratch.file("o.wav")).samples(channels: 1, rate: 48_000)
        }
        let clicks = try rendered("clicks")
        #expect(abs(Double(clicks.count) - 3.72 * 48_000 / speed) <= 1)
        for number in 1..<12 {
            let expected = Double(number) * 0.31 * 48_000 / speed
            let reach = 0.1 * 48_000 / max(1, speed)
            let near = clicks[Int(expected - reach)..<min(clicks.count, Int(expected + reach))]
            let peak = near.map(abs).max() ?? 0
            #expect(peak > 0.05, "click \(number)")
            let onset = near.firstIndex { abs($0) >= peak / 2 } ?? 0
            let late = (Double(onset) - expected) / 48
            #expect(abs(late) < (speed > 2 ? 13 : speed < 0.5 ? 6 : 4), "click \(number): \(late) ms")
        }
        let tone = try rendered("tone")
        func level(_ part: ArraySlice<Float>) -> Float {
            (part.reduce(0) { $0 + $1 * $1 } / Float(max(1, part.count))).squareRoot() / 0.3535
        }
        #expect(level(tone[...]) > 0.9 && level(tone[...]) < 1.1)
        #expect(level(tone.suffix(960)) > 0.4, "\(level(tone.suffix(960)))")
    }
}
