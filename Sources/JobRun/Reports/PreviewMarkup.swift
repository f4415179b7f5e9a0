internal import FoundationEssentials
internal import JobPlan
internal import Media

/// The HTML preview of an output: image pairs of source and output, waveform, bit rate curve.
enum PreviewMarkup {
    private static let width = 720.0

    static func render(_ preview: JobPreview) -> String {
        var text = ""
        if !preview.pairs.isEmpty {
            text += "<h3>Source and output</h3>\n<div class=\"pairs\">\n"
            for pair in preview.pairs.prefix(12) { text += figure(pair) }
            text += "</div>\n"
        }
        if let waveform = preview.waveform { text += curve(waveform) }
        if let bitRate = preview.bitRate { text += curve(bitRate) }
        if !preview.problems.isEmpty {
            text += "<p class=\"soft\">Not shown: "
            text += Markup.escaped(preview.problems.joined(separator: "; ")) + "</p>\n"
        }
        return text
    }

    /// Returns the image pairs of a preview that fit into `bytes`, starting from the middle. If not even one pair fits,
    /// only the output's image is returned.
    static func pairs(_ preview: JobPreview, within bytes: Int) -> [JobPreview.Pair] {
        let all = Array(preview.pairs.prefix(12))
        let order = all.indices.sorted { abs($0 * 2 - (all.count - 1)) < abs($1 * 2 - (all.count - 1)) }
        var left = bytes
        var kept: [Int: JobPreview.Pair] = [:]
        for index in order {
            var pair = all[index]
            if figure(pair).utf8.count > left, pair.output != nil { pair.source = nil }
            let size = figure(pair).utf8.count
            guard size <= left, pair.source != nil || kept.isEmpty || all[index].source == nil else { break }
            left -= size
            kept[index] = pair
        }
        return kept.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func figure(_ pair: JobPreview.Pair) -> String {
        var text = "<figure>"
        for (thumbnail, name) in [(pair.source, "Source"), (pair.output, "Output")] {
            guard let thumbnail else { continue }
            let at = "\(name) at \(HTMLRenderer.seconds(thumbnail.time.seconds))"
            text +=
                "<img src=\"data:image/jpeg;base64,\(thumbnail.jpeg.base64EncodedString())\" width=\"\(thumbnail.width)\" height=\"\(thumbnail.height)\" alt=\"\(Markup.escaped(at))\">"
        }
        let times = [pair.source.map { ("source", $0) }, pair.output.map { ("output", $0) }].compactMap { $0 }
            .map { "\($0.0) \(HTMLRenderer.seconds($0.1.time.seconds))" }
        return text + "<figcaption>\(Markup.escaped(times.joined(separator: ", ")))</figcaption></figure>\n"
    }

    private static func curve(_ waveform: Waveform) -> String {
        // One line per column, in integers: a fifth of the size of an outline.
        let height = 80
        let count = max(1, waveform.peaks.count)
        func bars(_ values: [UInt8]) -> String {
            var path = ""
            for (index, value) in values.enumerated() {
                let half = (Int(value) * height / 2 + 127) / 255
                path += "M\(index * 2 + 1) \(height / 2 - half)v\(max(1, half * 2))"
            }
            return path
        }
        let loudest = Double(waveform.peaks.max() ?? 0) / 255
        let caption =
            "Waveform of \(HTMLRenderer.seconds(waveform.duration.seconds)), peak \(Int((loudest * 100).rounded())) % of full scale"
        return "<h3>Audio</h3>\n"
            + "<svg class=\"curve wave\" viewBox=\"0 0 \(count * 2) \(height)\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"\(Markup.escaped(caption))\">"
            + "<path class=\"bars peaks\" d=\"\(bars(waveform.peaks))\"/><path class=\"bars\" d=\"\(bars(waveform.levels))\"/>"
            + axisLabels(HTMLRenderer.seconds(waveform.duration.seconds), "")
    }

    private static func curve(_ rate: BitRateCurve) -> String {
        let height = 80.0
        let maximum = rate.bitRates.max() ?? 0
        guard maximum > 0, !rate.bitRates.isEmpty else { return "" }
        let step = width / Double(rate.bitRates.count)
        var path = "M\(point(0, height))"
        for (index, value) in rate.bitRates.enumerated() {
            let y = height - Double(value) / Double(maximum) * (height - 2)
            path += "L\(point(Double(index) * step, y))L\(point(Double(index + 1) * step, y))"
        }
        path += "L\(point(width, height))Z"
        let length = HTMLRenderer.seconds(rate.duration.seconds)
        let caption = "maximum \(kilobits(Double(maximum))), average \(kilobits(Double(rate.average)))"
        return "<h3>Bit rate</h3>\n" + svg(height: height, "Bit rate over \(length): \(caption)")
            + "<path class=\"rate\" d=\"\(path)\"/>" + axis(height)
            + axisLabels(length, caption)
    }

    private static func svg(height: Double, _ label: String) -> String {
        "<svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(Markup.escaped(label))\">"
    }

    private static func axis(_ y: Double) -> String {
        "<line class=\"axis\" x1=\"0\" x2=\"\(Int(width))\" y1=\"\(HTMLRenderer.number(y))\" y2=\"\(HTMLRenderer.number(y))\"/>"
    }

    /// Renders the axis labels and the caption as HTML text, because text in the SVG would shrink on a phone.
    private static func axisLabels(_ length: String, _ caption: String) -> String {
        let texts = ["0 s", caption, length].map { "<span>\(Markup.escaped($0))</span>" }
        return "</svg>\n<p class=\"ends\" aria-hidden=\"true\">\(texts.joined())</p>\n"
    }

    private static func point(_ x: Double, _ y: Double) -> String {
        "\(HTMLRenderer.number(x)) \(HTMLRenderer.number(y))"
    }

    private static func kilobits(_ value: Double) -> String {
        value >= 10_000_000
            ? "\(HTMLRenderer.number(value / 1e6)) Mbit/s"
            : "\(HTMLRenderer.number((value / 1e3).rounded())) kbit/s"
    }
}
