/// The division of a video track into chunks that are encoded concurrently, as set by `parallel`.
package enum Parallelism: Hashable, Sendable {
    /// Chunks if the track is long enough and its settings allow them.
    case automatic
    /// The track is encoded as a whole.
    case off
    /// Chunks, with a maximum number of them at a time.
    case chunks(Int)
}

extension Parallelism: ScalarValue {}

extension Language {
    static let parallelism = ValueSyntax(
        [
            .integer(chunkCounts),
            .text(pattern: "^(auto|off)$", example: "auto"),
        ], expected: "expected `auto`, `off`, or a number of chunks from 1 to 256"
    ) { text -> Parallelism? in
        switch text {
        case "auto": .automatic
        case "off": .off
        default: Quantity.integer(text).flatMap { chunkCounts.contains($0) ? .chunks($0) : nil }
        }
    }
    private static let chunkCounts = 1...256
}
