internal import CFFmpeg

/// An exact ratio of two 32-bit integers (`AVRational`), such as a time base in seconds, a frame rate, or an
/// aspect ratio.
public struct Rational: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The numerator.
    public var num: Int32
    /// The denominator; 0 with numerator 0 if the ratio is unknown.
    public var den: Int32

    /// Creates a ratio without reducing it.
    public init(_ num: Int32, _ den: Int32) {
        self.num = num
        self.den = den
    }

    init(_ value: AVRational) { self.init(value.num, value.den) }

    var av: AVRational { AVRational(num: num, den: den) }

    /// Whether numerator and denominator are positive.
    public var isPositive: Bool { num > 0 && den > 0 }
    /// The reciprocal, such as a frame rate for a frame duration.
    public var inverted: Rational { Rational(den, num) }
    /// The nearest `Double`, for display and estimates only; 0 for a denominator of 0.
    public var double: Double { den == 0 ? 0 : Double(num) / Double(den) }

    /// The ratio as `30000/1001`, or as `25` if the denominator is 1.
    public var description: String { den == 1 ? "\(num)" : "\(num)/\(den)" }

    /// Decodes the text that `description` returns, which is readable in a plan.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let parts = text.split(separator: "/")
        guard let num = parts.first.flatMap({ Int32($0) }),
            let den = parts.count == 1 ? 1 : Int32(parts[1]), parts.count <= 2
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a ratio: \(text)"))
        }
        self.init(num, den)
    }

    /// Encodes `description` as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Converts a value from this time base to another (`av_rescale_q`), rounded to the nearest integer, half away
    /// from zero. Results are clamped to an eighth of `Int64.max`, so that sums of a few don't overflow. An unknown
    /// timestamp remains unknown.
    package func rescale(_ value: Int64, to other: Rational) -> Int64 {
        if self == other || value == noTimestamp { return value }
        guard isPositive, other.isPositive else { return noTimestamp }
        let most = Int64.max / 8
        let result = av_rescale_q(value, av, other.av)
        // av_rescale_q returns Int64.min on overflow.
        if result == Int64.min { return value < 0 ? -most : most }
        return min(most, max(-most, result))
    }
}

/// The value of an unknown timestamp (`AV_NOPTS_VALUE`).
package let noTimestamp: Int64 = tandem_nopts
