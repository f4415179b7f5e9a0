internal import Glibc
internal import LibAV

/// The grammar of an option's value. FFmpeg and the encoders evaluate numbers as expressions and parse strings, so each
/// value is validated here first.
enum ValueGrammar: Hashable {
    /// The grammar that the option's declaration (`AVOption`) determines, such as a number in its bounds, one of its
    /// constants, or a color.
    case declared
    /// An expression of numbers and of names that a filter defines; without loops.
    case expression
    /// Numbers with separators.
    case numbers
    /// Names with separators: pixel formats, sample formats, partitions.
    case words
    /// Names and numbers of `pan` and `channelmap`, with their operators.
    case channels
    case color
    /// A word of a list.
    case choice([String])
    case integer
    case number
    /// A boolean, in one of the spellings of encoders.
    case boolean
    /// Ranges of frames, each with a quantizer or a bit rate factor (`0,100,q=20/200,300,b=1.5`). Other settings, which
    /// x264 accepts in zones, are rejected.
    case zones
    /// Two integers (`1000,400`).
    case pair
    /// An integer in bounds.
    case whole(ClosedRange<Int>)

    /// Maximum length of a value in bytes.
    static let limit = 1024

    /// Returns the reason why a value is invalid; nil if it is valid. `declaration` is the option's declaration in its
    /// `AVClass`, which only `declared` requires.
    func problem(_ text: String, declaration: OptionInfo? = nil) -> String? {
        guard text.utf8.count <= Self.limit else { return "longer than \(Self.limit) bytes" }
        switch self {
        case .declared:
            guard let declaration else { return "its type is unknown" }
            return DeclaredValue.problem(text, declaration)
        case .expression: return Expression.problem(text)
        case .numbers:
            return Self.consists(text, of: Self.digits + "+-., /|:eE") ? nil : "expected numbers"
        case .words:
            return Self.consists(text, of: Self.letters + Self.digits + "_-+.|,/()")
                ? nil : "expected names"
        case .channels:
            return Self.consists(text, of: Self.letters + Self.digits + " _.|=<+-*~()")
                ? nil : "expected channel names"
        case .color:
            return Self.consists(text, of: Self.letters + Self.digits + "#@.") ? nil : "expected a color"
        case .choice(let words):
            return words.contains(text) ? nil : "expected \(words.joined(separator: " or "))"
        case .integer: return Self.isInteger(text) ? nil : "expected an integer"
        case .number: return Self.isNumber(text) ? nil : "expected a number"
        case .zones:
            return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isZone)
                ? nil : "expected zones such as `0,100,q=20`, separated by `/`"
        case .pair:
            let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { UInt32($0) }
            return numbers.count == 2 && !numbers.contains(nil)
                ? nil : "expected two numbers such as `1000,400`"
        case .whole(let range):
            return Int(text).map(range.contains) == true
                ? nil : "it must be from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: return Self.booleans.contains(text) ? nil : "expected 0 or 1"
        }
    }

    static let booleans: Set<String> = [
        "0", "1", "-1", "true", "false", "yes", "no", "y", "n", "on", "off", "enable", "disable", "enabled",
        "disabled", "auto",
    ]
    private static let digits = "0123456789"
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

    private static func consists(_ text: String, of characters: String) -> Bool {
        let allowed = Set(characters.utf8)
        return !text.isEmpty && text.utf8.allSatisfy(allowed.contains)
    }

    private static func isZone(_ text: Substring) -> Bool {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, isInteger(parts[0]), isInteger(parts[1]) else { return false }
        return (parts[2].hasPrefix("q=") || parts[2].hasPrefix("b="))
            && isNumber(String(parts[2].dropFirst(2)))
    }

    static func isInteger(_ text: String) -> Bool {
        let digits = text.first.map { "+-".contains($0) } == true ? text.dropFirst() : text[...]
        return !digits.isEmpty && digits.utf8.count <= 19 && digits.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// Returns whether a text is a number with optional sign, point and exponent, and not an expression.
    static func isNumber(_ text: String) -> Bool {
        guard consists(text, of: digits + "+-.eE"), text.utf8.count <= 64 else { return false }
        return Double(text)?.isFinite == true
    }
}

/// The validation of a value by the option's declaration.
enum DeclaredValue {
    static func problem(_ text: String, _ option: OptionInfo) -> String? {
        switch option.kind {
        case .integer, .real:
            if option.constants.contains(text) || ["default", "min", "max"].contains(text) { return nil }
            if let number = number(text, isReal: option.kind == .real) {
                return option.range.contains(number) ? nil : "it must be \(bounds(option.range))"
            }
            return option.constants.isEmpty
                ? "expected a number" : "expected a number or \(list(option.constants))"
        case .flags:
            let names = text.split(whereSeparator: { "+-|".contains($0) }).map(String.init)
            let isKnown = names.allSatisfy { option.constants.contains($0) || ValueGrammar.isInteger($0) }
            return isKnown && !names.isEmpty
                ? nil : "expected values of \(list(option.constants)), separated by `+`"
        case .boolean: return ValueGrammar.boolean.problem(text)
        case .color: return ValueGrammar.color.problem(text)
        case .rational, .duration, .frameRate, .imageSize:
            let allowed = Set("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:/.-+".utf8)
            return !text.isEmpty && text.utf8.allSatisfy(allowed.contains)
                ? nil : "expected a \(name(option.kind))"
        case .pixelFormat: return PixelFormat(named: text) == nil ? "unknown pixel format" : nil
        case .sampleFormat: return SampleFormat(named: text) == nil ? "unknown sample format" : nil
        case .channelLayout: return ChannelLayout(named: text) == nil ? "unknown channel layout" : nil
        case .string, .dictionary, .other: return "not supported in a job file"
        }
    }

    /// Parses a number in FFmpeg's syntax: `1.5`, `128k`, `-3dB`.
    private static func number(_ text: String, isReal: Bool) -> Double? {
        if ValueGrammar.isNumber(text) { return Double(text) }
        if text.hasSuffix("dB"), ValueGrammar.isNumber(String(text.dropLast(2))) {
            guard isReal, let decibels = Double(text.dropLast(2)) else { return nil }
            return pow(10, decibels / 20)
        }
        let factors: [Character: Double] = ["k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "u": 1e-6]
        guard let factor = text.last.flatMap({ factors[$0] }), ValueGrammar.isNumber(String(text.dropLast()))
        else { return nil }
        return Double(text.dropLast()).map { $0 * factor }
    }

    private static func bounds(_ range: ClosedRange<Double>) -> String {
        "from \(text(range.lowerBound)) to \(text(range.upperBound))"
    }

    private static func text(_ value: Double) -> String {
        value.magnitude < 1e15 && value == value.rounded() ? "\(Int64(value))" : "\(value)"
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
    }

    private static func name(_ kind: OptionInfo.Kind) -> String {
        switch kind {
        case .duration: "time"
        case .frameRate: "frame rate"
        case .imageSize: "size such as 1280x720"
        default: "ratio"
        }
    }
}
