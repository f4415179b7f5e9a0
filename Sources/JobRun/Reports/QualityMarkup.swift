internal import Diagnostics
internal import LibAV

/// The search of `crf` for `quality` of video: a table, and an SVG drawing of the similarity over `crf`.
enum QualityMarkup {
    private static let (width, height, left, bottom) = (480.0, 200.0, 60.0, 24.0)

    static func render(_ quality: OutputResult.Quality) -> String {
        let attempts = quality.probes.map { ("probe", $0) } + quality.encodes.map { ("file", $0) }
        let text = HTMLRenderer.rows(
            ["", "crf", quality.metric.rawValue],
            attempts.map { kind, attempt in
                let extent = attempt.windows.map { " of \(counted($0, "window"))" } ?? ""
                return [
                    kind + extent, HTMLRenderer.number(attempt.crf), quality.metric.text(attempt.value),
                ]
            },
            caption: "Search of `crf`")
        return "<h3>Quality</h3>\n" + text + curve(quality)
    }

    /// Returns the drawing: the target, circles for probes and squares for files.
    private static func curve(_ quality: OutputResult.Quality) -> String {
        // Equal frames have an infinite PSNR, which has no place in the drawing.
        let shown = (quality.probes + quality.encodes).filter { $0.value < quality.metric.identity }
        let values = shown.map(\.value) + [quality.target - quality.within, quality.target + quality.within]
        guard Set(shown.map(\.crf)).count > 1, let lowest = values.min(), let highest = values.max(),
            let first = shown.map(\.crf).min(), let last = shown.map(\.crf).max(), lowest < highest
        else { return "" }
        func x(_ crf: Double) -> Double { left + 8 + (crf - first) / (last - first) * (width - left - 16) }
        func y(_ value: Double) -> Double {
            8 + (highest - value) / (highest - lowest) * (height - bottom - 16)
        }
        func number(_ value: Double) -> String { HTMLRenderer.number(value) }
        let band = (y(quality.target + quality.within), y(quality.target - quality.within))
        var marks =
            "<rect class=\"rate\" x=\"\(number(left))\" y=\"\(number(band.0))\" width=\"\(number(width - left))\" height=\"\(number(max(1, band.1 - band.0)))\"><title>\(Markup.escaped("target: \(quality.metric.text(quality.target))"))</title></rect>\n"
        // Probes of a part of the windows aren't comparable with the others.
        let most = shown.compactMap(\.windows).max()
        let comparable = shown.filter { $0.windows == nil || $0.windows == most }
        let line = Dictionary(comparable.map { ($0.crf, $0.value) }) { _, file in file }.sorted {
            $0.key < $1.key
        }
        marks +=
            "<polyline class=\"axis\" fill=\"none\" points=\"\(line.map { "\(number(x($0.key))),\(number(y($0.value)))" }.joined(separator: " "))\"/>\n"
        func title(_ attempt: OutputResult.Quality.Attempt) -> String {
            "<title>crf \(number(attempt.crf)): \(Markup.escaped(quality.metric.text(attempt.value)))</title>"
        }
        for probe in quality.probes where probe.value < quality.metric.identity {
            marks +=
                "<circle class=\"up-to-date\" cx=\"\(number(x(probe.crf)))\" cy=\"\(number(y(probe.value)))\" r=\"4\">\(title(probe))</circle>\n"
        }
        for file in quality.encodes where file.value < quality.metric.identity {
            marks +=
                "<rect class=\"succeeded\" x=\"\(number(x(file.crf) - 4))\" y=\"\(number(y(file.value) - 4))\" width=\"8\" height=\"8\">\(title(file))</rect>\n"
        }
        for value in [highest, lowest] {
            marks +=
                "<text x=\"0\" y=\"\(number(y(value) + 4))\">\(Markup.escaped(quality.metric.text(value)))</text>\n"
        }
        for (crf, anchor) in [(first, "start"), (last, "end")] {
            marks +=
                "<text x=\"\(number(x(crf)))\" y=\"\(number(height - 4))\" text-anchor=\"\(anchor)\">crf \(number(crf))</text>\n"
        }
        let label =
            "\(quality.metric.rawValue) over crf; circles: probes, squares: files, band: accepted values"
        return
            "<svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" style=\"max-width: 30rem\" role=\"img\" aria-label=\"\(label)\">\n\(marks)</svg>\n<p class=\"ends\" aria-hidden=\"true\"><span>\(label)</span></p>\n"
    }
}
