internal import CFFmpeg

/// A detector of the black borders of frames, accumulated over all of them (libavfilter's `cropdetect`). Confined to one
/// thread.
package struct BorderDetector: ~Copyable {
    /// The part of the frames inside the borders, in pixels; `right` and `bottom` are exclusive.
    package struct Area: Hashable, Sendable {
        package var left: Int
        package var top: Int
        package var right: Int
        package var bottom: Int
    }

    private let graph: FilterGraph
    private var count: Int64 = 0
    /// The part of all frames so far; nil if each of them was black.
    package private(set) var area: Area?

    private init(graph: consuming FilterGraph) { self.graph = graph }

    /// Creates a detector for frames with the size and format of `frame`.
    package static func open(like frame: borrowing Frame) throws(AVError) -> BorderDetector {
        // Lines whose mean is at most 24/255 of the maximum are black; limited range has black at 16/255. A fraction applies
        // to any bit depth. Coordinates aren't rounded, and the detector is never reset.
        let detect = FilterStep(
            "cropdetect", ["limit": "0.0942", "round": "2", "reset": "0", "skip": "0"])
        return BorderDetector(
            graph: try FilterGraph.video(
                [detect], like: frame, timeBase: Rational(1, 25), sampleAspectRatio: Rational(1, 1),
                frameRate: nil))
    }

    /// Adds a frame.
    package mutating func add(_ frame: consuming Frame) throws(AVError) {
        frame.pts = count
        count += 1
        try graph.send(frame)
        let result = try Frame()
        while case .ready = try graph.receive(into: result) {
            func edge(_ name: String) -> Int? {
                result.metadata("lavfi.cropdetect.\(name)").flatMap { Int($0) }
            }
            if let left = edge("x1"), let right = edge("x2"), let top = edge("y1"), let bottom = edge("y2"),
                left <= right, top <= bottom
            {
                area = Area(left: left, top: top, right: right + 1, bottom: bottom + 1)
            }
            av_frame_unref(result.raw)
        }
    }
}
