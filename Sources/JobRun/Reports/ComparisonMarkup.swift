internal import ExactStrings
internal import Glibc
internal import Diagnostics
internal import JobPlan
internal import LibAV

/// Comparisons of outputs by size and similarity to their source: an SVG drawing and a table for each.
enum ComparisonMarkup {
    /// Maximum numbers of comparisons, and of outputs in each.
    private static let (maxComparisons, maxPoints) = (50, 500)
    /// Maximum number of outputs whose numbers are drawn; those of more would overlap.
    private static let maxNumbers = 60

    /// Returns the section; empty if the report has nothing to compare.
    static func render(_ report: RunReport) -> String {
        let all = SimilarityComparison.all(in: report)
        guard !all.isEmpty else { return "" }
        var text =
            "<section aria-labelledby=\"comparison\">\n<h2 id=\"comparison\">Size and similarity</h2>\n<p class=\"soft\">Outputs of the same source, frame size and length. On the line (green), no other output is both smaller and more similar.</p>\n"
        for comparison in all.prefix(maxComparisons) { text += render(comparison) }
        if all.count > maxComparisons {
            text += "<p>and \(all.count - maxComparisons) more comparisons</p>\n"
        }
        let failed = report.jobs.count {
            $0.outcome == .failed && $0.expectations.contains { $0.similarity != nil }
        }
        if failed > 0 {
            text +=
                "<p>\(counted(failed, "output")) that failed \(failed == 1 ? "its" : "their") expectations \(failed == 1 ? "is" : "are") not shown, because no file was published.</p>\n"
        }
        return text + "</section>\n"
    }

    private static func render(_ comparison: SimilarityComparison) -> String {
        let (points, metric) = (comparison.points.prefix(maxPoints), comparison.metric)
        let labels = labels(of: points.map(\.id))
        var text =
            "<h3>\(Markup.escaped(comparison.title))</h3>\n" + drawing(comparison, Array(points), labels)
        text +=
            "<div class=\"wide\"><table class=\"sortable\" aria-label=\"Outputs by size\">\n<thead><tr>"
            + ["No.", "Output", "Size", "Bit rate", comparison.name, "On the line"].map {
                "<th scope=\"col\">\(Markup.escaped($0))</th>"
            }.joined() + "</tr></thead>\n<tbody>\n"
        for (number, (point, label)) in zip(points, labels).enumerated() {
            let rate = point.bitRate
            text +=
                "<tr>" + HTMLRenderer.cell("\(number + 1)", value: Double(number + 1))
                + "<th scope=\"row\">\(Markup.escaped(label))</th>"
                + HTMLRenderer.cell(PlanText.bytes(point.size), value: Double(point.size))
                + HTMLRenderer.cell(
                    rate.map { "\(HTMLRenderer.number(($0 / 1000).rounded())) kbit/s" } ?? "",
                    value: rate ?? 0)
                + "<td class=\"number\" data-value=\"\(point.value)\">\(Markup.escaped(metric.text(point.value)))</td>"
                + "<td>\(point.isBest ? "yes" : "")</td></tr>\n"
        }
        text += "</tbody></table></div>\n"
        let rest = comparison.points.count - points.count
        return rest > 0 ? text + "<p>and \(rest) more outputs</p>\n" : text
    }

    /// Returns short names of outputs: what differs between instances of one job, or the whole id.
    static func labels(of ids: [String]) -> [String] {
        let parts = ids.map { $0.split(separator: "[", maxSplits: 1).map(String.init) }
        guard let first = parts.first?.first,
            parts.allSatisfy({ $0.count == 2 && $0[0].exact == first.exact })
        else { return ids }
        // `crf=20,preset=slow]`, or `crf=20]/hd` for one of several outputs.
        let inner = parts.map { part -> (values: [Substring], output: Substring) in
            guard let end = part[1].lastIndex(of: "]") else { return ([part[1][...]], "") }
            return (part[1][..<end].split(separator: ","), part[1][part[1].index(after: end)...])
        }
        let common = inner.dropFirst().reduce(Set(inner.first?.values ?? [])) { $0.intersection($1.values) }
        return inner.map { values, output in
            let own = values.filter { !common.contains($0) }
            return (own.isEmpty ? values : own).joined(separator: ",") + output
        }
    }

    // MARK: Drawing

    private static let (width, height, left, top, bottom) = (720.0, 340.0, 76.0, 36.0, 50.0)

    /// Returns the drawing: size on a logarithmic axis, similarity upwards, and a line through the best outputs.
    private static func drawing(
        _ comparison: SimilarityComparison, _ points: [SimilarityComparison.Point], _ labels: [String]
    ) -> String {
        // Equal frames have an infinite PSNR, which has no place in the drawing.
        let shown = points.indices.filter {
            comparison.metric == .ssim || points[$0].value < comparison.metric.identity
        }
        let (sizes, values) = (shown.map { log(Double(points[$0].size)) }, shown.map { points[$0].value })
        guard let least = sizes.min(), let most = sizes.max(), let lowest = values.min(),
            let highest = values.max(), least < most, lowest < highest
        else { return "" }
        func number(_ value: Double) -> String { HTMLRenderer.number(value) }
        func x(_ size: Int64) -> Double {
            left + 8 + (log(Double(size)) - least) / (most - least) * (width - left - 24)
        }
        func y(_ value: Double) -> Double {
            top + (highest - value) / (highest - lowest) * (height - top - bottom - 10)
        }
        let base = height - bottom
        var marks =
            "<line class=\"axis\" x1=\"\(number(left))\" x2=\"\(number(width))\" y1=\"\(number(base))\" y2=\"\(number(base))\"/>\n"
        for step in 0...3 {
            let value = lowest + (highest - lowest) * Double(step) / 3
            marks +=
                "<line class=\"axis\" x1=\"\(number(left))\" x2=\"\(number(width))\" y1=\"\(number(y(value)))\" y2=\"\(number(y(value)))\" stroke-dasharray=\"2 4\"/>\n<text x=\"0\" y=\"\(number(y(value) + 4))\">\(Markup.escaped(comparison.metric.text(value)))</text>\n"
            let size = Int64(exp(least + (most - least) * Double(step) / 3))
            let anchor = step == 0 ? "start" : step == 3 ? "end" : "middle"
            marks +=
                "<text x=\"\(number(x(size)))\" y=\"\(number(base + 18))\" text-anchor=\"\(anchor)\">\(Markup.escaped(PlanText.bytes(size)))</text>\n"
        }
        let front = shown.map { points[$0] }.filter(\.isBest).map {
            "\(number(x($0.size))),\(number(y($0.value)))"
        }
        marks +=
            "<polyline fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" opacity=\".5\" points=\"\(front.joined(separator: " "))\"/>\n"
        for index in shown {
            let (point, label) = (points[index], labels[index])
            let title = "\(label): \(PlanText.bytes(point.size)), \(comparison.metric.text(point.value))"
            marks +=
                "<circle class=\"\(point.isBest ? "succeeded" : "up-to-date")\" cx=\"\(number(x(point.size)))\" cy=\"\(number(y(point.value)))\" r=\"5\"><title>\(Markup.escaped(title))</title></circle>\n"
            guard shown.count <= maxNumbers else { continue }
            marks +=
                "<text x=\"\(number(x(point.size)))\" y=\"\(number(y(point.value) - 9))\" text-anchor=\"middle\">\(index + 1)</text>\n"
        }
        marks +=
            "<text x=\"\(number(width))\" y=\"\(number(height - 8))\" text-anchor=\"end\">size (logarithmic)</text>\n<text x=\"0\" y=\"12\">\(Markup.escaped(comparison.name))</text>\n"
        let label = "\(comparison.name) over size; line: the smallest output at each similarity"
        return
            "<div class=\"wide\"><svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" style=\"min-width: 34rem\" role=\"img\" aria-label=\"\(Markup.escaped(label))\">\n\(marks)</svg></div>\n"
    }
}
