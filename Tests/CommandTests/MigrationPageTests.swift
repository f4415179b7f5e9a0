import Foundation
import TestSupport
import Testing

/// Runs the job files and ffmpeg commands of `docs/migrating.md`. A command writes files whose names begin with `old`, and the job
/// file beside it the same files with `new`: both have tracks of the same codecs and sizes, and the same duration.
@Suite struct MigrationPageTests {
    /// A job file, with the ffmpeg commands that it replaces.
    private struct Entry {
        var title: String
        var commands: [String]
        var job: String
    }

    private static func entries() throws -> [Entry] {
        let page = try String(contentsOfFile: TestPaths.repository + "/docs/migrating.md", encoding: .utf8)
        var entries: [Entry] = []
        var (title, commands): (String, [String]) = ("", [])
        var block: (kind: String, lines: [String])?
        for line in page.components(separatedBy: "\n") {
            guard let (kind, lines) = block else {
                if line.hasPrefix("```") { block = (String(line.dropFirst(3)), []) }
                if line.hasPrefix("#") { (title, commands) = (line, []) }
                continue
            }
            guard line == "```" else {
                block?.lines.append(line)
                continue
            }
            switch kind {
            case "console": commands = lines.map { String($0.dropFirst(2)) }
            case "yaml":
                entries.append(
                    Entry(title: title, commands: commands, job: lines.joined(separator: "\n") + "\n"))
                commands = []
            default: break
            }
            block = nil
        }
        return entries
    }

    /// Sources of the page: a talk of 8 s, a shorter video of another size and rate, a film with two languages and subtitles,
    /// a logo, numbered images, and a folder.
    private static let sources = """
        ffmpeg -v error -f lavfi -i testsrc2=s=320x180:r=25:d=8 -f lavfi -i \
        'aevalsrc=0.2*sin(2*PI*t*440)|0.2*sin(2*PI*t*550):d=8:s=48000' \
        -c:v libx264 -preset ultrafast -g 50 -pix_fmt yuv420p -c:a aac talk.mp4
        ffmpeg -v error -f lavfi -i testsrc2=s=160x120:r=30:d=2 -f lavfi -i sine=d=2:f=300:r=48000 \
        -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac -ac 2 outro.mp4
        printf '1\\n00:00:01,000 --> 00:00:02,500\\nHello\\n\\n2\\n00:00:03,000 --> 00:00:04,000\\nAgain\\n' > captions.srt
        ffmpeg -v error -i talk.mp4 -i captions.srt -map 0:v -map 0:a -map 0:a -map 1 -c copy -c:s srt \
        -metadata:s:a:0 language=eng -metadata:s:a:1 language=fra -metadata:s:s:0 language=eng film.mkv
        ffmpeg -v error -f lavfi -i color=red:s=40x20:d=0.04 -frames:v 1 logo.png
        ffmpeg -v error -f lavfi -i testsrc2=s=160x120:r=12:d=2 frame-%03d.png
        mkdir in && cp outro.mp4 in/one.mp4 && cp outro.mp4 in/two.mp4
        """

    private struct Description: Decodable {
        struct Stream: Decodable {
            var codec: String
            var width: Int?
            var height: Int?

            enum CodingKeys: String, CodingKey {
                case codec = "codec_name"
                case width, height
            }
        }
        struct Format: Decodable {
            var duration: String?
        }
        var streams: [Stream]
        var format: Format

        var tracks: [String] {
            streams.map { "\($0.codec) \($0.width ?? 0)x\($0.height ?? 0)" }.sorted()
        }
        var duration: Double { format.duration.flatMap { Double($0) } ?? 0 }
    }

    private func description(_ path: String) throws -> Description {
        let probe = try program(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "stream=codec_name,width,height:format=duration", "-of",
                "json", path,
            ])
        return try JSONDecoder().decode(Description.self, from: probe.output)
    }

    @Test func jobsDoWhatTheCommandsDo() throws {
        let entries = try Self.entries()
        #expect(entries.flatMap(\.commands).count >= 20)
        let created = try Scratch()
        let made = try program("/bin/bash", ["-e", "-c", Self.sources], directory: created.path)
        try #require(made.status == 0, "\(made.errors)")
        for entry in entries {
            let scratch = try Scratch()
            let copied = try program("/bin/cp", ["-r", created.path + "/.", scratch.path])
            try #require(copied.status == 0, "\(copied.errors)")
            try scratch.write(entry.job, to: "jobs.yaml")
            let run = try tandem("run", "jobs.yaml", in: scratch)
            #expect(run.status == 0, "\(entry.title): \(run.errors)")
            if entry.commands.isEmpty { continue }
            let script =
                "ffmpeg() { command ffmpeg -nostdin -v error \"$@\"; }\n"
                + entry.commands.joined(separator: "\n")
            let done = try program("/bin/bash", ["-e", "-c", script], directory: scratch.path)
            #expect(done.status == 0, "\(entry.title): \(done.errors)")
            for old in scratch.contents where old.hasPrefix("old") && !old.hasSuffix(".ts") {
                let new = old == "old.m3u8" ? "new/master.m3u8" : "new" + old.dropFirst(3)
                let (expected, found) = try (description(scratch.file(old)), description(scratch.file(new)))
                #expect(found.tracks == expected.tracks && !found.tracks.isEmpty, "\(entry.title): \(new)")
                #expect(abs(found.duration - expected.duration) < 0.1, "\(entry.title): \(new)")
            }
        }
    }
}
