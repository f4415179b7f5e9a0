internal import CFFmpeg

/// A filter graph that outputs one frame for each input frame. The graph is created with the first frame. Confined to
/// one queue.
package final class FrameFilter {
    private let operation: String
    private var graph: FilterGraph?

    /// Creates a filter without a graph. `operation` describes the filter in errors.
    package init(_ operation: String) { self.operation = operation }

    /// Filters a frame. `index` becomes its timestamp; `build` creates the graph for the first frame.
    package func frame(
        of one: consuming Frame, at index: Int64,
        build: (borrowing Frame) throws(AVError) -> FilterGraph
    ) throws(AVError) -> Frame {
        if graph == nil { graph = try build(one) }
        (one.pts, one.duration) = (index, 1)
        try graph?.send(one, to: 0)
        return try next()
    }

    /// Filters a pair of frames, one for each input of the graph. `index` becomes their timestamp; `build` creates
    /// the graph for the first pair.
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
