import Diagnostics
import Foundation
@testable import JobPlan
import JobRun
import JobSpec
@testable import LibAV
import Media
import TestSupport
import Testing

/// Tests large numbers of chapters and tags, of any length, with and without titles.
@Suite struct ManyChaptersTests {
    private func write(_ file: MatroskaFile, in scratch: Scratch) throws {
        try Data(file.bytes).write(to: URL(filePath: scratch.file("s.mka")))
    }

    private func job(_ action: String, to target: String, more: String = "") -> String {
        "version: 1\njobs:\n  it: { asset: ./s.mka, tracks: [ { audio: first, \(action) } ]\(more), destination: \(target) }\n"
    }

    private func plan(_ yaml: String, in scratch: Scratch) throws -> (output: OutputPlan?, messages: [String])
    {
        let (file, _) = decode(yaml, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        return (result.plan.jobs.first?.outputs.first, result.diagnostics.diagnostics.map(\.message))
    }

    private static func chapters(_ count: Int, lasting nanoseconds: Int) -> [MatroskaFile.Chapter] {
        (0..<count).map { ($0 * nanoseconds, ($0 + 1) * nanoseconds, "c\($0)") }
    }

    /// Chapters without a title keep their times: the chapter track of mp4 has a sample for each chapter.
    @Test(arguments: [("mp4", "aac"), ("mov", "aac"), ("m4a", "aac"), ("mkv", "flac"), ("ogg", "opus")])
    func untitledChapters_keepTheirTimes(_ container: String, _ codec: String) async throws {
        let scratch = try Scratch()
        var file = MatroskaFile()
        file.chapters = [
            (0, 200_000_000, "A"), (200_000_000, 500_000_000, nil), (500_000_000, 1_000_000_000, "C"),
        ]
        try write(file, in: scratch)
        _ = try success(
            try await run(job("encode: { codec: \(codec) }", to: "o.\(container)"), in: scratch.path))
        let found = try FFmpegFile(scratch.file("o.\(container)")).probe(["-show_chapters"])["chapters"]
        let starts = (found as? [[String: Any]] ?? []).map { chapter in
            let title = (chapter["tags"] as? [String: Any])?["title"] as? String ?? ""
            return "\(title) \((Double(chapter["start_time"] as? String ?? "") ?? -1))"
        }
        #expect(starts == ["A 0.0", " 0.2", "C 0.5"])
    }

    /// Chapters shorter than a millisecond are dropped by the plan and listed in the ledger, because mp4 loses a
    /// chapter at the end of the media that is rounded to 0.
    @Test func chaptersShorterThanAMillisecond_areDroppedByThePlan() async throws {
        let scratch = try Scratch()
        var file = MatroskaFile()
        file.chapters = Self.chapters(10, lasting: 1_000_000)
        file.chapters += (0..<990).map { (10_000_000 + $0 * 1000, 10_000_000 + ($0 + 1) * 1000, "d\($0)") }
        try write(file, in: scratch)
        let yaml = job("encode: { codec: aac }", to: "o.mp4")
        let output = try #require(try plan(yaml, in: scratch).output)
        #expect(output.chapters.count == 10)
        let entry = try #require(output.ledger.first { $0.item.text == "990 chapters too short" })
        #expect(entry.outcome == .dropped && entry.reason == "mp4 can't store chapters shorter than 0.001 s")
        _ = try success(try await run(yaml, in: scratch.path))
        #expect(
            try plan(job("copy: true", to: "o.mka"), in: scratch).output?.chapters.count == 1000)
        let own = try plan(
            job(
                "encode: { codec: aac }", to: "o.mp4",
                more:
                    ", chapters: [ { start: 0, title: a }, { start: 0.5, title: b }, { start: 0.5004, title: c } ]"
            ),
            in: scratch)
        #expect(
            own.messages == ["the chapter lasts 0.0004 s; mp4 can't store chapters shorter than 0.001 s"])
    }

    /// Ogg numbers chapters with three digits: further chapters are dropped in the ledger, or are an error in the job's
    /// list.
    @Test func oggStoresAThousandChapters() async throws {
        let scratch = try Scratch()
        var file = MatroskaFile()
        file.seconds = 2
        file.chapters = Self.chapters(1200, lasting: 1_000_000)
        try write(file, in: scratch)
        let yaml = job("encode: { codec: opus }", to: "o.ogg")
        let output = try #require(try plan(yaml, in: scratch).output)
        #expect(output.chapters.count == 1000)
        #expect(output.ledger.contains { $0.item.text == "200 chapters too many" && $0.outcome == .dropped })
        _ = try success(try await run(yaml, in: scratch.path))
        let list = (0..<1001).map { "{ start: \($0)ms, title: x }" }.joined(separator: ", ")
        let own = try plan(
            job("encode: { codec: opus }", to: "o.ogg", more: ", chapters: [ \(list) ]"), in: scratch)
        #expect(own.messages == ["ogg stores at most 1000 chapters; the list has 1001"])
    }

    /// A source with more chapters than the limit is an error that states the limit.
    @Test func sourcesWithTooManyChapters_areErrors() throws {
        let scratch = try Scratch()
        var file = MatroskaFile()
        file.chapters = Self.chapters(InputLimits.maxChapters + 1, lasting: 1000)
        try write(file, in: scratch)
        #expect {
            _ = try LocalProber().description(of: scratch.file("s.mka"))
        } throws: {
            "\($0)".contains("it has 100001 chapters; at most 100000 are supported")
        }
    }

    /// Tags beyond the limit are listed in the ledger, with the key that selects tags. Muxers search all tags for each
    /// tag.
    @Test func tagsBeyondTheLimit_areInTheLedger() throws {
        let scratch = try Scratch()
        var file = MatroskaFile()
        file.tags = (0..<11_000).map { "K\($0)" }
        try write(file, in: scratch)
        let output = try #require(try plan(job("copy: true", to: "o.mka"), in: scratch).output)
        #expect(output.metadata.count == 10_000)
        let dropped = output.ledger.filter { $0.item.text.hasPrefix("tag K") && $0.outcome == .dropped }
        #expect(dropped.count == 1000)
        #expect(
            dropped.allSatisfy {
                $0.reason == "mkv stores at most 10000 tags; `metadata: { keep: … }` selects"
            })
        let keep = ", metadata: { keep: [ K10999 ] }"
        #expect(
            try plan(job("copy: true", to: "o.mka", more: keep), in: scratch).output?.metadata.map(\.key)
                == ["K10999"])
    }

    /// Chapters are numbered by the muxer: Matroska's muxer compares the id of each chapter with all preceding ones,
    /// unless the first id is 0.
    @Test func chaptersAreNumberedByTheMuxer() throws {
        let scratch = try Scratch()
        let file = try FileHandle(
            forWritingTo: {
                try Data().write(to: $0); return $0
            }(URL(filePath: scratch.file("o.mkv"))))
        let muxer = try Muxer.open(format: "matroska", descriptor: file.fileDescriptor)
        try muxer.setChapters([(0, 1, "a"), (1, 2, "b")], timeBase: Rational(1, 1000))
        #expect(muxer.firstChapterIdentifier == 0)
    }
}
