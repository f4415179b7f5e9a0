internal import JobPlan

/// An SVG drawing of a composition's time line: clips, layers and audio items. Overlapping items are drawn in separate
/// rows, up to `maxRows` of each kind.
enum TimelineMarkup {
    private static let (width, left, row) = (720.0, 90.0, 18.0)
    /// Maximum number of rows for each kind; the last row also contains all further items.
    private static let maxRows = 12

    static func render(_ sections: [TimelineSection]) -> String {
        let length = sections.map(\.end).max() ?? 0
        guard length > 0 else { return "" }
        // Items of one kind that don't overlap share a row.
        var rows: [(kind: TimelineSection.Kind, end: Double)] = []
        var rowOfClip: [Int: Int] = [:]
        func rowIndex(_ section: TimelineSection) -> Int {
            if section.kind == .copied { return rowOfClip[section.index] ?? 0 }
            let own = rows.indices.filter { rows[$0].kind == section.kind }
            var found = own.first { rows[$0].end <= section.start + 1e-6 }
            if found == nil, own.count < maxRows {
                rows.append((section.kind, 0))
                found = rows.count - 1
            }
            let row = found ?? own.last ?? 0
            rows[row].end = max(rows[row].end, section.end)
            if section.kind == .clip { rowOfClip[section.index] = row }
            return row
        }
        var bars = ""
        for section in sections {
            let x = left + section.start / length * (width - left)
            let barWidth = max(1, (section.end - section.start) / length * (width - left) - 1)
            let isCopy = section.kind == .copied
            let y = Double(rowIndex(section)) * row + (isCopy ? row - 6 : 2)
            let title =
                "\(section.kind.rawValue) \(section.index): \(section.name), \(HTMLRenderer.seconds(section.start)) to \(HTMLRenderer.seconds(section.end))"
            bars +=
                "<rect class=\"\(section.kind.rawValue)\" x=\"\(HTMLRenderer.number(x))\" y=\"\(HTMLRenderer.number(y))\" width=\"\(HTMLRenderer.number(barWidth))\" height=\"\(isCopy ? 3 : Int(row) - 5)\" rx=\"2\"><title>\(Markup.escaped(title))</title></rect>\n"
        }
        for (index, row) in rows.enumerated() where index == 0 || rows[index - 1].kind != row.kind {
            let name = ["clip": "clips", "layer": "layers"][row.kind.rawValue] ?? row.kind.rawValue
            bars +=
                "<text x=\"0\" y=\"\(HTMLRenderer.number(Double(index + 1) * Self.row - 5))\">\(name)</text>\n"
        }
        let height = Double(rows.count) * row + 2
        let legend = sections.contains { $0.kind == .copied } ? "green: copied" : ""
        let label =
            "Composition of \(HTMLRenderer.seconds(length)): \(sections.count { $0.kind == .clip }) clips"
        return "<h3>Composition</h3>\n"
            + "<svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(Markup.escaped(label))\">\n"
            + bars
            + "</svg>\n<p class=\"ends\" aria-hidden=\"true\"><span>0 s</span><span>\(legend)</span><span>\(Markup.escaped(HTMLRenderer.seconds(length)))</span></p>\n"
    }
}
