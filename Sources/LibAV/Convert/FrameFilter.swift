internal import CFFmpeg

/// A filter graph that outputs one frame for each input frame. Created with the first frame. Confined to one queue.
package final class FrameFilter {
    private let operation: String
    private var graph: FilterGraph?

    /// Creates a filter. `operation` describes it in errors.
    package init(_ operation: String) { self.operation = operation }

    /// Whether the first frame has been filtered.
    package var isBuilt: Bool { graph != nil }

    /// Filters a frame with the given index.
    package func frame(
        of one: consuming Frame, at index: Int64,
        build: (borrowing Frame) throws(AVError) -> FilterGraph
    ) throws(AVError) -> Frame {
        if graph == nil { graph = try build(one) }
        (one.pts, one.duration) = (index, 1)
        try graph?.send(one, to: 0)
        return try next()
    }

    /// Filters a pair of frames, one for each input, with the given index.
    package func frame(
        of one: consuming Frame, and other: consuming Frame, at index: Int64,
        build: (borrowing Frame, borrowing Frame) throws(AVError) -> FilterGraph
    ) throws(AVError) -> Frame {
        if graph == nil { graph = try build(one, other) }
        (one.pts, one.duration) = (index, 1)
        (other.pts, other.duration) = (index, 1)
        try graph?.send(one, to: 0)
        try graph?.send(other, to: 1)
        return try next()
    }

    private func next() throws(AVError) -> Frame {
        let frame = try Frame()
        guard case .ready? = try graph?.receive(into: frame) else {
            throw AVError(code: tandem_eagain, operation: operation)
        }
        return frame
    }
}
