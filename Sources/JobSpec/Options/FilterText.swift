/// The parser of filter chains with libavfilter's syntax (`avfilter_graph_parse`, `av_get_token`): `'` quotes
/// text without escapes, `\` escapes the next character, and options are parsed a second time by the same
/// rules.
///
/// The filter graph is created from the result; libavfilter never receives the text. A difference between the
/// parsers would affect only users who reuse chains from other tools; a test compares them.
struct FilterText {
    /// A filter with its options.
    struct Step: Equatable {
        var name: String
        /// Options in order. An option without a name is identified by its position.
        var options: [Option]
    }

    struct Option: Equatable {
        var name: String?
        var value: String
    }

    /// The error for a text that is not a filter chain.
    struct Problem: Error, Equatable {
        var reason: String
    }

    private static let spaces = Set(" \n\t\r".utf8)

    static func parse(_ text: String) throws(Problem) -> [Step] {
        guard text.utf8.count <= 4096, !text.utf8.contains(where: Set(";[]\0".utf8).contains) else {
            throw Problem(
                reason:
                    "`filters` must be a chain of filters, separated by `,`, without labels and `;`, of at most 4096 bytes"
            )
        }
        let bytes = Array(text.utf8)
        var position = 0
        var steps: [Step] = []
        while true {
            let name = try token(bytes, &position, until: Set("=,".utf8))
            guard !name.isEmpty else { throw Problem(reason: "a filter's name is missing") }
            var options: [Option] = []
            if position < bytes.count, bytes[position] == UInt8(ascii: "=") {
                position += 1
                options = try self.options(try token(bytes, &position, until: Set(",".utf8)))
            }
            steps.append(Step(name: String(decoding: name, as: UTF8.self), options: options))
            guard position < bytes.count else { return steps }
            position += 1
        }
    }

    private static func options(_ bytes: [UInt8]) throws(Problem) -> [Option] {
        var position = 0
        var options: [Option] = []
        while position < bytes.count {
            let name = name(bytes, &position)
            let value = try token(bytes, &position, until: Set(":".utf8))
            options.append(Option(name: name, value: String(decoding: value, as: UTF8.self)))
            if position < bytes.count { position += 1 }
        }
        return options
    }

    /// Reads a name followed by `=`; returns nil and keeps the position if there is none.
    private static func name(_ bytes: [UInt8], _ position: inout Int) -> String? {
        var end = position
        while end < bytes.count, spaces.contains(bytes[end]) { end += 1 }
        let start = end
        while end < bytes.count, isNameByte(bytes[end]) { end += 1 }
        let name = bytes[start..<end]
        while end < bytes.count, spaces.contains(bytes[end]) { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "=") else { return nil }
        position = end + 1
        return String(decoding: name, as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (65...90).contains(byte & 0xdf) || (48...57).contains(byte) || Set("-_/.".utf8).contains(byte)
    }

    /// Reads the text before the first of `marks`, and removes quotes and escapes (`av_get_token`).
    static func token(_ bytes: [UInt8], _ position: inout Int, until marks: Set<UInt8>) throws(Problem)
        -> [UInt8]
    {
        while position < bytes.count, spaces.contains(bytes[position]) { position += 1 }
        var token: [UInt8] = []
        // Length up to the last quoted or escaped byte. Spaces up to there are not trimmed.
        var kept = 0
        while position < bytes.count, !marks.contains(bytes[position]) {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                token.append(bytes[position])
                position += 1
                kept = token.count
            } else if byte == UInt8(ascii: "'") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "'") {
                    token.append(bytes[position])
                    position += 1
                }
                guard position < bytes.count else { throw Problem(reason: "unbalanced `'`") }
                position += 1
                kept = token.count
            } else {
                token.append(byte)
            }
        }
        while token.count > kept, let last = token.last, spaces.contains(last) { token.removeLast() }
        return token
    }
}
