/// A filter graph that makes one frame of each that goes in, built when the first one comes. Confined to one queue.
package final class FrameFilter {
    private let operation: String
    private var graph: FilterGraph?

    /// `operation` says what is done where it fails.
    package init(_ operation: String) { self.operation = operation }

    /// The first frame came.
    package var isBuilt: Bool { graph != nil }

    /// What becomes of a frame, the `index`th.
    package func frame(
        of one: consuming Frame, at index: Int64,
        build: (borrowing Frame) throws(AVError) -> FilterGraph
    ) throws(AVError) -> Frame {
        if graph == nil { graph = try build(one) }
        (one.pts, one.duration) = (index, 1)
        try graph?.send(one, to: 0)
        return try next()
    }

    /// What becomes of two frames, the `index`th of each input.
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
            throw AVError(code: -11, operation: operation)
        }
        return frame
    }
}
