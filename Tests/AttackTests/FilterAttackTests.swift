import Foundation
import TestSupport
import Testing

/// Tests texts in a job file that try to make libavfilter or an encoder load code, write files or loop forever. They
/// are passed to `validate`, which CI runs on pull requests.
@Suite struct FilterAttackTests {
    /// Builds a library that creates a file when it is loaded.
    private func library(in scratch: Scratch) throws -> String {
        let source = try scratch.write(
            "#include <fcntl.h>\n__attribute__((constructor)) static void f(void) { creat(\"\(scratch.file("loaded"))\", 0600); }\n",
            to: "evil.c")
        let built = try program("cc", ["-shared", "-fPIC", "-o", scratch.file("evil.so"), source])
        #expect(built.status == 0, "\(built.errors)")
        return scratch.file("evil.so")
    }

    /// Tests each string as `filters` of audio and video, with each command that reads a job file.
    @Test func filterChainsLoadAndOpenNothing() throws {
        let scratch = try folderWithSource()
        let evil = try library(in: scratch)
        let victim = try scratch.write("mine", to: "victim")
        #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
        let chains = [
            "afftdn=bn='\\',ladspa=file=\(evil):plugin=x", "afftdn=bn='\\',lv2=plugin=\(evil)",
            "hue=h='\\',movie=\(victim)", "hue=h='\\',drawtext=textfile=\(victim):text=x",
            "curves=p\\lot=\(victim)", "curves=ps\\file=\(victim)", "curves='plot'=\(victim)",
            "curves=plot=\(victim)", "curves=psfile=\(scratch.file("pipe"))",
            "curves=none:0/0:0/0:0/0:0/0:0/0:\(scratch.file("pipe"))", "ladspa=\(evil):x",
            "ladspa@a=\(evil)", "null,ladspa=f='\(evil)'", "sws_flags=bicubic;ladspa=\(evil)",
            "[in]ladspa=\(evil)[out]", "frei0r=\(evil)", "lut3d=file=\(victim)", "arnndn=m=\(victim)",
            "afir=\(victim)", "sofalizer=sofa=\(victim)", "loudnorm=stats_file=\(victim)",
            "signature=filename=\(victim)", "vidstabdetect=result=\(victim)", "ssim=f=\(victim)",
            "psnr=\(victim)", "deshake=filename=\(victim)", "metadata=mode=print:file=\(victim)",
            "drmeter=1,ametadata=mode=print:file=\(victim)", "zmq", "azmq=bind_address=tcp\\://*\\:5555",
            "sendcmd=f=\(victim)", "asendcmd=filename=\(victim)", "subtitles=\(victim)", "ass=\(victim)",
            "dnn_processing=model=\(evil)", "libvmaf=log_path=\(victim)", "program_opencl=\(victim)",
        ]
        for chain in chains {
            for kind in ["video: first, encode: { codec: h264", "audio: first, encode: { codec: aac"] {
                try scratch.write(
                    "version: 1\njobs: { one: { asset: ./a.mp4, tracks: [ { \(kind), filters: \(quoted(chain)) } } ], destination: out.mkv } }\n",
                    to: "jobs.yaml")
                for command in [["validate"], ["plan", "--root", "."], ["run", "--root", "."]] {
                    let result = try tandem(command + ["jobs.yaml"], in: scratch)
                    #expect(result.status == 3, "\(chain): \(command): \(result.status) \(result.errors)")
                    #expect(result.errors.contains("jobs.yaml:2:"), "\(chain): \(result.errors)")
                }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.file("loaded")))
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        #expect(!scratch.contents.contains("out.mkv"))
    }

    @Test(arguments: [
        ("h264", "x264opts: crf=50"), ("h264", "x264opts: 'pass=1:stats=victim'"),
        ("h264", "x264opts: 'cqm=victim'"), ("h264", "x264-params: 'cqm=victim'"),
        ("h264", "x264-params: 'cqmfile=victim'"), ("h264", "x264-params: 'dump-yuv=victim'"),
        ("h264", "x264-params: 'dump_yuv=victim'"), ("h264", "x264-params: 'ref=2:\\dump-yuv=victim'"),
        ("h264", "x264-params: \"ref='2:dump-yuv=victim'\""), ("h264", "x264-params: 'opencl=1'"),
        ("h264", "x264-params: 'opencl-clbin=victim'"), ("h264", "x264-params: 'qpfile=victim'"),
        ("h264", "x264-params: 'tcfile-in=victim'"), ("h264", "x264-params: 'zones=0,1,cqmfile=victim'"),
        ("h264", "stats: victim"), ("h264", "passlogfile: victim"), ("h264", "aq-mode: 'while(1,1)'"),
        ("h264", "aq-strength: 'while(1,1)'"), ("hevc", "x265-params: 'csv=victim'"),
        ("hevc", "x265-params: 'csv-log-level=2:csv=victim'"), ("hevc", "x265-params: 'recon=victim'"),
        ("hevc", "x265-params: 'analysis-save=victim'"), ("hevc", "x265-params: 'scaling-list=victim'"),
        ("hevc", "x265-params: 'lambda-file=victim'"), ("hevc", "x265-params: 'qpfile=victim'"),
        ("hevc", "x265-params: 'dhdr10-info=victim'"), ("hevc", "x265-params: 'zonefile=victim'"),
        ("hevc", "x265-params: 'dolby-vision-rpu=victim'"), ("hevc", "x265-params: 'stats=victim:pass=1'"),
        ("av1", "svtav1-params: 'stat-file=victim'"), ("av1", "svtav1-params: 'errlog=victim'"),
        ("av1", "svtav1-params: 'stats=victim:pass=1'"), ("av1", "svtav1-params: 'qpfile=victim'"),
        ("mjpeg", "rc_eq: 'while(1,1)'"), ("ffv1", "coder: 'while(1,1)'"),
        ("vp9", "ts-parameters: 'x=victim'"), ("vp9", "cpu-used: 'while(1,1)'"),
    ]) func encoderOptionsOpenNothing(_ codec: String, _ option: String) throws {
        let scratch = try folderWithSource()
        try scratch.write("mine", to: "victim")
        try scratch.write(jobFile(video: "codec: \(codec), options: { \(option) }"), to: "jobs.yaml")
        for command in ["validate", "plan", "run"] {
            let result = try tandem(command, "jobs.yaml", in: scratch)
            #expect(
                result.status == 3 && result.errors.contains("error[encoder-option]")
                    || result.errors.contains("error[conflicting-keys]"), "\(result.status) \(result.errors)")
        }
        #expect(try String(contentsOfFile: scratch.file("victim"), encoding: .utf8) == "mine")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml", "victim"])
    }

    /// Tests values of SVT-AV1 parameters that have no bounds in the model: the dry open rejects invalid ones before a
    /// run.
    @Test(arguments: [
        "tile-columns=99", "hierarchical-levels=-1", "film-grain=51", "superres-mode=9", "lookahead=500",
    ]) func parameterListsAreValidatedByTheDryOpen(_ list: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(
            jobFile(video: "codec: av1, options: { svtav1-params: \"\(list)\" }"), to: "jobs.yaml")
        let result = try tandem("validate", "jobs.yaml", in: scratch)
        #expect(result.status == 3 && result.errors.contains("error[codec-setting]"), "\(result.errors)")
    }

    /// Tests that expressions that never terminate are rejected without evaluation. Other expressions are evaluated in
    /// a worker with a time limit.
    @Test(arguments: [
        "lut=y='while(1,1)'", "scale=w='while(1,1)':h=2", "scale='while(1,1)':2", "hue=h='while(1,1)'",
        "setsar='while(1,1)'", "eq=contrast=while(1\\,1)", "crop=w='while (1,1)'", "rotate='while(1,1)'",
        "pad=w=while(1\\,1)", "gblur=sigma=while(1\\,1)", "fade=st=while(1\\,1)",
        "hue=enable='while(1,1)'", "lut=y='taylor(taylor(taylor(1,1),1),1)'", "lut=y='root(root(x,9),9)'",
        "perspective=x0='while(1,1)'", "vignette='while(1,1)'", "drawbox=x='while(1,1)'",
        "colorlevels=rimin='while(1,1)'", "scale=iw*2:ih:interl=1", "delogo=x='while(1,1)':y=1:w=1:h=1",
    ]) func endlessExpressionsAreRejected(_ chain: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, filters: \(quoted(chain))"), to: "jobs.yaml")
        for command in ["validate", "plan", "run"] {
            let result = try program(
                "timeout", ["20", TestPaths.tandem, command, "jobs.yaml"], directory: scratch.path)
            #expect(result.status == 3 && result.errors.contains("error[filter-chain]"), "\(result.errors)")
        }
    }

    /// Tests that a dry open that hangs is killed and reported as an error at its line.
    @Test func hangingDryOpensAreErrors() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, filters: hflip"), to: "jobs.yaml")
        for command in ["validate", "plan", "run"] {
            let result = try tandem(
                command, "jobs.yaml", in: scratch,
                environment: ["TANDEM_WORKER_FAULTS": "trial:stall,trial:stall"])
            #expect(
                result.status == 3 && result.errors.contains("it made no progress for"), "\(result.errors)")
            #expect(result.errors.contains("jobs.yaml:5:"), "\(result.errors)")
        }
    }

    /// Tests that allowed chains have the same result as in ffmpeg, so that no option is lost.
    @Test(arguments: [
        ("hue=s=0", "scale=out_range=tv,hue=s=0"),
        ("eq=brightness=0.1:contrast=1.2", "eq=brightness=0.1:contrast=1.2"),
        ("lutyuv=y='if(gt(val,128),255,0)'", "lutyuv=y='if(gt(val,128),255,0)'"),
        ("crop=64:48:2:2", "crop=64:48:2:2"), ("curves=r='0/0 0.5/0.6 1/1'", "curves=r='0/0 0.5/0.6 1/1'"),
        ("negate,vflip", "negate,vflip"),
        (
            "drawbox=x=10:y=10:w=20:h=20:color=red@0.5:t=fill",
            "drawbox=x=10:y=10:w=20:h=20:color=red@0.5:t=fill"
        ),
        (
            "colorchannelmixer=.3:.4:.3:0:.3:.4:.3:0:.3:.4:.3",
            "colorchannelmixer=.3:.4:.3:0:.3:.4:.3:0:.3:.4:.3"
        ),
        ("boxblur=2:1:cr=0:ar=0", "boxblur=2:1:cr=0:ar=0"),
        ("gblur=sigma=2:enable='lt(t,0.2)'", "gblur=sigma=2:enable='lt(t,0.2)'"),
    ]) func chainsHaveTheSameResultAsInFFmpeg(_ chain: String, _ reference: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: ffv1, filters: \(quoted(chain))"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
        func hashes(_ file: String, _ filter: [String]) throws -> [Substring] {
            let decoded = try program(
                "ffmpeg",
                ["-v", "error", "-sws_flags", "bicubic", "-i", scratch.file(file)] + filter
                    + ["-pix_fmt", "yuv420p", "-map", "0:v", "-f", "framemd5", "-"])
            return decoded.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
                $0.split(separator: ",").last
            }
        }
        let (own, expected) = (try hashes("out.mkv", []), try hashes("a.mp4", ["-vf", reference]))
        #expect(own.count == 13 || own.count == 12)
        #expect(own == expected)
    }
}
