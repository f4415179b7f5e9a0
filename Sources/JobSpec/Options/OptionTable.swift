/// The options that job files may set of something, in the order by which they may stand without their names.
struct OptionTable {
    struct Entry {
        /// The name, and others for the same.
        var names: [String]
        var grammar: ValueGrammar
    }
    private(set) var entries: [Entry] = []
    private var positions: [String: Int] = [:]

    /// From words such as `out_w/w:e`: names, and after a `:` what the value is made of where the option's class doesn't
    /// say it: `e` a formula, `n` numbers, `w` words, `p` channels, `c` a colour, `i` a whole number, `d` a number, `b`
    /// yes or no, `z` zones of frames, `2` two whole numbers, `0..15` a whole number
    /// in bounds, `=a|b` one of these.
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

    /// The option of a name.
    subscript(name: String) -> Entry? { positions[name].map { entries[$0] } }

    /// All names.
    var names: [String] { entries.flatMap(\.names) }

    /// Tables by the first word of each line.
    static func tables(_ text: String) -> [String: OptionTable] {
        var tables: [String: OptionTable] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let name = words.first { tables[String(name)] = OptionTable(words.dropFirst()) }
        }
        return tables
    }
}
