internal import Diagnostics
internal import ExactStrings
internal import FoundationEssentials
package import JobPlan
internal import LibAV

/// The HTML report: one self-contained page without external scripts, fonts or images, readable on a phone, in dark
/// mode and on paper. An inline script filters and sorts tables; all content is visible without it.
///
/// A page has at most `minimumBudget` bytes, or `budgetPerJob` bytes for each job if that is more. Images are dropped
/// to meet this limit.
package enum HTMLRenderer {
    /// Maximum number of failed jobs, and of other jobs, that are shown with details; further jobs appear only in the table.
    private static let maxDetailedJobs = 500
    /// Maximum number of outputs with preview images.
    package static let maxPreviews = 200
    /// Page size in bytes up to which no images are dropped.
    static let minimumBudget = 1_000_000
    /// Page size in bytes that is allowed for each job.
    static let budgetPerJob = 15_000

    /// Returns the previews of a run's outputs, by job file and output name.
    package static func previews(of records: [JobRecord]) -> [OutputKey: JobPreview] {
        var found: [OutputKey: JobPreview] = [:]
        for record in records {
            for (name, preview) in record.outcome.previews(ofJob: record.id) {
                found[OutputKey(file: record.file, id: name)] = preview
            }
        }
        return found
    }

    /// Returns the page. `folder` is the absolute path of the folder that it is written to, to which links are relative; nil
    /// for absolute ones.
    package static func render(
        _ report: RunReport, previews: [OutputKey: JobPreview] = [:], in folder: String? = nil
    ) -> String {
        // The page without images is measured first. The images share the remaining bytes equally.
        let sizeWithoutPreviews = page(report, previews, in: folder) { _ in [] }.utf8.count
        let total = max(minimumBudget, budgetPerJob * report.jobs.count)
        let share = max(0, total - sizeWithoutPreviews) / max(1, previews.count)
        return page(report, previews, in: folder) { PreviewMarkup.pairs($0, within: share) }
    }

    private static func page(
        _ report: RunReport, _ previews: [OutputKey: JobPreview], in folder: String?,
        pairs: @escaping (JobPreview) -> [JobPreview.Pair]
    ) -> String {
        var names: [OutputKey: String] = [:]
        func name(_ job: RunReport.Job) -> String {
            let name = names[job.key] ?? "job-\(names.count + 1)"
            names[job.key] = name
            return name
        }
        var linked: Set<String> = []
        let details = { (job: RunReport.Job, isOpen: Bool) in
            var preview = previews[job.key]
            if let all = preview { preview?.pairs = pairs(all) }
            linked.insert(name(job))
            return Self.details(job, preview, name: name(job), in: folder, isOpen: isOpen)
        }
        let failed = report.jobs.filter { $0.outcome == .failed }
        let rest = report.jobs.filter { $0.outcome != .failed }
        var page = head(report)
        page += "<main>\n" + summary(report)
        if !failed.isEmpty {
            page += "<section aria-labelledby=\"failures\">\n<h2 id=\"failures\">Failures</h2>\n"
            for job in failed.prefix(maxDetailedJobs) { page += details(job, failed.count <= 20) }
            page += "</section>\n"
        }
        page += timeline(report) + ComparisonMarkup.render(report)
        // Outputs of this run come first, then outputs that are up to date and have stored details.
        let detailedJobs =
            rest.filter { [.succeeded, .skipped, .declined].contains($0.outcome) }
            + rest.filter { $0.outcome == .upToDate && !$0.tracks.isEmpty }
        let detailsText = detailedJobs.prefix(maxDetailedJobs).map { details($0, false) }.joined()
        page += "<section aria-labelledby=\"jobs\">\n<h2 id=\"jobs\">Jobs</h2>\n"
        var listed = report.jobs
        if listed.count > maxListedJobs {
            listed = Array((listed.filter { !$0.isDone } + listed.filter(\.isDone)).prefix(maxListedJobs))
            page +=
                "<p>The first \(maxListedJobs) of \(report.jobs.count) jobs are listed, those that aren't done before the others; the JSON report contains all.</p>\n"
        }
        page += table(listed.map { job in (job, linked.contains(name(job)) ? name(job) : nil) })
        page += detailsText + "</section>\n</main>\n"
        page += "<footer>\(Markup.escaped(report.program)); "
        page += Markup.escaped(report.libraries.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
        return page + "</footer>\n<script>\n\(script)\n</script>\n</body>\n</html>\n"
    }

    private static func head(_ report: RunReport) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(Markup.escaped(title(report)))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        <header><h1>\(Markup.escaped(title(report)))</h1></header>

        """
    }

    private static func title(_ report: RunReport) -> String {
        "Tandem: \(report.files.map { $0.pathParts.last ?? $0 }.joined(separator: ", ")) \(report.status.rawValue)"
    }

    private static let style = """
        :root { --text: #1b1f24; --soft: #57606a; --back: #ffffff; --panel: #f4f6f8; --line: #c9d1d9;
          --good: #1a7f37; --bad: #b42318; --same: #0b61b0; --rest: #7a5c00; }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #a3adb8; --back: #0f1419; --panel: #1a2129;
          --line: #3b4652; --good: #4cc264; --bad: #ff8a80; --same: #79b8ff; --rest: #e3b341; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--text); background: var(--back);
          font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
        h1 { font-size: 1.4rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
        h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
        dl.figures { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 0; }
        dl.figures div { min-width: 6rem; } dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; font-size: 1.25rem; }
        details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; background: var(--panel); }
        summary { padding: .5rem .75rem; cursor: pointer; } details > div { padding: 0 .75rem .75rem; }
        .word { font-weight: 600; } .succeeded { color: var(--good); } .failed, .cancelled { color: var(--bad); }
        .up-to-date { color: var(--same); } .skipped, .declined, .not-run { color: var(--rest); } .soft { color: var(--soft); }
        .wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
        th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
        th { color: var(--soft); font-weight: 600; } td, th { overflow-wrap: break-word; } thead th { white-space: nowrap; }
        table.facts th { white-space: nowrap; width: 1%; } code { font: .9em ui-monospace, monospace; }
        svg { display: block; width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
        svg .succeeded { fill: var(--good); } svg .failed, svg .cancelled { fill: var(--bad); }
        svg .up-to-date { fill: var(--same); } svg .axis { stroke: var(--line); }
        .pairs { display: flex; flex-wrap: wrap; gap: .75rem; } .pairs figure { margin: 0; }
        .pairs figcaption { color: var(--soft); font-size: .85rem; }
        .pairs img { display: inline-block; max-width: 100%; height: auto; margin-right: .25rem; border: 1px solid var(--line); }
        .ends { display: flex; justify-content: space-between; gap: 1rem; max-width: 48rem; margin: .1rem 0 0;
          color: var(--soft); font-size: .85rem; } .ends span:first-child, .ends span:last-child { white-space: nowrap; }
        svg.curve { max-width: 48rem; } svg.wave { height: 5rem; } svg .bars { stroke: var(--same); stroke-width: 2; fill: none; } svg .peaks { opacity: .45; }
        svg .rate { fill: var(--same); opacity: .6; } svg .clip { fill: var(--same); } svg .copied { fill: var(--good); }
        svg .layer { fill: var(--same); opacity: .6; } svg .audio { fill: var(--same); opacity: .35; }
        .bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
        .bar[hidden], [hidden] { display: none; } .bar input { font: inherit; color: inherit; background: var(--panel);
          border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .6rem; min-width: 16rem; }
        th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--same); }
        th[aria-sort=ascending] button::after { content: " \\25b2"; } th[aria-sort=descending] button::after { content: " \\25bc"; }
        td.number { white-space: nowrap; } a { color: inherit; }
        footer { margin-top: 2rem; color: var(--soft); font-size: .8rem; }
        @media print { body { max-width: none; } details { break-inside: avoid; } summary { list-style: none; } }
        """

    /// Script that sorts the rows of tables by a column, and filters the rows of the table of jobs, with their details, by words.
    private static let script = """
        (() => {
          const sortable = table => {
            const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
            heads.forEach((head, column) => {
              const button = document.createElement("button");
              button.textContent = head.textContent;
              head.replaceChildren(button);
              button.addEventListener("click", () => {
                const down = head.getAttribute("aria-sort") === "ascending";
                heads.forEach(other => other.removeAttribute("aria-sort"));
                head.setAttribute("aria-sort", down ? "descending" : "ascending");
                const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
                const order = new Intl.Collator(undefined, { numeric: true });
                const number = rows.some(row => row.cells[column].dataset.value !== undefined);
                const sorted = [...rows].sort((a, b) => number ? value(a) - value(b) : order.compare(value(a), value(b)));
                body.append(...(down ? sorted.reverse() : sorted));
              });
            });
          };
          document.querySelectorAll("table.sortable").forEach(sortable);
          const table = document.getElementById("all");
          if (!table) return;
          const bar = document.getElementById("bar"), box = document.getElementById("filter");
          const count = document.getElementById("count"), body = table.tBodies[0], rows = [...body.rows];
          const texts = rows.map(row => row.textContent.toLowerCase());
          const filter = () => {
            const words = box.value.toLowerCase().split(/\\s+/).filter(word => word);
            let shown = 0;
            rows.forEach((row, index) => {
              row.hidden = !words.every(word => texts[index].includes(word));
              if (!row.hidden) shown += 1;
              const details = row.dataset.job && document.getElementById(row.dataset.job);
              if (details) details.hidden = row.hidden;
            });
            count.textContent = words.length ? `${shown} of ${rows.length}` : "";
          };
          bar.hidden = false;
          box.addEventListener("input", filter);
          table.addEventListener("click", event => {
            const link = event.target.closest("a");
            if (link) document.getElementById(link.hash.slice(1)).open = true;
          });
        })();
        """

    private static func summary(_ report: RunReport) -> String {
        var counts: [RunReport.Job.Outcome: Int] = [:]
        for job in report.jobs { counts[job.outcome, default: 0] += 1 }
        var figures = [("Jobs", "\(report.jobs.count)")]
        for outcome in RunReport.Job.Outcome.allCases {
            if let count = counts[outcome] { figures.append((outcome.text, "\(count)")) }
        }
        figures.append(("Time", seconds(report.seconds)))
        let size = report.jobs.reduce(Int64(0)) {
            $0.adding(upToLimit: $1.outcome == .succeeded ? $1.size ?? 0 : 0)
        }
        if size > 0 { figures.append(("Written", PlanText.bytes(size))) }
        let begun = Date(timeIntervalSince1970: report.begun).formatted(.iso8601)
        return "<section aria-label=\"Summary\">\n<dl class=\"figures\">\n"
            + figures.map { "<div><dt>\(Markup.escaped($0.0))</dt><dd>\(Markup.escaped($0.1))</dd></div>\n" }
            .joined()
            + "</dl>\n<p class=\"soft\">Started \(begun). Job files: \(Markup.escaped(report.files.joined(separator: ", ")))</p>\n</section>\n"
    }

    // MARK: Timeline

    /// Maximum number of jobs in the table.
    private static let maxListedJobs = 20_000
    /// Maximum numbers of jobs and of rows of the timeline; a larger run has none.
    private static let (maxTimelineJobs, maxTimelineRows) = (5000, 200)

    /// Returns the row of each job, so that jobs of a row don't overlap. They may come from several machines.
    private static func timelineRows(of jobs: [RunReport.Job]) -> [Int] {
        var rows = [Int](repeating: 0, count: jobs.count)
        var ends: [Double] = []
        for index in jobs.indices.sorted(by: { (jobs[$0].begun ?? 0, $0) < (jobs[$1].begun ?? 0, $1) }) {
            let begun = jobs[index].begun ?? 0
            let row = ends.firstIndex { $0 <= begun } ?? ends.count
            if row == ends.count { ends.append(0) }
            ends[row] = begun + jobs[index].seconds
            rows[index] = row
        }
        return rows
    }

    private static func timeline(_ report: RunReport) -> String {
        let jobs = report.jobs.filter { $0.begun != nil }
        guard !jobs.isEmpty, jobs.count <= maxTimelineJobs else { return "" }
        let rows = timelineRows(of: jobs)
        let slots = (rows.max() ?? 0) + 1
        guard slots <= maxTimelineRows else { return "" }
        let length = max(0.001, jobs.map { ($0.begun ?? 0) + $0.seconds }.max() ?? report.seconds)
        let (width, left, row) = (1000.0, 70.0, 22.0)
        let height = Double(slots) * row + 30
        let scale = (width - left - 10) / length
        var text =
            "<section aria-labelledby=\"timeline\">\n<h2 id=\"timeline\">Timeline</h2>\n<div class=\"wide\"><svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"Jobs over time, concurrent jobs in different rows: \(jobs.count) jobs in \(Markup.escaped(seconds(length)))\" style=\"min-width: 34rem\">\n"
        for slot in 0..<slots {
            text += "<text x=\"0\" y=\"\(number(Double(slot) * row + 15))\">\(slot + 1)</text>\n"
        }
        for (job, slot) in zip(jobs, rows) {
            let x = left + (job.begun ?? 0) * scale
            let wide = max(1, job.seconds * scale - 1)
            text +=
                "<rect class=\"\(job.outcome.rawValue)\" x=\"\(number(x))\" y=\"\(number(Double(slot) * row + 2))\" width=\"\(number(wide))\" height=\"\(number(row - 5))\" rx=\"2\"><title>\(Markup.escaped("\(job.id): \(job.outcome.rawValue), \(seconds(job.seconds))"))</title></rect>\n"
        }
        let base = Double(slots) * row + 6
        text +=
            "<line class=\"axis\" x1=\"\(left)\" x2=\"\(width - 10)\" y1=\"\(number(base))\" y2=\"\(number(base))\"/>\n"
        for step in 0...4 {
            let x = left + (width - left - 10) * Double(step) / 4
            let anchor = step == 0 ? "start" : step == 4 ? "end" : "middle"
            text +=
                "<text x=\"\(number(x))\" y=\"\(number(base + 16))\" text-anchor=\"\(anchor)\">\(Markup.escaped(seconds(length * Double(step) / 4)))</text>\n"
        }
        return text + "</svg></div>\n</section>\n"
    }

    // MARK: Jobs

    private static func details(
        _ job: RunReport.Job, _ preview: JobPreview?, name: String, in folder: String?, isOpen: Bool
    ) -> String {
        var text =
            "<details id=\"\(name)\"\(isOpen ? " open" : "")>\n<summary><span class=\"word \(job.outcome.rawValue)\">\(job.outcome.text)</span> <strong>\(Markup.escaped(job.id))</strong>"
        if job.begun != nil { text += " <span class=\"soft\">\(Markup.escaped(seconds(job.seconds)))</span>" }
        if !job.warnings.isEmpty {
            text +=
                " <span class=\"soft\">\(job.warnings.count == 1 ? "1 warning" : "\(job.warnings.count) warnings")</span>"
        }
        if let reason = job.reason { text += "<br>\(Markup.escaped(reason))" }
        text += "</summary>\n<div>\n"
        var facts: [(String, String)] = []
        if let location = job.location {
            facts.append(("Location", location))
        } else if job.line > 0 {
            facts.append(("Location", "\(job.file):\(job.line)"))
        }
        if let rule = job.rule { facts.append(("Rule", rule)) }
        if let source = job.source { facts.append(("Source", source)) }
        if let destination = job.destination { facts.append(("Destination", destination)) }
        facts += result(of: job)
        if let encodes = job.encodes {
            facts.append(("target_size", SizeFit.text(encodes.map { ($0.rate, $0.size) })))
        }
        if job.attempts > 1 { facts.append(("Attempts", "\(job.attempts)")) }
        text += rows([], facts.map { [$0.0, $0.1] }, caption: "Facts")
        if let quality = job.quality { text += QualityMarkup.render(quality) }
        if let timeline = job.timeline { text += TimelineMarkup.render(timeline) }
        if let preview { text += PreviewMarkup.render(preview) }
        if !job.expectations.isEmpty {
            text += "<h3>Expected and measured</h3>\n"
            text += rows(
                ["", "Expected", "Measured", "Location"],
                job.expectations.map {
                    [$0.holds ? "holds" : "fails", $0.expected, $0.measured, $0.location]
                },
                caption: "Expectations")
        }
        switch job.detail {
        case .file, .check: break
        case .images(let images): text += table(of: images)
        case .package(let package):
            if let destination = job.destination {
                text += PackageMarkup.render(package, at: destination, in: folder)
            }
        }
        if !job.tracks.isEmpty {
            text += "<h3>Tracks</h3>\n"
            text += rows(
                ["Source", "Becomes", "Settings", "Samples"],
                job.tracks.map { track in
                    let settings = track.settings.map { "\($0.key) \($0.value) (\($0.origin.rawValue))" }
                    return [
                        track.source, track.action, settings.joined(separator: "; "),
                        track.samples.map { "\($0)" } ?? "",
                    ]
                }, caption: "Tracks of the output")
        }
        if !job.warnings.isEmpty {
            text += "<h3>Warnings</h3>\n<ul>\n"
            for warning in job.warnings { text += "<li>\(Markup.escaped(warning))</li>\n" }
            text += "</ul>\n"
        }
        if !job.ledger.isEmpty {
            text += "<h3>Ledger</h3>\n"
            let names = FileNames(job.ledger.compactMap(\.file))
            text += rows(
                ["Item", "Track", "Outcome", "Reason or format"],
                job.ledger.map {
                    let track = $0.track.map { "\($0)" } ?? ""
                    return [
                        $0.item.text, $0.file.map { "\(track) of \(names[$0])" } ?? track,
                        $0.outcome.rawValue,
                        $0.reason,
                    ]
                },
                caption: "Ledger of the source")
        }
        return text + "</div>\n</details>\n"
    }

    /// Returns the size and the length of what a job created or checked.
    private static func result(of job: RunReport.Job) -> [(String, String)] {
        guard let duration = job.duration else { return [] }
        let length: String
        switch job.detail {
        case .check: return [("Checked", "\(seconds(duration)) of media; nothing is written")]
        case .images(let images): length = counted(images.count, "image")
        case .file, .package: length = "\(seconds(duration)) of media"
        }
        let origin = job.cached == true ? ", from the cache" : ""
        return job.size.map { [("Output", "\(PlanText.bytes($0)), \(length)\(origin)")] } ?? []
    }

    /// Renders a table of at most 200 still images; the JSON report contains all of them.
    private static func table(of images: [RunReport.StillImage]) -> String {
        func time(_ seconds: Double) -> String { "\((seconds * 1000).rounded() / 1000) s" }
        let shown = images.prefix(200)
        var text = "<h3>Images</h3>\n"
        text += rows(
            ["Requested time", "Presentation time", "File"],
            shown.map { [time($0.requested), time($0.actual), $0.file ?? ""] }, caption: "Images")
        if images.count > shown.count { text += "<p>and \(images.count - shown.count) more</p>\n" }
        return text
    }

    static func rows(_ head: [String], _ rows: [[String]], caption: String) -> String {
        guard !rows.isEmpty else { return "" }
        let kind = head.isEmpty ? " class=\"facts\"" : ""
        var text = "<div class=\"wide\"><table\(kind) aria-label=\"\(Markup.escaped(caption))\">\n"
        if !head.isEmpty {
            text +=
                "<thead><tr>"
                + head.map { $0.isEmpty ? "<td></td>" : "<th scope=\"col\">\(Markup.escaped($0))</th>" }
                .joined()
                + "</tr></thead>\n"
        }
        text += "<tbody>\n"
        for row in rows {
            text += "<tr>"
            for (index, cell) in row.enumerated() {
                let tag = index == 0 ? "th scope=\"row\"" : "td"
                text += "<\(tag)>\(Markup.escaped(cell))</\(index == 0 ? "th" : "td")>"
            }
            text += "</tr>\n"
        }
        return text + "</tbody></table></div>\n"
    }

    /// Renders the table of all jobs, each linked to its details if the page contains them.
    private static func table(_ jobs: [(job: RunReport.Job, details: String?)]) -> String {
        guard !jobs.isEmpty else { return "" }
        let heads = ["Job", "Outcome", "Time", "Size", "Note"]
        var text =
            "<div id=\"bar\" class=\"bar\" hidden><label>Filter <input id=\"filter\" type=\"search\" placeholder=\"job, outcome, file\"></label> <span id=\"count\" class=\"soft\" role=\"status\"></span></div>\n"
        text +=
            "<div class=\"wide\"><table id=\"all\" class=\"sortable\" aria-label=\"All jobs\">\n<thead><tr>"
        text += heads.map { "<th scope=\"col\">\($0)</th>" }.joined() + "</tr></thead>\n<tbody>\n"
        for (job, details) in jobs {
            let id = Markup.escaped(job.id)
            text +=
                details.map { "<tr data-job=\"\($0)\"><th scope=\"row\"><a href=\"#\($0)\">\(id)</a></th>" }
                ?? "<tr><th scope=\"row\">\(id)</th>"
            text +=
                "<td class=\"\(job.outcome.rawValue)\">\(job.outcome.text)</td>"
            let time = job.begun == nil ? "" : seconds(job.seconds)
            text += cell(time, value: job.begun == nil ? 0 : job.seconds)
            text += cell(job.size.map(PlanText.bytes) ?? "", value: Double(job.size ?? 0))
            text += "<td>\(Markup.escaped(job.reason ?? job.destination ?? ""))</td></tr>\n"
        }
        return text + "</tbody></table></div>\n"
    }

    /// Renders a table cell with the numeric value by which the script sorts it.
    static func cell(_ text: String, value: Double) -> String {
        "<td class=\"number\" data-value=\"\(number(value))\">\(Markup.escaped(text))</td>"
    }

    static func seconds(_ value: Double) -> String {
        if value >= 60 {
            let whole = Int(min(value, 1e9).rounded())
            let two = { (part: Int) in part < 10 ? "0\(part)" : "\(part)" }
            return whole >= 3600
                ? "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
                : "\(whole / 60):\(two(whole % 60))"
        }
        return "\(number(value)) s"
    }

    static func number(_ value: Double) -> String {
        let hundredths = Int((max(-1e9, min(value, 1e9)) * 100).rounded())
        let rest = abs(hundredths % 100)
        if rest == 0 { return "\(hundredths / 100)" }
        return "\(hundredths / 100)." + (rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)")
    }
}
