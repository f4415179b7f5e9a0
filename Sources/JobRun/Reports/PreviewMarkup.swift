internal import FoundationEssentials
internal import JobPlan
internal import Media

/// What a page shows of an output beside its source: frames, audio, bit rate.
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
        let height = 80.0
        let step = width / Double(max(1, waveform.peaks.count))
        func area(_ values: [UInt8]) -> String {
            var upper = "", lower: [String] = []
            for (index, value) in values.enumerated() {
                let half = Double(value) / 255 * height / 2
                let (x, end) = (Double(index) * step, Double(index + 1) * step)
                upper +=
                    "\(upper.isEmpty ? "M" : "L")\(point(x, height / 2 - half))L\(point(end, height / 2 - half))"
                lower.append("L\(point(end, height / 2 + half))L\(point(x, height / 2 + half))")
            }
            return upper + lower.reversed().joined() + "Z"
        }
        let loudest = Double(waveform.peaks.max() ?? 0) / 255
        let said =
            "Waveform of \(HTMLRenderer.seconds(waveform.duration.seconds)), peak \(Int((loudest * 100).rounded())) % of full scale"
        return "<h3>Audio</h3>\n"
            + svg(height: height, said)
            + "<path class=\"peak\" d=\"\(area(waveform.peaks))\"/><path class=\"level\" d=\"\(area(waveform.levels))\"/>"
            + axis(height / 2) + ends(HTMLRenderer.seconds(waveform.duration.seconds), "")
    }

    private static func curve(_ rate: BitRateCurve) -> String {
        let height = 80.0
        let most = rate.bitRates.max() ?? 0
        guard most > 0, !rate.bitRates.isEmpty else { return "" }
        let step = width / Double(rate.bitRates.count)
        var path = "M\(point(0, height))"
        for (index, value) in rate.bitRates.enumerated() {
            let y = height - Double(value) / Double(most) * (height - 2)
            path += "L\(point(Double(index) * step, y))L\(point(Double(index + 1) * step, y))"
        }
        path += "L\(point(width, height))Z"
        let length = HTMLRenderer.seconds(rate.duration.seconds)
        let said = "\(kilobits(Double(most))) at most, \(kilobits(Double(rate.average))) on the average"
        return "<h3>Bit rate</h3>\n" + svg(height: height, "Bit rate over \(length): \(said)")
            + "<path class=\"rate\" d=\"\(path)\"/>" + axis(height)
            + ends(length, said)
    }

    private static func svg(height: Double, _ label: String) -> String {
        "<svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(Markup.escaped(label))\">"
    }

    private static func axis(_ y: Double) -> String {
        "<line class=\"axis\" x1=\"0\" x2=\"\(Int(width))\" y1=\"\(HTMLRenderer.number(y))\" y2=\"\(HTMLRenderer.number(y))\"/>"
    }

    /// The curve's end, and what is written below: as text of the page, which keeps its size on a phone.
    private static func ends(_ length: String, _ said: String) -> String {
        let texts = ["0 s", said, length].map { "<span>\(Markup.escaped($0))</span>" }
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
