internal import LibAV

/// Renderer of the transition between two overlapping clips (libavfilter's `xfade`). Confined to one queue.
final class FrameJoin {
    private let kind: JoinKind
    private let canvas: Canvas
    /// Duration of the transition in frames.
    private let length: Int64
    private let filter = FrameFilter("joining two clips")
    private var count: Int64 = 0
    /// Number of frames before the first requested one, if reading starts within the transition.
    private let skipped: Int64

    init(_ kind: JoinKind, length: Int64, skipping skipped: Int64, canvas: Canvas) {
        self.skipped = max(0, skipped)
        self.kind = kind
        self.length = max(1, length)
        self.canvas = canvas
    }

    /// Returns the next frame of the transition, from `one` at its start to `other` at its end.
    func frame(of one: consuming Frame, and other: consuming Frame) throws -> Frame {
        do throws(AVError) {
            while count < skipped { _ = try joined(one.reference(), other.reference()) }
            return try joined(one, other)
        } catch {
            throw MediaError.encoding(track: .part(.composition), error)
        }
    }

    private func joined(_ one: consuming Frame, _ other: consuming Frame) throws(AVError) -> Frame {
        let joined = try filter.frame(of: one, and: other, at: count, build: graph)
        count += 1
        joined.applyColor(canvas.color)
        return joined
    }

    private func graph(
        of one: borrowing Frame, and other: borrowing Frame
    ) throws(AVError) -> FilterGraph {
        let unit = canvas.frameRate.inverted
        let length = MediaTime(ticks: length, timeBase: unit).ticks(in: Rational(1, 1_000_000))
        let nodes = [
            FilterNode(
                FilterStep(
                    "xfade", ["transition": kind.filterName, "duration": "\(length)us", "offset": "0"]),
                inputs: [.input(0), .input(1)]),
            FilterNode(FilterStep("format", ["pix_fmts": "\(canvas.pixelFormat)"]), inputs: [.node(0)]),
        ]
        return try FilterGraph.video(
            nodes, like: one, and: other, timeBase: unit, frameRate: canvas.frameRate)
    }
}
