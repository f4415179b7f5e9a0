/// The options of a filter or an encoder that job files may set, in the order by which options without names
/// are identified.
struct OptionTable {
    struct Entry {
        /// Name of the option, followed by its aliases.
        var names: [String]
        var grammar: ValueGrammar
    }
    private(set) var entries: [Entry] = []
    private var positions: [String: Int] = [:]

    /// Creates a table from words such as `out_w/w:e`: an option's names, and after `:` the grammar of its value if the
    /// option's declaration is insufficient. The grammars are `e` an expression, `n` numbers, `w` words, `p` channels,
    /// `c` a color, `i` an integer, `d` a number, `b` a boolean, `z` zones of frames, `2` two integers, `0..15` an
    /// integer in bounds, `=a|b` one of these words.
    init(_ words: some Sequence<Substring>) {
        for word in words {
            let parts = word.split(separator: ":", maxSplits: 1)
            let names = parts[0].split(separator: "/").map(String.init)
            for name in names { positions[name] = entries.count }
            entries.append(Entry(names: names, grammar: Self.grammar(parts.count > 1 ? parts[1] : "")))
        }
    }

    private static func grammar(_ text: Substring) -> ValueGrammar {
        switch text {
        case "": .declared
        case "e": .expression
        case "n": .numbers
        case "w": .words
        case "p": .channels
        case "c": .color
        case "i": .integer
        case "d": .number
        case "b": .boolean
        case "z": .zones
        case "2": .pair
        case let bounds where bounds.first?.isNumber == true: .whole(Self.range(bounds))
        default: .choice(text.dropFirst().split(separator: "|").map(String.init))
        }
    }

    private static func range(_ text: Substring) -> ClosedRange<Int> {
        let ends = text.split(separator: ".").compactMap { Int($0) }
        return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : 0...0
    }

    /// Returns the option with a name or an alias; nil if there is none.
    subscript(name: String) -> Entry? { positions[name].map { entries[$0] } }

    /// All names and aliases.
    var names: [String] { entries.flatMap(\.names) }

    /// Parses one table per line, and returns the tables by the first word of the line.
    static func tables(_ text: String) -> [String: OptionTable] {
        var tables: [String: OptionTable] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let name = words.first { tables[String(name)] = OptionTable(words.dropFirst()) }
        }
        return tables
    }
}
