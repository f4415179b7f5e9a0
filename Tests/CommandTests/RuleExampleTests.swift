import Foundation
import TestSupport
import Testing

/// An example of docs/rules.md whose message depends on other files, with the shell script that creates its sources.
struct RuleExample: Sendable, CustomTestStringConvertible {
    let rule: String
    var sources = ":"
    /// Script for the sources of the corrected example, if the fix replaces them.
    var correctedSources: String?
    /// Whether the corrected example is run; one of them would run for an hour.
    var runsCorrected = true
    var testDescription: String { rule }

    static let all = [
        RuleExample(rule: "file-unreadable"),
        RuleExample(rule: "include-cycle"),
        RuleExample(rule: "included-jobs"),
        RuleExample(rule: "unused-variable", sources: talk),
        RuleExample(rule: "codec-limit", sources: memo),
        RuleExample(rule: "target-size", sources: talk),
        RuleExample(rule: "target-quality", sources: talk),
        RuleExample(rule: "source-unreadable", sources: talk),
        RuleExample(rule: "no-match", sources: talk),
        RuleExample(
            rule: "no-such-track",
            sources: """
                ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=10 \
                -c:v libx264 -preset ultrafast in/silent.mp4
                """),
        RuleExample(rule: "leftover-track", sources: talk),
        // S_TEXT/ASS and S_HDMV/PGS have the same length.
        RuleExample(
            rule: "cannot-decode",
            sources: """
                printf '1\\n00:00:01,000 --> 00:00:02,000\\nHello\\n' > in/film.srt
                ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=10 -i in/film.srt \
                -c:v libx264 -preset ultrafast -write_crc32 0 in/film.mkv
                LC_ALL=C sed -i 's,S_TEXT/ASS,S_HDMV/PGS,' in/film.mkv
                """),
        // A decoding time of 12,288 ticks instead of 12,800.
        RuleExample(
            rule: "source-order",
            sources: """
                ffmpeg -v error -f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -c:v libx264 -bf 2 -g 25 \
                -movflags frag_keyframe+empty_moov in/camera.mp4
                at=$(grep -abo tfdt in/camera.mp4 | tail -n 1 | cut -d : -f 1)
                printf '\\000\\000\\000\\000\\000\\000\\060\\000' |
                dd of=in/camera.mp4 bs=1 seek=$((at + 8)) conv=notrunc status=none
                """),
        RuleExample(
            rule: "variable-rate",
            sources: """
                ffmpeg -v error -f lavfi -i testsrc2=s=64x48:r=1:d=3 \
                -vf "settb=1/100,setpts='if(eq(N,0),0,if(eq(N,1),10,60))'" -fps_mode passthrough \
                -enc_time_base 1/100 -final_delay 200 in/screen.gif
                """),
        RuleExample(rule: "copy-range", sources: talk),
        RuleExample(rule: "destination-exists", sources: talk + "\ncp in/talk.mp4 out/talk.mkv"),
        RuleExample(rule: "destination-is-source", sources: talk),
        RuleExample(rule: "destination-collision", sources: talk),
        RuleExample(rule: "destination-unwritable", sources: talk),
        RuleExample(rule: "pattern-takes-outputs", sources: talk),
        RuleExample(rule: "job-failed", sources: truncatedMemo),
        RuleExample(rule: "job-warning", sources: truncatedMemo, correctedSources: memo),
        RuleExample(rule: "job-timeout", runsCorrected: false),
        RuleExample(
            rule: "expectation-failed",
            sources: """
                ffmpeg -v error -f lavfi -i color=black:size=160x90:rate=25:duration=3 \
                -f lavfi -i testsrc2=size=160x90:rate=25:duration=3 -filter_complex concat \
                -c:v libx264 -preset ultrafast -g 25 in/talk.mp4
                """),
        RuleExample(rule: "expectation-impossible", sources: talk),
    ]

    /// A video with keyframes 2 s apart, and audio.
    private static let talk = """
        ffmpeg -v error -f lavfi -i testsrc2=size=320x180:rate=25:duration=10 -f lavfi -i sine=duration=10 \
        -c:v libx264 -preset ultrafast -g 50 -c:a aac in/talk.mp4
        """
    private static let memo =
        "ffmpeg -v error -f lavfi -i sine=duration=10:sample_rate=8000 -bitexact in/memo.wav"
    /// The file ends within a packet, for the packet sizes of all FFmpeg versions.
    private static let truncatedMemo = memo + "\ntruncate -s 78068 in/memo.wav"
}

@Suite struct RuleExampleTests {
    @Test func everyExampleIsListed() throws {
        let needed = try RulePage.all().filter { !$0.isOfFileAlone }.map(\.id)
        #expect(Set(needed).subtracting(RulePage.unverified) == Set(RuleExample.all.map(\.rule)))
    }

    @Test(arguments: RuleExample.all) func documentedMessagesArePrinted(_ example: RuleExample) throws {
        let pages = try RulePage.all()
        let page = try #require(pages.first { $0.id == example.rule })
        var files = page.files.merging(["jobs.yaml": page.failing]) { $1 }
        let failing = try result(of: page.call, files: files, sources: example.sources)
        if page.call.first == "run" {
            #expect(failing.printed.contains(page.message), "\(failing.printed)")
        } else {
            #expect(failing.printed == page.message)
        }
        guard example.runsCorrected else { return }
        if let corrected = page.corrected { files[corrected.name] = corrected.text }
        let corrected = try result(
            of: page.correctedCall ?? page.call, files: files,
            sources: example.correctedSources ?? example.sources)
        #expect(corrected.status == 0, "\(corrected.printed)")
        #expect(
            !corrected.printed.contains("[\(page.id)]") && !corrected.printed.contains(page.message),
            "\(corrected.printed)")
    }

    /// Runs `tandem` in a new folder, whose path is replaced in the returned text as in docs/rules.md.
    private func result(
        of call: [String], files: [String: String], sources: String
    ) throws -> (status: Int32, printed: String) {
        let scratch = try Scratch()
        for folder in ["in", "out"] {
            try FileManager.default.createDirectory(
                atPath: scratch.file(folder), withIntermediateDirectories: true)
        }
        for (name, text) in files { try scratch.write(text, to: name) }
        let created = try program("/bin/sh", ["-e", "-c", sources], directory: scratch.path)
        guard created.status == 0 else { throw ProgramError(message: created.errors) }
        let result = try program(
            TestPaths.tandem, call, directory: scratch.path, environment: ["SWIFT_BACKTRACE": "enable=no"])
        return (result.status, result.errors.replacingOccurrences(of: scratch.path, with: "/srv/media"))
    }
}
