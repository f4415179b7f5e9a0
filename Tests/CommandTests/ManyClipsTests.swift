import Foundation
import TestSupport
import Testing

/// Tests compositions of very many clips, memory use with many files, and compositions that mix HDR and SDR.
@Suite struct ManyClipsTests: Composing {
    /// Returns the peak memory of a run without workers, in MiB.
    private func peak(of composition: String, in scratch: Scratch) throws -> Double {
        try scratch.write(job(composition), to: "jobs.yaml")
        return try peak("none", in: scratch)
    }

    /// Returns the peak memory of a run of `jobs.yaml` or of one of its workers, in MiB.
    private func peak(_ isolation: String, in scratch: Scratch) throws -> Double {
        let script =
            "import resource, subprocess, sys\nr = subprocess.run([sys.argv[1], 'run', '--isolation', '\(isolation)', 'jobs.yaml'], capture_output=True)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 if r.returncode == 0 else r.stderr.decode())"
        let result = try program(
            "/usr/bin/python3", ["-c", script, TestPaths.tandem], directory: scratch.path)
        return try #require(
            Double(result.text.trimmingCharacters(in: .whitespacesAndNewlines)),
            "\(result.text)\(result.errors)")
    }

    /// Sources are opened when needed and closed afterwards: a thousand clips use about as much memory as a hundred,
    /// and no frame is missing.
    @Test func memoryDoesntGrowWithTheNumberOfClips() throws {
        let scratch = try folder()
        func clips(_ count: Int) -> String {
            let all = (0..<count).map {
                "{ asset: ./\(["a", "b", "c"][$0 % 3]).mkv, range: { start: \(Double($0 % 10) / 10)s, duration: 0.2s } }"
            }
            return "[ \(all.joined(separator: ", ")) ]"
        }
        let few = try peak(of: clips(100), in: scratch)
        let many = try peak(of: clips(1000), in: scratch)
        print("measured: 100 clips \(few) MiB, 1000 clips \(many) MiB")
        #expect(many < few + 60, "\(few) \(many)")
        let ffmpegFile = FFmpegFile(scratch.file("o.mkv"))
        #expect(try ffmpegFile.frames().times.count == 5000)
        #expect(try ffmpegFile.samples(channels: 1, rate: 48_000).count == 200 * 48_000)
    }

    /// A worker releases the frame buffers of finished jobs: posters of four hundred files use about as much memory as
    /// those of forty.
    @Test func memoryDoesntGrowWithTheNumberOfPosters() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=d=0.2:r=25:s=1280x720", "-c:v", "libx264", "-preset", "ultrafast",
            scratch.file("0.mp4"))
        func posters(_ count: Int) throws -> Double {
            let folder = scratch.file("clips\(count)")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for index in 0..<count {
                try FileManager.default.copyItem(
                    atPath: scratch.file("0.mp4"), toPath: "\(folder)/\(index).mp4")
            }
            try scratch.write(
                "version: 1\njobs: { it: { asset: { path: \"clips\(count)/*.mp4\" }, images: { at: 0s }, destination: \"out\(count)/${asset.stem}.jpg\" } }\n",
                to: "jobs.yaml")
            return try peak("worker", in: scratch)
        }
        let (few, many) = (try posters(40), try posters(400))
        print("measured: 40 posters \(few) MiB, 400 posters \(many) MiB")
        #expect(many < few + 60, "\(few) \(many)")
    }

    /// An HDR clip is tone-mapped to the SDR format of the first clip, as by ffmpeg's filters, and the plan reports it.
    @Test func hdrClipsAreToneMappedToTheFirstClip() throws {
        let scratch = try folder()
        try ffmpeg(
            "-f", "lavfi", "-i",
            "testsrc2=d=1:r=25:s=128x96,format=yuv420p10le,setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc:range=tv",
            "-c:v", "ffv1", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace",
            "bt2020nc",
            "-color_range", "tv", scratch.file("h.mkv"))
        try ffmpeg(
            "-i", scratch.file("a.mkv"), "-an", "-c:v", "ffv1", "-vf",
            "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709:range=tv", "-color_primaries",
            "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv",
            scratch.file("s.mkv"))
        try scratch.write(
            job(
                "[ ./s.mkv, ./h.mkv ]",
                tracks: "[ { video: first, encode: { codec: ffv1 } } ]"), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("h.mkv, 0 s to 1 s; tone-mapped"), "\(plan.text)")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        try #require(run.status == 0, "\(run.errors)")
        try ffmpeg(
            "-i", scratch.file("h.mkv"), "-vf",
            "zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=709,tonemap=hable:desat=0,zscale=transfer=709:matrix=709:range=limited,format=yuv420p",
            "-c:v", "ffv1", scratch.file("r.mkv"))
        let ffmpegFile = FFmpegFile(scratch.file("o.mkv"))
        #expect(try ffmpegFile.frames().times.count == 75)
        let psnr = try ffmpegFile.lowestPSNR(
            against: FFmpegFile(scratch.file("r.mkv")), first: 0, count: 25, own: 50)
        #expect(psnr > 40, "\(psnr)")
        let color = try ffmpegFile.stream("v:0", "color_transfer,color_primaries,color_space")
        #expect(color["color_transfer"] as? String == "bt709", "\(color)")
    }
}
