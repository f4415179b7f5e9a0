internal import Diagnostics
package import LibAV
package import Media

/// A form in which a scalar may be written, as far as a JSON schema can describe it.
package enum ScalarForm: Sendable {
    /// An integer in a range.
    case integer(ClosedRange<Int>)
    /// A number in a range.
    case number(ClosedRange<Double>)
    /// `true` or `false`.
    case boolean
    /// A word of a list.
    case word([String])
    /// Text that matches a regular expression, with an example.
    case text(pattern: String, example: String)
    /// A name that the build of FFmpeg must know; it matches a regular expression.
    case libraryName(pattern: String, example: String)
}

/// The syntax of a scalar in job files, without the type of its value: for the schema and the reference.
package protocol ScalarSyntax: AnyObject, Sendable {
    /// The forms of the scalar; it must have one of them. Numbers within text are not bounded.
    var forms: [ScalarForm] { get }
    /// Returns whether the decoder accepts a text.
    func accepts(_ text: String) -> Bool
}

/// A type of scalars in job files. Optional values don't conform, so that the compiler doesn't infer one as the type of a key.
package protocol ScalarValue: Sendable {}

extension Bool: ScalarValue {}
extension Int: ScalarValue {}
extension Int32: ScalarValue {}
extension Int64: ScalarValue {}
extension Double: ScalarValue {}
extension String: ScalarValue {}
extension Thousandths: ScalarValue {}
extension Rational: ScalarValue {}
extension MediaTime: ScalarValue {}
extension TimeExpression: ScalarValue {}
extension KeyframeInterval: ScalarValue {}
extension CompositionSpec.Anchor: ScalarValue {}
extension CompositionSpec.Distance: ScalarValue {}
extension Dimensions: ScalarValue {}
extension PixelSize: ScalarValue {}
extension PixelFormat: ScalarValue {}
extension SampleFormat: ScalarValue {}
extension ChannelLayout: ScalarValue {}
extension Language.NamedColor: ScalarValue {}
extension WaveformImage.Color: ScalarValue {}

/// The syntax of a scalar in job files: its parser, its forms for the schema, and the messages about invalid texts.
///
/// The values of `extension Language` are listed in the tables of keys. The decoder finds the syntax of a key there.
package final class ValueSyntax<Value: ScalarValue>: ScalarSyntax {
    package let forms: [ScalarForm]
    private let parser: @Sendable (String) -> Value?
    private let refusal: @Sendable (_ text: String, _ what: String) -> InvalidValue

    /// Creates a syntax with any message. The closure returns the message about a text that the parser rejects.
    init(
        _ forms: [ScalarForm], refusal: @escaping @Sendable (_ text: String, _ what: String) -> InvalidValue,
        parser: @escaping @Sendable (String) -> Value?
    ) {
        self.forms = forms
        self.refusal = refusal
        self.parser = parser
    }

    /// Creates a syntax. `expected` is the end of the message about a text that the parser rejects.
    convenience init(
        _ forms: [ScalarForm], expected: String, help: @escaping @Sendable (String) -> String? = { _ in nil },
        parser: @escaping @Sendable (String) -> Value?
    ) {
        self.init(
            forms,
            refusal: { text, what in InvalidValue(text, of: what, expected: expected, help: help(text)) },
            parser: parser)
    }

    /// Returns the value of a text; nil if the text is invalid.
    package func parse(_ text: String) -> Value? { parser(text) }

    package func accepts(_ text: String) -> Bool { parser(text) != nil }

    /// Returns the message about an invalid text. `what` names the value, such as "`size`".
    func problem(_ text: String, of what: String) -> InvalidValue { refusal(text, what) }
}

/// The message about a scalar that isn't a value of its key.
struct InvalidValue: Sendable {
    var rule = Rule.invalidValue
    let message: String
    let help: String?

    init(rule: Rule = .invalidValue, message: String, help: String? = nil) {
        self.rule = rule
        self.message = message
        self.help = help
    }

    init(_ text: String, of what: String, expected: String, help: String? = nil) {
        self.init(message: "\(what) can't be `\(text)`; \(expected)", help: help)
    }
}

extension ScalarForm {
    /// The pattern of integers that are written as text.
    static let integerPattern = "^-?[0-9]+$"
    /// The pattern of numbers that are written as text.
    static let numberPattern = #"^-?[0-9]+(\.[0-9]+)?$"#

    /// Returns a bound as text, without a fraction if it is an integer.
    static func text(_ bound: Double) -> String {
        bound == bound.rounded() && abs(bound) < 1e15 ? "\(Int(bound))" : "\(bound)"
    }
}
