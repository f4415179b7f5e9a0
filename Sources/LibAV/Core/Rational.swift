internal import CFFmpeg

/// An exact ratio of two 32-bit integers (`AVRational`): a time base in seconds, a frame rate, an aspect.
public struct Rational: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The numerator.
    public var num: Int32
    /// The denominator; 0 together with `num` 0 says "unknown".
    public var den: Int32

    /// Makes a ratio as given, not reduced.
    public init(_ num: Int32, _ den: Int32) {
        self.num = num
        self.den = den
    }

    init(_ value: AVRational) { self.init(value.num, value.den) }

    var av: AVRational { AVRational(num: num, den: den) }

    /// Both parts positive.
    public var isPositive: Bool { num > 0 && den > 0 }
    /// Numerator and denominator exchanged.
    public var inverted: Rational { Rational(den, num) }
    /// The nearest binary floating-point number, for display and estimates only.
    public var double: Double { den == 0 ? 0 : Double(num) / Double(den) }

    /// As `30000/1001`, or `25` where the denominator is 1.
    public var description: String { den == 1 ? "\(num)" : "\(num)/\(den)" }

    /// Reads back `description`, so that the ratio stays readable in a plan.
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

    /// Writes `description`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// A value of this time base in another, rounded to the nearest, half away from zero (`av_rescale_q`). What is too
    /// large is as large as sums of a few such values can be.
    public func rescale(_ value: Int64, to other: Rational) -> Int64 {
        if self == other || value == noTimestamp { return value }
        guard isPositive, other.isPositive else { return noTimestamp }
        let most = Int64.max / 8
        let result = av_rescale_q(value, av, other.av)
        // What doesn't fit comes back as the least of all.
        if result == Int64.min { return value < 0 ? -most : most }
        return min(most, max(-most, result))
    }
}

/// "No time stamp" (`AV_NOPTS_VALUE`).
package let noTimestamp: Int64 = tandem_nopts
