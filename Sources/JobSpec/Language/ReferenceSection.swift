/// A section of the reference. `tandem schema --reference` prints all sections as Markdown, `tandem help` single ones for a
/// terminal.
struct ReferenceSection: Sendable {
    /// Name for `tandem help`, such as `video-encode`.
    let topic: String
    let title: String
    /// Contents in one sentence, for the list of topics; nil for the keys of a mapping.
    let summary: String?
    let blocks: [ReferenceBlock]

    /// The section as Markdown, with a heading.
    var markdown: String {
        "## \(title)\n\n" + blocks.map(\.markdown).joined(separator: "\n")
    }

    /// Returns the section for a terminal, with lines of at most `width` columns.
    func text(width: Int) -> String {
        ([title + "\n"] + blocks.map { $0.text(width: width) }).joined(separator: "\n")
    }
}

/// A paragraph, a table or a list of the reference. Texts may contain Markdown's backticks and `**`.
enum ReferenceBlock: Sendable {
    case paragraph(String)
    case table([String], rows: [[String]])
    /// A numbered list.
    case steps([String])

    var markdown: String {
        switch self {
        case .paragraph(let text): text + "\n"
        case .table(let head, let rows):
            ([head, head.map { _ in "---" }] + rows).map { row in
                "| \(row.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n"
            }.joined()
        case .steps(let steps):
            steps.enumerated().map { "\($0 + 1). \($1.replacing("\n", with: "\n   "))\n" }.joined()
        }
    }

    /// Returns the block for a terminal, indented by two columns.
    func text(width: Int) -> String {
        switch self {
        case .paragraph(let text): Self.lines(text, width: width, indent: 2)
        case .table(_, let rows): rows.map { Self.row($0, among: rows, width: width) }.joined()
        case .steps(let steps):
            steps.enumerated().map { index, step in
                let number = "  \(index + 1). "
                return number + Self.lines(step, width: width, indent: number.count).dropFirst(number.count)
            }.joined()
        }
    }

    /// Returns a row: the first cell in a column of its own, the others wrapped beside it, one below the other. The column
    /// takes at most a third of the width; a longer cell has its own line.
    private static func row(_ cells: [String], among rows: [[String]], width: Int) -> String {
        let key = plain(cells.first ?? "")
        let longest = rows.map { plain($0.first ?? "").count }.filter { $0 <= width / 3 }.max() ?? 0
        let indent = longest + 4
        let values = cells.dropFirst().map { lines($0, width: width, indent: indent) }.joined()
        guard key.count <= longest else { return lines(key, width: width, indent: 2) + values }
        return "  \(key)" + values.dropFirst(2 + key.count)
    }

    /// Returns a text wrapped between words, with each line indented.
    private static func lines(_ text: String, width: Int, indent: Int) -> String {
        let room = max(20, width - indent)
        var lines: [String] = []
        for word in plain(text).split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, last.count + 1 + word.count <= room {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
    }

    /// Returns a text without Markdown's marks for strong text, which have another meaning between backticks.
    private static func plain(_ text: String) -> String {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part).replacing("**", with: "") : String(part)
        }.joined(separator: "`")
    }
}
