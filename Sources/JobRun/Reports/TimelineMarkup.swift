internal import JobPlan

/// A drawing of a composition's time line: clips, layers and audio items, in as many rows as overlap.
enum TimelineMarkup {
    private static let (width, left, row) = (720.0, 90.0, 18.0)
    /// Maximum number of rows of each kind; the last row contains everything beyond.
    private static let maxRows = 12

    static func render(_ stretches: [TimelineSection]) -> String {
        let length = stretches.map(\.end).max() ?? 0
        guard length > 0 else { return "" }
        // Sections of one kind that don't overlap share a row.
        var rows: [(kind: TimelineSection.Kind, end: Double)] = []
        var rowOfClip: [Int: Int] = [:]
        func rowIndex(_ stretch: TimelineSection) -> Int {
            if stretch.kind == .copied { return rowOfClip[stretch.index] ?? 0 }
            let own = rows.indices.filter { rows[$0].kind == stretch.kind }
            var found = own.first { rows[$0].end <= stretch.start + 1e-6 }
            if found == nil, own.count < maxRows {
                rows.append((stretch.kind, 0))
                found = rows.count - 1
            }
            let row = found ?? own.last ?? 0
            rows[row].end = max(rows[row].end, stretch.end)
            if stretch.kind == .clip { rowOfClip[stretch.index] = row }
            return row
        }
        var bars = ""
        for stretch in stretches {
            let x = left + stretch.start / length * (width - left)
            let barWidth = max(1, (stretch.end - stretch.start) / length * (width - left) - 1)
            let isCopy = stretch.kind == .copied
            let y = Double(rowIndex(stretch)) * row + (isCopy ? row - 6 : 2)
            let title =
                "\(stretch.kind.rawValue) \(stretch.index): \(stretch.name), \(HTMLRenderer.seconds(stretch.start)) to \(HTMLRenderer.seconds(stretch.end))"
            bars +=
                "<rect class=\"\(stretch.kind.rawValue)\" x=\"\(HTMLRenderer.number(x))\" y=\"\(HTMLRenderer.number(y))\" width=\"\(HTMLRenderer.number(barWidth))\" height=\"\(isCopy ? 3 : Int(row) - 5)\" rx=\"2\"><title>\(Markup.escaped(title))</title></rect>\n"
        }
        for (index, row) in rows.enumerated() where index == 0 || rows[index - 1].kind != row.kind {
            let name = ["clip": "clips", "layer": "layers"][row.kind.rawValue] ?? row.kind.rawValue
            bars +=
                "<text x=\"0\" y=\"\(HTMLRenderer.number(Double(index + 1) * Self.row - 5))\">\(name)</text>\n"
        }
        let height = Double(rows.count) * row + 2
        let legend = stretches.contains { $0.kind == .copied } ? "green: copied" : ""
        let label =
            "Composition of \(HTMLRenderer.seconds(length)): \(stretches.count { $0.kind == .clip }) clips"
        return "<h3>Composition</h3>\n"
            + "<svg class=\"curve\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" aria-label=\"\(Markup.escaped(label))\">\n"
            + bars
            + "</svg>\n<p class=\"ends\" aria-hidden=\"true\"><span>0 s</span><span>\(legend)</span><span>\(Markup.escaped(HTMLRenderer.seconds(length)))</span></p>\n"
    }
}
