internal import Diagnostics
internal import Dispatch
internal import LibAV
internal import Locking

/// Concurrent work on the elements of a range, in parts. Each part has its own reader, so that diagnostics
/// are in the order of the range and don't depend on timing. The number of parts depends on the number of
/// processors.
struct PartedWork {
    /// Number of elements.
    let count: Int
    /// Minimum number of elements that justifies another thread.
    var minPartSize = 64

    private static let threads = Processors.current.available

    /// Returns the results of all parts in the order of the range. Diagnostics are added to `reader` in the
    /// same order. A single part is processed on the calling thread with `reader` itself.
    func results<Result: Sendable>(
        into reader: NodeReader, _ body: @Sendable (Range<Int>, NodeReader) -> Result
    ) -> [Result] {
        // Parts are small, so that threads end at about the same time.
        let maxParts = Self.threads * 16
        let partSize = max(minPartSize, (count + maxParts - 1) / maxParts)
        let parts = (count + partSize - 1) / partSize
        guard parts > 1 else { return [body(0..<count, reader)] }
        let carried = WorkCount.Captured()
        let completed = DispatchQueue.concurrentMap(parts) { part in
            let partReader = NodeReader()
            let result = carried.run {
                body((part * partSize)..<min(count, (part + 1) * partSize), partReader)
            }
            return (result: result, sink: partReader.sink)
        }
        return completed.map { part in
            reader.sink.add(part.sink)
            return part.result
        }
    }
}
