/// The visible rectangle of a coded frame (`clap` of the sample description, `AVVideoCleanApertureKey`), exact.
public struct CleanAperture: Hashable, Codable, Sendable {
    /// Width in pixels.
    public var width: Rational
    /// Height in pixels.
    public var height: Rational
    /// Distance of its center to the right of the frame's center, in pixels.
    public var horizontalOffset: Rational
    /// Distance of its center below the frame's center, in pixels.
    public var verticalOffset: Rational

    /// Creates a rectangle, by default in the center of the frame.
    public init(
        width: Rational, height: Rational, horizontalOffset: Rational = Rational(0, 1),
        verticalOffset: Rational = Rational(0, 1)
    ) {
        self.width = width
        self.height = height
        self.horizontalOffset = horizontalOffset
        self.verticalOffset = verticalOffset
    }

    /// Returns whether the rectangle isn't empty, and is inside frames of a size in pixels.
    package func isInside(width frameWidth: Int, height frameHeight: Int) -> Bool {
        func isInside(_ length: Rational, _ offset: Rational, _ size: Int) -> Bool {
            guard length.isPositive, offset.den > 0 else { return false }
            // |offset| + length / 2 <= size / 2
            let shift = Int128(offset.num.magnitude) * 2 * Int128(length.den)
            return shift + Int128(length.num) * Int128(offset.den)
                <= Int128(size) * Int128(length.den) * Int128(offset.den)
        }
        return isInside(width, horizontalOffset, frameWidth) && isInside(height, verticalOffset, frameHeight)
    }
}
