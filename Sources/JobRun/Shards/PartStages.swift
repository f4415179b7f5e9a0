/// The order of a batch's parts: the first encode chunks, the next read these chunks, and others are independent.
package struct PartStages: Codable, Hashable, Sendable {
    /// Number of parts that encode chunks.
    package var chunkParts: Int
    /// Number of parts that read chunks.
    package var joiningParts: Int

    package init(chunkParts: Int = 0, joiningParts: Int = 0) {
        (self.chunkParts, self.joiningParts) = (chunkParts, joiningParts)
    }

    /// Whether the numbers are possible for a number of parts.
    package func isValid(partCount: Int) -> Bool {
        chunkParts >= 0 && joiningParts >= 0 && chunkParts <= partCount
            && joiningParts <= partCount - chunkParts
            && (chunkParts == 0) == (joiningParts == 0)
    }

    /// Divides parts, in increasing order, into those that encode chunks, those that begin after them, and the others.
    package func divide(_ parts: [Int]) -> (chunks: [Int], joining: [Int], others: [Int]) {
        let end = chunkParts + joiningParts
        return (
            parts.filter { $0 < chunkParts }, parts.filter { (chunkParts..<end).contains($0) },
            parts.filter { $0 >= end }
        )
    }
}
