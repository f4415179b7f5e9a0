internal import LibAV
internal import Media

/// A size in pixels, of which one side may be unspecified.
package struct Dimensions: Hashable, Sendable {
    /// Width in pixels; nil to derive it from the height.
    package var width: Int?
    /// Height in pixels; nil to derive it from the width.
    package var height: Int?

    package init(width: Int?, height: Int?) {
        self.width = width
        self.height = height
    }
}

/// The syntax of sizes in pixels, ratios and distances.
extension Language {
    /// The maximum of a frame's width and height.
    static let maxSide = PixelSize.maxSide
    /// The width or height of a frame, and of a rectangle in it.
    static let side = integer(1...maxSide)
    /// The left or upper edge of a rectangle in a frame.
    static let edge = integer(0...maxSide)

    /// A size in pixels: `1280x720`, `1280x`, `x720`.
    static let dimensions = ValueSyntax(
        [.text(pattern: "^([0-9]+x[0-9]*|x[0-9]+)$", example: "1280x720")],
        expected: "expected a size such as 1280x720, 1280x or x720, up to \(maxSide) per side",
        help: { sizeMeant($0).map { "did you mean `\($0)`?" } }, parser: { plainDimensions($0) })

    private static func plainDimensions(_ text: String) -> Dimensions? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        func length(_ part: Substring) -> Int?? {
            if part.isEmpty { return .some(nil) }
            guard let value = Quantity.integer(part), part.first != "-", (1...maxSide).contains(value) else {
                return nil
            }
            return .some(value)
        }
        guard let width = length(parts[0]), let height = length(parts[1]), width != nil || height != nil
        else { return nil }
        return Dimensions(width: width, height: height)
    }

    /// Converts a size such as `720p`, `1280:720`, `1280×720` or `1280x-1` to the notation of job files; nil for other
    /// texts.
    private static func sizeMeant(_ text: String) -> String? {
        if let lines = Int(text.dropLast()), text.lowercased().hasSuffix("p") {
            let size = "x\(lines)"
            return plainDimensions(size) == nil ? nil : size
        }
        let size = String(text.lowercased().filter { $0 != " " }.map { ":×*".contains($0) ? "x" : $0 })
            .replacing("x-1", with: "x").replacing("x-2", with: "x")
        guard size != text, let found = plainDimensions(size) else { return nil }
        // `16:9` is a ratio.
        return (found.width ?? 32) >= 32 && (found.height ?? 32) >= 32 ? size : nil
    }

    /// The size of a waveform's image.
    static let waveformSize = fullSize(
        example: "1200x200", expected: "expected a size such as 1200x200, up to \(maxSide) per side")
    /// The size of a test signal.
    static let patternSize = fullSize(
        isEven: true, expected: "expected a size such as 1280x720, both sides even")
    /// The size of a composition.
    static let canvasSize = fullSize(
        isEven: true, atLeast: 16,
        expected: "expected a size such as 1280x720, both sides even and at least 16")

    /// Returns the syntax of a size with both sides.
    private static func fullSize(
        isEven: Bool = false, atLeast least: Int = 1, example: String = "1280x720", expected: String
    ) -> ValueSyntax<PixelSize> {
        ValueSyntax([.text(pattern: "^[0-9]+x[0-9]+$", example: example)], expected: expected) { text in
            guard let size = plainDimensions(text), let width = size.width, let height = size.height,
                [width, height].allSatisfy({ $0 >= least && (!isEven || $0 % 2 == 0) })
            else { return nil }
            return PixelSize(width: width, height: height)
        }
    }

    /// A ratio of two integers up to 65535: `1:1`, `64/45`.
    static let ratio = ValueSyntax(
        [.text(pattern: "^0*[1-9][0-9]{0,4}[:/]0*[1-9][0-9]{0,4}$", example: "1:1")],
        expected: "expected a ratio such as 1:1 or 64/45"
    ) { text -> Rational? in
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }
        guard parts.count == 2, let num = Quantity.integer(parts[0]), let den = Quantity.integer(parts[1]),
            (1...65_535).contains(num), (1...65_535).contains(den)
        else { return nil }
        return Rational(Int32(num), Int32(den))
    }

    /// A distance on a composition's canvas: pixels, or a percentage of the canvas.
    static let distance = ValueSyntax(
        [.integer(-maxSide...maxSide), .text(pattern: #"^-?[0-9]+(\.[0-9]+)?%$"#, example: "10%")],
        expected: "expected a number of pixels, or a percentage such as 10%"
    ) { text -> CompositionSpec.Distance? in
        guard text.hasSuffix("%") else {
            return Quantity.integer(text).flatMap { abs($0) <= maxSide ? .pixels($0) : nil }
        }
        let isNegative = text.hasPrefix("-")
        let size = isNegative ? text.dropFirst() : text[...]
        guard let share = Quantity.scaled(size.dropLast(), by: 1000), share <= 1_000_000 else { return nil }
        return .share(isNegative ? -share : share)
    }
}
