/// A set of color properties, such as those that a codec's headers declare.
package struct ColorParts: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let primaries = ColorParts(rawValue: 1)
    package static let transfer = ColorParts(rawValue: 2)
    package static let matrix = ColorParts(rawValue: 4)
    package static let range = ColorParts(rawValue: 8)
    package static let all: ColorParts = [.primaries, .transfer, .matrix, .range]
}
