/// The validation of libavutil's expressions (`av_expr_parse`) before they are passed on. Only listed
/// functions are allowed, because some others may loop without limit (`while(1,1)`) or write to the log.
enum Expression {
    /// Functions with bounded execution time.
    private static let functions: Set<String> = [
        "abs", "acos", "asin", "atan", "atan2", "between", "bitand", "bitor", "ceil", "clip", "cos", "cosh",
        "eq", "exp", "floor", "gammaval", "gammaval709", "gauss", "gcd", "gt", "gte", "hypot", "if", "ifnot",
        "isinf", "isnan", "ld", "lerp", "log", "lt", "lte", "max", "min", "mod", "not", "pow", "roth", "rotw",
        "round", "sgn", "sin", "sinh", "sqrt", "squish", "st", "tan", "tanh", "trunc",
    ]
    private static let depth = 32

    /// Returns the reason why an expression is invalid; nil if it is valid.
    static func problem(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { return "the expression is empty" }
        var (position, open) = (0, 0)
        while position < bytes.count {
            let byte = bytes[position]
            if isLetter(byte) || byte == UInt8(ascii: "_") {
                let start = position
                while position < bytes.count,
                    isLetter(bytes[position]) || isDigit(bytes[position])
                        || bytes[position] == UInt8(ascii: "_")
                {
                    position += 1
                }
                let name = String(decoding: bytes[start..<position], as: UTF8.self)
                var next = position
                while next < bytes.count, isSpace(bytes[next]) { next += 1 }
                if next < bytes.count, bytes[next] == UInt8(ascii: "("), !functions.contains(name) {
                    return "the function `\(name)` can't be used in a job file"
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "("):
                open += 1
                if open > depth { return "the expression has more than \(depth) levels of parentheses" }
            case UInt8(ascii: ")"):
                open -= 1
                if open < 0 { return "unexpected `)`" }
            default:
                guard isDigit(byte) || isSpace(byte) || operators.contains(byte) else {
                    return "`\(String(decoding: [byte], as: UTF8.self))` is not allowed in an expression"
                }
            }
            position += 1
        }
        return open == 0 ? nil : "missing `)`"
    }

    private static let operators = Set("+-*/^.,;:<>=!".utf8)

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte & 0xdf) }
    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}
