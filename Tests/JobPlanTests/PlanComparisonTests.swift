import Diagnostics
import FileSystem
import Foundation
import JobSpec
import Media
import TestSupport
import Testing

@testable import JobPlan

/// The differences of a plan from an earlier one, and their text and Markdown.
@Suite struct PlanComparisonTests {
    private typealias Change = PlanComparison.Change

    private static let one = """
          one:
            asset: bars
            range: { end: 480ms }
            tracks: [ { video: first, encode: { codec: h264, crf: 20 } } ]
            destination: out/one.mp4
        """
    private static let two = """
          two:
            asset: bars
            tracks: [ { video: first, encode: { codec: vp9, crf: 30 } } ]
            destination: out/two.webm
        """

    private func plan(_ jobs: String...) throws -> BatchPlan {
        let yaml =
            """
            version: 1
            assets: { bars: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 1s } }
            jobs:

            """ + jobs.joined(separator: "\n") + "\n"
        let (file, sink) = decode(yaml, file: "jobs.yaml", directory: "/jobs")
        guard let file, !sink.hasErrors else { throw ProgramError(message: rendered(sink, yaml)) }
        return BatchPlanner.plan([file]).plan
    }

    private func comparison(
        of change: (inout BatchPlan) throws -> Void, to jobs: String = one
    ) throws -> PlanComparison {
        let before = try plan(jobs)
        var now = before
        try change(&now)
        return try PlanComparison(of: now, since: before)
    }

    /// Differences of the only output of the only job that differs.
    private func differences(_ comparison: PlanComparison) throws -> [PlanComparison.Difference] {
        let job = try #require(comparison.changed.first)
        guard comparison.changed.count == 1, case .changed(_, let found)? = job.outputs.first else {
            return []
        }
        return found
    }

    @Test func movedJobsDontDiffer() throws {
        let before = try plan(Self.one, Self.two)
        let now = try plan("  # A comment", Self.two, Self.one)
        let comparison = try PlanComparison(of: now, since: before)
        #expect(comparison.isEmpty && comparison.unchanged == 2)
        #expect(comparison.before == comparison.now)
    }

    @Test func settingsDestinationsRangesAndTracksAreCompared() throws {
        let before = try plan(Self.one)
        let crf = try PlanComparison(
            of: try plan(Self.one.replacing("crf: 20", with: "crf: 28")), since: before)
        let found = try differences(crf)
        #expect(found.first == .value(name: "track 0 crf", Change(before: "20", now: "28")))
        let size = found.contains { if case .size(let size) = $0 { size.before! > size.now! } else { false } }
        #expect(size)

        let moved = try plan(Self.one.replacing("out/one.mp4", with: "out/uno.mp4"))
        #expect(
            try differences(PlanComparison(of: moved, since: before)) == [
                .destination(Change(before: "/jobs/out/one.mp4", now: "/jobs/out/uno.mp4"))
            ])

        let longer = try plan(Self.one.replacing("480ms", with: "960ms"))
        let ranges = try differences(PlanComparison(of: longer, since: before))
        #expect(ranges.contains(.value(name: "range", Change(before: "0 s to 0.48 s", now: "0 s to 0.96 s"))))
        let duration = ranges.contains { if case .duration = $0 { true } else { false } }
        #expect(duration)

        let other = try plan(Self.one.replacing("codec: h264, crf: 20", with: "codec: hevc, crf: 20"))
        let track = try differences(PlanComparison(of: other, since: before))
        #expect(
            track.contains(.value(name: "track 0", Change(before: "libx264 from 0", now: "libx265 from 0"))))
    }

    @Test func schedulingNotesExpectationsAndDamageAreCompared() throws {
        let retries = try comparison { $0.jobs[0].scheduling.retries = 2 }
        #expect(
            retries.changed.first?.differences == [.value(name: "retries", Change(before: "0", now: "2"))])
        let note = try comparison { $0.jobs[0].outputs[0].notes.append("slow") }
        #expect(try differences(note) == [.note(Change(before: nil, now: "slow"))])
        let damage = try comparison { $0.jobs[0].inputs[0].damagePolicy = .skip }
        #expect(try differences(damage) == [.value(name: "on_damage", Change(before: "fail", now: "skip"))])
        let exists = try comparison { $0.jobs[0].outputs[0].ifExists = .replace }
        #expect(try differences(exists) == [.ifExists(Change(before: .fail, now: .replace))])
        let expectation = try plan(Self.one + "\n    expect: { frames: 12 }")
        #expect(
            try differences(PlanComparison(of: expectation, since: try plan(Self.one))) == [
                .expectation(Change(before: nil, now: "frames 12"))
            ])
    }

    @Test func filesOfAnotherCheckoutDontDiffer() throws {
        func with(_ path: String, inode: UInt64, size: Int64) throws -> (inout BatchPlan) -> Void {
            let identity = FileIdentity(
                device: 1, inode: inode, size: size, modified: Int64(inode), modifiedNanoseconds: 0)
            return { $0.jobs[0].inputs[0].source = .file(path: path, identity: identity) }
        }
        var before = try plan(Self.one)
        try with("/a.mp4", inode: 1, size: 10)(&before)
        var same = before
        try with("/a.mp4", inode: 2, size: 10)(&same)
        #expect(try PlanComparison(of: same, since: before).isEmpty)
        var longer = before
        try with("/a.mp4", inode: 1, size: 20)(&longer)
        let found = try differences(PlanComparison(of: longer, since: before))
        #expect(found == [.value(name: "source size", Change(before: "10", now: "20"))])
        var other = before
        try with("/b.mp4", inode: 1, size: 10)(&other)
        #expect(
            try differences(PlanComparison(of: other, since: before)) == [
                .source(Change(before: "/a.mp4", now: "/b.mp4"))
            ])
    }

    @Test func jobsOutputsAndRejectionsAreAddedAndRemoved() throws {
        let both = try plan(Self.one, Self.two)
        let only = try plan(Self.two)
        let added = try PlanComparison(of: both, since: only)
        #expect(added.added.map(\.key.id) == ["one"] && added.unchanged == 1 && added.removed.isEmpty)
        #expect(added.now.jobs == 2 && added.before.jobs == 1)
        let removed = try PlanComparison(of: only, since: both)
        #expect(removed.removed.map(\.key.id) == ["one"] && removed.added.isEmpty)

        let rejected = try comparison { plan in
            let job = plan.jobs.removeLast()
            let problem = Diagnostic(.error, .sourceUnreadable, "no such file", at: job.location)
            plan.refusals = [BatchPlan.Refusal(id: job.id, file: job.file, diagnostics: [problem])]
        }
        #expect(rejected.changed.first?.rejection == Change(before: nil, now: "no such file"))
        let output = try comparison { plan in
            var more = plan.jobs[0].outputs[0]
            more.id = "more"
            plan.jobs[0].outputs.append(more)
        }
        guard case .added(let more)? = output.changed.first?.outputs.first else {
            Issue.record("no output was added")
            return
        }
        #expect(more.id == "more" && more.destination == "/jobs/out/one.mp4")
    }

    /// A job whose condition no longer holds is skipped, not removed.
    @Test func skippedJobsAreCompared() throws {
        let small = Self.one + "\n    when: { video: { width: { max: 100 } } }"
        let large = Self.one + "\n    when: { video: { width: { min: 100 } } }"
        let comparison = try PlanComparison(of: plan(large), since: plan(small))
        let reason = "video track 0: `width` is 64 (required: at least 100)"
        #expect(comparison.changed.map(\.skip) == [Change(before: nil, now: reason)])
        #expect(comparison.added.isEmpty && comparison.removed.isEmpty && comparison.now.skipped == 1)
        let text = PlanComparisonText.render(comparison) { $0 }
        #expect(text.contains("one of jobs.yaml: changed\n  skipped: \(reason)\n"), "\(text)")
        let back = try PlanComparison(of: plan(small), since: plan(large))
        #expect(PlanComparisonText.render(back) { $0 }.contains("  no longer skipped\n"))
        let markdown = PlanMarkdown.render(try plan(large), reasons: { _ in RunReasons(lines: []) }) { $0 }
        #expect(markdown.contains("#### Skipped\n") && markdown.contains("is 64 "), "\(markdown)")
        #expect(PlanMarkdown.render(comparison) { $0 }.contains("| skip |"))
    }

    @Test func textListsDifferencesAndTotals() throws {
        let before = try plan(Self.one)
        let now = try plan(Self.one.replacing("crf: 20", with: "crf: 28"), Self.two)
        let comparison = try PlanComparison(of: now, since: before)
        let text = PlanComparisonText.render(comparison) { String($0.dropFirst("/jobs/".count)) }
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.first == "two of jobs.yaml: added")
        #expect(
            lines[1].hasPrefix("  test signal smpte → out/two.webm") || lines[1].contains("→ out/two.webm"))
        #expect(lines.contains("one of jobs.yaml: changed"))
        #expect(lines.contains("  track 0 crf: 20 → 28"))
        #expect(lines.contains("1 added, 1 changed"))
        #expect(lines.contains("jobs          1 → 2"))
        let none = try PlanComparison(of: before, since: before)
        #expect(PlanComparisonText.render(none) { $0 } == "1 unchanged\n")
    }

    /// A text that would mention users, end a table's cell, a line or an element, and link to a page.
    private static let hostile =
        "@all #1 `x` | **b** <img src=x> [l](http://x) www.x.com\n| a |\u{202e} &amp; \\"

    @Test func hostileTextHasNoEffectInMarkdown() throws {
        let comparison = try comparison { plan in
            plan.jobs[0].id = "one"
            plan.jobs[0].outputs[0].notes = [Self.hostile]
            plan.jobs[0].outputs[0].destination = "/" + Self.hostile
            var added = plan.jobs[0]
            added.id = Self.hostile
            plan.jobs.append(added)
        }
        let text = PlanMarkdown.render(comparison, remarks: [Self.hostile]) { $0 }
        let plan = try plan(Self.one)
        var hostile = plan
        hostile.jobs[0].id = Self.hostile
        hostile.jobs[0].outputs[0].destination = Self.hostile
        let table = PlanMarkdown.render(hostile, reasons: { _ in RunReasons(lines: [Self.hostile]) }) { $0 }
        for markdown in [text, table] {
            for mark in ["@", "`", "<img", "http:", "www.", "**", "\u{202e}", "\\", "[l]", "#1 "] {
                #expect(!markdown.contains(mark), "\(mark) in \(markdown)")
            }
            let rows = markdown.split(separator: "\n").filter { $0.hasPrefix("|") }
            #expect(!rows.isEmpty)
            for row in rows { #expect([4, 5, 6].contains(row.count { $0 == "|" }), "\(row)") }
        }
        #expect(SafeText.markdownCode("a@b") == "<code>a&#64;b</code>")
        #expect(SafeText.markdownCode(String(repeating: "x", count: 400)).count == 300 + 1 + 13)
    }

    @Test func markdownIsLimitedInLength() throws {
        let before = try plan(Self.one)
        var now = before
        for number in 0..<3000 {
            var job = before.jobs[0]
            job.id = "job-\(number)"
            now.jobs.append(job)
        }
        let comparison = try PlanComparison(of: now, since: before)
        let text = PlanMarkdown.render(comparison) { $0 }
        #expect(text.utf8.count <= PlanMarkdown.defaultLimit)
        let shown = text.split(separator: "\n").count { $0.contains("<code>job-") }
        #expect(shown > 300 && text.hasSuffix("\n\(3000 - shown) more not shown\n"))
        let whole = PlanMarkdown.render(now, reasons: { _ in RunReasons(lines: []) }) { $0 }
        #expect(whole.utf8.count <= PlanMarkdown.defaultLimit && whole.contains("more not shown"))
    }

    @Test func markdownListsTotalsAndChanges() throws {
        let before = try plan(Self.one)
        let now = try plan(Self.one.replacing("crf: 20", with: "crf: 28"), Self.two)
        let text = PlanMarkdown.render(try PlanComparison(of: now, since: before)) { $0 }
        #expect(
            text.hasPrefix(
                "### Tandem plan: 1 added, 1 changed\n\n| total | before | now |\n| --- | --- | --- |\n"))
        #expect(
            text.contains(
                "| <code>one</code> | <code>track 0 crf</code> | <code>20</code> | <code>28</code> |\n"))
        #expect(text.contains("\n#### Added\n\n| job | source | destination | expected |\n"))
        let none = PlanMarkdown.render(try PlanComparison(of: now, since: now)) { $0 }
        #expect(none == "### Tandem plan: no changes\n\n2 jobs unchanged\n")
    }
}
