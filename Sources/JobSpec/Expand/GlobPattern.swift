internal import ExactStrings

/// Matching of glob patterns with `*`, `?`, `[…]`, `**` and `{…,…}`.
package enum GlobPattern {
    /// Returns whether a path contains a wildcard. Braces are not wildcards: a pattern without any stands for several
    /// paths.
    package static func isPattern(_ path: String) -> Bool {
        path.utf8.contains { $0 == 0x2a || $0 == 0x3f || $0 == 0x5b }
    }

    /// Returns an error message for a malformed pattern; nil if it is valid.
    static func problem(_ path: String) -> String? {
        for part in path.pathParts where hasOpenBracket(Array(part.utf8)) {
            return "a `[` is not closed; write a literal `[` as `[[]`"
        }
        if BraceExpansion.isUnclosed(in: path) {
            return "a `{` is not closed; write a literal `{` as `[{]`"
        }
        guard let expansions = BraceExpansion.expand(path) else {
            return "its braces stand for more than \(BraceExpansion.limit) patterns"
        }
        for expansion in expansions {
            for part in expansion.pathParts where part.contains("**") && part != "**" {
                return "`**` must be a whole path component"
            }
            if expansion.components("**") > 4 { return "`**` may occur at most four times" }
        }
        return nil
    }

    /// A pattern of a search: the components of a path, each with the patterns of which a name must match one.
    package struct Branch: Sendable {
        package var isAbsolute: Bool
        package var components: [[String]]
    }

    /// Returns the searches that find the files of a valid pattern. Braces within one component share a search, so that
    /// its folders are listed once, and its files are in the order of their names.
    package static func branches(of pattern: String) -> [Branch] {
        let texts = BraceExpansion.expand(pattern) { braces in
            // The alternatives of these braces have different components.
            braces.contains(UInt8(ascii: "/")) || String(decoding: braces, as: UTF8.self).contains("**")
        }
        return (texts ?? []).flatMap { text -> [Branch] in
            var branches = [Branch(isAbsolute: text.utf8.first == UInt8(ascii: "/"), components: [])]
            for part in text.pathParts {
                let names = BraceExpansion.expand(part) ?? []
                // An empty alternative stands for no component.
                let groups = names.contains { ["", ".", ".."].contains($0) } ? names.map { [$0] } : [names]
                branches = branches.flatMap { branch in
                    groups.map { group in
                        var branch = branch
                        if group != [""], group != ["."] { branch.components.append(group) }
                        return branch
                    }
                }
            }
            return branches
        }
    }

    private static func hasOpenBracket(_ part: [UInt8]) -> Bool {
        var index = 0
        while index < part.count {
            if part[index] == 0x5b {
                guard let close = closingBracket(part[...], of: index) else { return true }
                index = close
            }
            index += 1
        }
        return false
    }

    /// Returns the index of the `]` that closes the `[` at an index; nil if there is none.
    static func closingBracket(_ bytes: ArraySlice<UInt8>, of open: Int) -> Int? {
        // A `]` directly after `[`, `[!` or `[^` is part of the set.
        let isNegated = open + 1 < bytes.endIndex && (bytes[open + 1] == 0x21 || bytes[open + 1] == 0x5e)
        let second = open + (isNegated ? 3 : 2)
        return bytes[min(bytes.endIndex, second)...].firstIndex(of: 0x5d)
    }

    /// Returns whether a path matches a pattern without braces, compared component by component.
    package static func matches(path: some Collection<String>, _ pattern: some Collection<String>)
        -> Bool
    {
        guard let part = pattern.first else { return path.isEmpty }
        let rest = pattern.dropFirst()
        if part == "**" {
            if matches(path: path, rest) { return true }
            guard let folder = path.first, folder.utf8.first != 0x2e, path.count > 1 else { return false }
            return matches(path: path.dropFirst(), pattern)
        }
        guard let name = path.first else { return false }
        let isMet =
            isPattern(String(part))
            ? matches(String(name), String(part)) : name.utf8.elementsEqual(part.utf8)
        return isMet && matches(path: path.dropFirst(), rest)
    }

    /// Returns whether a name matches one component of a pattern. Only a dot matches a leading dot.
    package static func matches(_ name: String, _ pattern: String) -> Bool {
        // Fast path: most patterns are `*` and an extension.
        if pattern.utf8.first == 0x2a, !isPattern(String(pattern.dropFirst())) {
            return name.utf8.first != 0x2e && name.utf8.count >= pattern.utf8.count - 1
                && name.utf8.suffix(pattern.utf8.count - 1).elementsEqual(pattern.utf8.dropFirst())
        }
        let (name, pattern) = (Array(name.unicodeScalars), Array(pattern.unicodeScalars))
        if name.first == ".", pattern.first != "." { return false }
        // Two indices and one backtracking point: linear in practice, at worst quadratic.
        var (n, p) = (0, 0)
        var star: (pattern: Int, name: Int)?
        while n < name.count {
            if p < pattern.count, pattern[p] == "*" {
                star = (p, n)
                p += 1
            } else if p < pattern.count, let next = step(pattern, p, name[n]) {
                p = next
                n += 1
            } else if let back = star {
                star = (back.pattern, back.name + 1)
                p = back.pattern + 1
                n = back.name + 1
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }

    /// Returns the index after the pattern element at `p` if the element matches the character; nil otherwise.
    private static func step(_ pattern: [Unicode.Scalar], _ p: Int, _ character: Unicode.Scalar) -> Int? {
        if pattern[p] == "?" { return p + 1 }
        guard pattern[p] == "[" else { return pattern[p] == character ? p + 1 : nil }
        let isNegated = p + 1 < pattern.count && (pattern[p + 1] == "!" || pattern[p + 1] == "^")
        let first = isNegated ? p + 2 : p + 1
        // A bracket that is the first element belongs to the set.
        guard let close = pattern[min(first, pattern.count)...].dropFirst().firstIndex(of: "]") else {
            return pattern[p] == character ? p + 1 : nil
        }
        let set = pattern[first..<close]
        var found = false
        var i = set.startIndex
        while i < set.endIndex {
            if i + 2 < set.endIndex, set[i + 1] == "-" {
                found = found || set[i] <= character && character <= set[i + 2]
                i += 3
            } else {
                found = found || set[i] == character
                i += 1
            }
        }
        return found != isNegated ? close + 1 : nil
    }
}

extension String {
    fileprivate func components(_ part: String) -> Int { pathParts.count { $0 == part } }
}
