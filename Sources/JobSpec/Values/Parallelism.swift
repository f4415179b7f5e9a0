/// The division of a video track into chunks that are encoded concurrently, as set by `parallel`.
package enum Parallelism: Hashable, Sendable {
    /// Chunks if the track is long enough and its settings allow them.
    case automatic
    /// The track is encoded as a whole.
    case off
    /// Chunks, with a maximum number of them at a time.
    case chunks(Int)
    /// Chunks, which the parts of a submitted batch encode. On one machine, all of its processors.
    case distributed
}

extension Parallelism: ScalarValue {
    /// Whether the setting is an error if the encoder or the rate control doesn't support chunks.
    var requiresChunks: Bool {
        switch self {
        case .automatic, .off: false
        case .chunks, .distributed: true
        }
    }
}

extension Language {
    static let parallelism = ValueSyntax(
        [
            .integer(chunkCounts),
            .text(pattern: "^(auto|off|cluster)$", example: "auto"),
        ], expected: "expected `auto`, `off`, `cluster`, or a number of chunks from 1 to 256"
    ) { text -> Parallelism? in
        switch text {
        case "auto": .automatic
        case "off": .off
        case "cluster": .distributed
        default: Quantity.integer(text).flatMap { chunkCounts.contains($0) ? .chunks($0) : nil }
        }
    }
    private static let chunkCounts = 1...256
}
