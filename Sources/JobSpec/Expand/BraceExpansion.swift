internal import ExactStrings

/// The expansion of braces in patterns: `in/*.{wav,flac}` stands for `in/*.wav` and `in/*.flac`.
///
/// As in shells, braces may be nested, and braces without a comma are ordinary characters. Characters in brackets are not
/// part of the syntax: `[{]` is a literal brace. Scanning takes linear time, and the number of results is limited, because
/// a few braces in sequence stand for any number of patterns.
enum BraceExpansion {
    /// The maximum number of texts that one text stands for.
    static let limit = 100

    /// Braces with at least one comma, as offsets in the bytes of a text.
    private struct Group {
        var open: Int
        var commas: [Int] = []
        var close = 0
    }

    /// Returns whether a `{` that a comma follows is not closed.
    static func isUnclosed(in text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: "{")) && scan(Array(text.utf8)).isUnclosed
    }

    /// Returns the texts that a text stands for, in order; nil if there are more than `limit`. `isExpanded` selects the
    /// outermost braces that are expanded, by their bytes.
    static func expand(
        _ text: String, where isExpanded: (ArraySlice<UInt8>) -> Bool = { _ in true }
    ) -> [String]? {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return [text] }
        var results: [String] = []
        // Each text has at least one result, so that their number is a lower bound of the results.
        var pending = [Array(text.utf8)]
        while let next = pending.popLast() {
            guard let group = scan(next, where: isExpanded).first else {
                results.append(String(decoding: next, as: UTF8.self))
                continue
            }
            let ends = group.commas + [group.close]
            guard results.count + pending.count + ends.count <= limit else { return nil }
            let starts = [group.open + 1] + group.commas.map { $0 + 1 }
            for (start, end) in zip(starts, ends).reversed() {
                pending.append(Array(next[..<group.open] + next[start..<end] + next[(group.close + 1)...]))
            }
        }
        return results
    }

    /// Returns the first braces of a text that have a comma and are selected, outermost first, and whether a `{` that a
    /// comma follows is not closed.
    private static func scan(
        _ bytes: [UInt8], where isExpanded: (ArraySlice<UInt8>) -> Bool = { _ in true }
    ) -> (first: Group?, isUnclosed: Bool) {
        var first: Group?
        var open: [Group] = []
        var index = 0
        // End of a path component without a further `]`.
        var unclosedUntil = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "[") where index >= unclosedUntil:
                let (close, end) = endOfSet(bytes, at: index)
                if let close { index = close } else { unclosedUntil = end }
            case UInt8(ascii: "{"): open.append(Group(open: index))
            case UInt8(ascii: ","):
                if !open.isEmpty { open[open.count - 1].commas.append(index) }
            case UInt8(ascii: "}"):
                guard var group = open.popLast() else { break }
                group.close = index
                if !group.commas.isEmpty, first.map({ group.open < $0.open }) ?? true,
                    isExpanded(bytes[group.open...index])
                {
                    first = group
                }
            default: break
            }
            index += 1
        }
        return (first, open.contains { !$0.commas.isEmpty })
    }

    /// Returns the index of the `]` that closes a set, and the end of the path component; nil for a set that is not
    /// closed.
    private static func endOfSet(_ bytes: [UInt8], at open: Int) -> (close: Int?, end: Int) {
        let end = bytes[open...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
        let close = GlobPattern.closingBracket(bytes[..<end], of: open)
        return (close, end)
    }
}
